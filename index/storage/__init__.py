"""Storage on disk: the SQLite file with its rows and checksums, the writer lock, atomic writes.

Functions that read rows raise DamagedIndexError if a row is missing, or its checksum or a type does not match.
"""
