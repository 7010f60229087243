"""A sample of each format and what its reader must extract from it."""
