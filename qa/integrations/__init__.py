"""Retrievers for LangChain, LlamaIndex and Haystack. Each module needs its own extra."""
