"""An answer in prose by the user's own language model, each sentence checked against the passages it cites."""

from qa.prose.endpoint import LLMEndpoint
from qa.prose.write import write

__all__ = ["LLMEndpoint", "write"]
