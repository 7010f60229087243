"""Retrieve and rank the passages that answer a question."""
