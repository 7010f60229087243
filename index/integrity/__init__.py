"""Whether an index is what was written, and what can be saved of one that is not."""
