"""What is on disk: the SQLite file with its rows and checksums, the writer lock, atomic writes."""
