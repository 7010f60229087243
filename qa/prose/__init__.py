"""An answer in prose by the user's own language model, each sentence checked against the passages it cites.

from qa.prose import LLMEndpoint, write

endpoint = LLMEndpoint("http://localhost:11434/v1", "llama3.2")
result = write(retriever.ask("Who won?"), retriever, endpoint)
for sentence in result.answer.prose:
    print(sentence.text, sentence.citations, sentence.state)
"""

from qa.prose.endpoint import LLMEndpoint
from qa.prose.write import write

__all__ = ["LLMEndpoint", "write"]
