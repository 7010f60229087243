"""Search by meaning: FAISS segments, their contents, and how they are merged.

Whatever reads rows raises DamagedIndexError if one is missing, or its checksum or a type does not match.
"""
