"""Search by words: analysis, posting blocks, BM25."""
