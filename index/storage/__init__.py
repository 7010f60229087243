"""What is on disk: the SQLite file with its rows and checksums, the writer lock, atomic writes.

What reads rows raises DamagedIndexError where one is missing or its checksum or a type does not match.
"""
