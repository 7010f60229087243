"""Turn texts into vectors: the protocol, the model files, the tokenizer and the backends."""
