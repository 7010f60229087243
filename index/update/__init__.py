"""Bring an index up to date with its folder: compare, read, embed, commit."""
