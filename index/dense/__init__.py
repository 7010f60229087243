"""Search by meaning: FAISS segments, what is in them, and how they are merged.

What reads rows raises DamagedIndexError where one is missing or its checksum or a type does not match.
"""
