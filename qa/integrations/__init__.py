"""A collection as the retriever of a framework: LangChain, LlamaIndex, Haystack. Each module needs its own extra."""
