"""A sample of each format and what its reader must make of it."""
