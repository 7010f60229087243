"""Which files under a folder are documents, and how their bytes are read safely."""
