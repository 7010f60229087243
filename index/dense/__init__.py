"""Search by meaning: FAISS segments, their contents, and how they are merged.

Functions that read rows raise DamagedIndexError if a row is missing, or its checksum or a type does not match.
"""
