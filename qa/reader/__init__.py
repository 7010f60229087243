"""The reader: a small model that reads a question and a passage together, and predicts where the answer is."""
