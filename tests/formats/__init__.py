"""One generated file of each format, and what must come of it."""
