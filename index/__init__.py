"""Passages to vectors and words, on disk, and back to candidates. Importing it loads no model and no FAISS."""
