"""Write to the index: vectors as they are embedded, and the one transaction that makes a generation."""
