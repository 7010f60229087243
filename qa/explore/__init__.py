"""What is like this, what is in here: similar passages and documents, topics, a map. No question imports any of it."""
