"""For the index and `qa`: `load` reads a file, `load_all` prefetches many, `Sandbox` reads the risky ones."""
