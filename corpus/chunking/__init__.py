"""Split documents into passages that fit the encoder, for the index."""
