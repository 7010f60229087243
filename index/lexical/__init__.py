"""Search by words: analysis, posting blocks, BM25.

What reads rows raises DamagedIndexError where one is missing or its checksum or a type does not match.
"""
