"""Embed in several processes or on several machines: `open_workers`, for an update."""
