"""Search by words: analysis, posting blocks, BM25.

Whatever reads rows raises DamagedIndexError if one is missing, or its checksum or a type does not match.
"""
