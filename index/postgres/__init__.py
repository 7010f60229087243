"""The store for many readers and machines: a collection in PostgreSQL with pgvector; needs `qa-passages[postgres]`."""
