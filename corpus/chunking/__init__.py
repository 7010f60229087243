"""For the index: `split` cuts a document into passages that fit the encoder."""
