"""The SQLite file and everything else on disk: rows, checksums, locks, atomic writes."""
