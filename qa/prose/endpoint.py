"""An OpenAI-compatible endpoint: whom to ask, and the text that it streams, within a time limit whatever it does."""

# ruff: noqa: PLC0415 - TLS and HTTP take long to import, and are needed once an endpoint is asked

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from corpus.errors import UsageError

# Environment variables: the endpoint's URL, the model's name there, and the key.
URL, MODEL, KEY = "QA_LLM_ENDPOINT", "QA_LLM", "QA_LLM_KEY"
# For servers of one model, which take any name.
_ANY_MODEL = "default"
# Seconds for a whole answer; a model on a CPU may take a minute to read the passages.
LIMIT = 120.0
# Seconds without a new word, once there was one.
_SILENCE = 20.0


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

    def stream(self, messages: Sequence[Mapping[str, str]]) -> Iterator[str]:
        """Yield pieces of the model's answer as they come.

        Raises:
            EndpointError: There is no answer, it broke off, or the time is over; nothing waits longer than the limit.
        """
        from qa.prose.exchange import Exchange

        # What blocks, such as looking up a name, cannot be given a time limit; whoever waits for it can.
        pieces: queue.SimpleQueue[str | EndpointError | None] = queue.SimpleQueue()
        exchange = Exchange(self, messages, pieces.put)
        threading.Thread(target=exchange.run, name="qa-endpoint", daemon=True).start()
        try:
            yield from self._received(pieces)
        finally:
            exchange.abandon()

    def _received(self, pieces: queue.SimpleQueue[str | EndpointError | None]) -> Iterator[str]:
        end, patience = time.monotonic() + self.limit, self.limit
        # Whoever writes without a pause must not outlast the limit either.
        while (left := end - time.monotonic()) > 0:
            try:
                piece = pieces.get(timeout=min(left, patience))
            except queue.Empty:
                if left <= patience:
                    break
                raise EndpointError(f"silent for {patience:g} s in the middle of its answer") from None
            if piece is None:
                return
            if isinstance(piece, EndpointError):
                raise piece
            patience = min(_SILENCE, self.limit)
            yield piece
        raise EndpointError(f"no whole answer within {self.limit:g} s")
