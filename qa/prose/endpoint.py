"""An OpenAI-compatible endpoint: whom to ask."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from corpus.errors import UsageError

# Environment variables: the endpoint's URL, the model's name there, and the key.
URL, MODEL, KEY = "QA_LLM_ENDPOINT", "QA_LLM", "QA_LLM_KEY"
# For servers of one model, which take any name.
_ANY_MODEL = "default"
# Seconds for a whole answer; a model on a CPU may take a minute to read the passages.
LIMIT = 120.0


class EndpointError(ConnectionError):
    """The endpoint gave no answer, or not a whole one; the message says why, on one line and without the key."""


@dataclass(frozen=True, slots=True)
class LLMEndpoint:
    """Where a language model is asked, in OpenAI's protocol: Ollama, llama.cpp, vLLM, LM Studio, a cloud.

    Attributes:
        url: Such as `http://localhost:11434/v1`; without a path, `/v1` is meant.
        model: The model's name there.
        key: Sent to this host alone, and to none that it redirects to.
        limit: Seconds for a whole answer.
    """

    url: str
    model: str = _ANY_MODEL
    key: str = field(default="", repr=False)
    limit: float = LIMIT

    def __post_init__(self) -> None:
        self.target()

    @classmethod
    def named(
        cls, url: str | None = None, model: str | None = None, *, limit: float | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> LLMEndpoint:  # fmt: skip
        """The endpoint that arguments name, or else environment variables; the key is from the environment alone.

        Raises:
            UsageError: None is named, or its URL is not one of HTTP.
        """
        url = url or environ.get(URL)
        if not url:
            raise UsageError(
                f"no language model is named. Name its endpoint, such as http://localhost:11434/v1, or set {URL}."
            )
        return cls(url, model or environ.get(MODEL) or _ANY_MODEL, environ.get(KEY, ""), limit or LIMIT)

    def target(self) -> SplitResult:
        """Where chat completions are asked for.

        Raises:
            UsageError: The URL is not one of HTTP, or has a password in it.
        """
        try:
            found = urlsplit(self.url)
            found.port  # noqa: B018 - is computed, and may be no number
        except ValueError as error:
            raise UsageError(f"the endpoint is not a URL: {error}.") from error
        if found.scheme not in ("http", "https") or not found.hostname:
            raise UsageError("the endpoint must be a URL such as http://localhost:11434/v1.")
        if found.username is not None or found.query or found.fragment:
            raise UsageError(f"the endpoint's URL has more than a host and a path. A key goes into {KEY}.")
        if not (self.url + self.key).isascii() or any(c <= " " for c in self.url + self.key):
            raise UsageError(f"the endpoint's URL and {KEY} must have printable ASCII characters only.")
        path = found.path.rstrip("/") or "/v1"
        return found._replace(path=path if path.endswith("/chat/completions") else f"{path}/chat/completions")
