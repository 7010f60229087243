"""The writing side: one transaction that makes a new generation."""
