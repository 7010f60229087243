"""Search by meaning: FAISS segments, what is in them, and how they are merged."""
