"""Turn ranked passages into an answer: sentences, confidence, citations, and the types of a result."""
