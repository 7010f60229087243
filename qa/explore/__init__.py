"""Exploring a collection: similar passages and documents, topics, a map. Answering a question imports none of it."""
