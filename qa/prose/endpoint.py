"""The address, model and key of an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from corpus.errors import UsageError

# Environment variables: the endpoint's URL, the model's name there, and the API key.
URL, MODEL, KEY = "QA_LLM_ENDPOINT", "QA_LLM", "QA_LLM_KEY"
# For servers with a single model, which accept any name.
_ANY_MODEL = "default"
# Seconds for a complete answer; a model on a CPU may take a minute to read the passages.
LIMIT = 120.0


class EndpointError(ConnectionError):
    """The endpoint gave no answer, or an incomplete one; the message says why, on one line and without the key."""


@dataclass(frozen=True, slots=True)
class LLMEndpoint:
    """A language model behind OpenAI's protocol: Ollama, llama.cpp, vLLM, LM Studio, a cloud.

    Attributes:
        url: Such as `http://localhost:11434/v1`; the path defaults to `/v1`.
        model: The model's name there.
        key: Sent to this host only, never to a redirect's target.
        limit: Seconds for a complete answer.
    """

    url: str
    model: str = _ANY_MODEL
    key: str = field(default="", repr=False)
    limit: float = LIMIT

    def __post_init__(self) -> None:
        self.target()

    @classmethod
    def named(cls, url: str | None = None, model: str | None = None, *, limit: float | None = None) -> LLMEndpoint:
        """Return the endpoint named by the arguments or else by environment variables, which alone have the key.

        Raises:
            UsageError: None is named, or its URL is not an HTTP one.
        """
        url = url or os.environ.get(URL)
        if not url:
            raise UsageError(
                f"no language model is named. Name its endpoint, such as http://localhost:11434/v1, or set {URL}."
            )
        return cls(url, model or os.environ.get(MODEL) or _ANY_MODEL, os.environ.get(KEY, ""), limit or LIMIT)

    def target(self) -> SplitResult:
        """Return the URL for chat completions.

        Raises:
            UsageError: The URL is not an HTTP one, or has a password in it.
        """
        try:
            url = urlsplit(self.url)
            url.port  # noqa: B018 - parsed on access, and raises ValueError if invalid
        except ValueError as error:
            raise UsageError(f"the endpoint is not a URL: {error}.") from error
        if url.scheme not in ("http", "https") or not url.hostname:
            raise UsageError("the endpoint must be a URL such as http://localhost:11434/v1.")
        if url.username is not None or url.query or url.fragment:
            raise UsageError(f"the endpoint's URL has more than a host and a path. A key goes into {KEY}.")
        if not (self.url + self.key).isascii() or any(c <= " " for c in self.url + self.key):
            raise UsageError(f"the endpoint's URL and {KEY} must have printable ASCII characters only.")
        path = url.path.rstrip("/") or "/v1"
        return url._replace(path=path if path.endswith("/chat/completions") else f"{path}/chat/completions")
