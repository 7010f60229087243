"""Bring an index up to date with its folder: what changed, read, embedded, committed once."""
