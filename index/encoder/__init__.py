"""Texts to vectors: the protocol, the model files, the tokenizer and what runs the model."""
