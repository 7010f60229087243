"""From ranked passages to an answer: sentences, confidence, citations, and the types of a result."""
