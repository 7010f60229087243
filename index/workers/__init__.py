"""Embed in several processes or on several machines; an update calls `open_workers`."""
