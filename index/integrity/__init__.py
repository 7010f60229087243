"""Verify an index, and salvage the embeddings of one that cannot be used."""
