"""The encoder of a sentence-transformer, except for the backend that runs it: tokens in, unit vectors out."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from corpus.errors import ModelError
from index.compiled.forks import ForkedLock
from index.encoder.model_files import ModelFiles
from index.encoder.protocol import Encoder, TokenVectors
from index.encoder.tokenizer import ModelTokenizer, TokenIds, shared_tokenizer
from index.storage.vectors import Vectors


class Output(NamedTuple):
    """The output of the model for one text."""

    text: npt.NDArray[np.float32]  # `(dim,)`, before normalisation
    tokens: npt.NDArray[np.float32]  # `(t, hidden)`, a row for each token id, then padding; empty if not requested


NO_TOKENS = np.empty((0, 0), dtype=np.float32)
# Of the token vectors that are kept: some 330 passages of 130 tokens.
_KEPT_BYTES = 32 * 2**20


class RecentTokens:
    """The token vectors of the texts that were requested last; safe to use from several threads.

    They take most of the time of a question, and many questions to one process have passages in common. In float16,
    whether they are new or kept, so that answers do not depend on earlier questions.

    Args:
        limit: How many bytes of vectors are kept.
    """

    def __init__(self, limit: int = _KEPT_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[str, tuple[npt.NDArray[np.float16], npt.NDArray[np.int32]]] = OrderedDict()
        self._lock = ForkedLock()

    def get(self, text: str) -> TokenVectors | None:
        """Return a text's token vectors, if they are kept."""
        with self._lock:
            if (found := self._kept.get(text)) is None:
                return None
            self._kept.move_to_end(text)
        vectors, spans = found
        return TokenVectors(vectors.astype(np.float32), spans)

    def put(self, text: str, tokens: TokenVectors) -> TokenVectors:
        """Keep a text's token vectors, and return them as `get` would; the oldest are dropped."""
        half = tokens.vectors.astype(np.float16)
        with self._lock:
            if text not in self._kept:
                self._kept[text] = half, tokens.spans
                self._size += half.nbytes
            while self._size > self._limit:
                _, (oldest, _) = self._kept.popitem(last=False)
                self._size -= oldest.nbytes
        return TokenVectors(half.astype(np.float32), tokens.spans)


class TransformerEncoder(Encoder):
    """An `Encoder` that loads its tokenizer and weights on first use, or raises ModelError."""

    def __init__(self, model: ModelFiles) -> None:
        self._model = model
        # Each thread's last question: after its vector, its token vectors are requested.
        self._last_query = threading.local()
        self._recent = RecentTokens()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def fingerprint(self) -> str:
        return self._model.fingerprint

    @cached_property
    def _tokenizer(self) -> ModelTokenizer:
        return shared_tokenizer(self._model)

    @property
    def dimension(self) -> int:
        return self._tokenizer.parameters.dimension

    @property
    def max_tokens(self) -> int:
        return self._tokenizer.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._tokenizer.count(texts)

    def unknown_token_ratio(self, text: str) -> float:
        return self._tokenizer.unknown_token_ratio(text)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        encoded = self._tokenizer.encode(texts, prompt=self._tokenizer.parameters.passage_prompt)
        self._require_complete(texts, encoded)
        for i, output in self._run_passages(encoded, tokens=False):
            vectors[i] = self._normalise(output.text, self.dimension)
        return vectors

    def encode_query(self, text: str) -> Vectors:
        return self._normalise(self._run_query_once(text)[1].text, self.dimension)

    def encode_query_tokens(self, text: str) -> TokenVectors:
        return self._token_vectors(*self._run_query_once(text))

    def encode_passage_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        known = {text: tokens for text in texts if (tokens := self._recent.get(text)) is not None}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            encoded = self._tokenizer.tokenise(new, prompt=self._tokenizer.parameters.passage_prompt)
            self._require_complete(new, encoded)
            for i, output in self._run_passages(encoded, tokens=True):
                known[new[i]] = self._recent.put(new[i], self._token_vectors(encoded[i], output))
        return [known[text] for text in texts]

    @abstractmethod
    def _run_passages(self, encoded: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Output]]:
        """Put passages through the model, in any order, each with its index; with or without token vectors."""

    @abstractmethod
    def _run_query(self, encoded: TokenIds) -> Output:
        """Put one question through the model."""

    def _require_complete(self, texts: Sequence[str], encoded: Sequence[TokenIds]) -> None:
        """Raise ValueError if the model would truncate a passage."""
        for text, tokens in zip(texts, encoded, strict=True):
            if len(tokens.ids) > self._tokenizer.parameters.max_length:
                raise ValueError(
                    f"a passage has {self._tokenizer.count([text])[0]} tokens and the model reads {self.max_tokens}: "
                    f"{text[:60]!r}"
                )

    def _run_query_once(self, text: str) -> tuple[TokenIds, Output]:
        last: tuple[str, TokenIds, Output] | None = getattr(self._last_query, "value", None)
        if last is None or last[0] != text:
            encoded = self._tokenizer.truncate(text, prompt=self._tokenizer.parameters.query_prompt)
            last = self._last_query.value = (text, encoded, self._run_query(encoded))
        return last[1:]

    def _padded_width(self, length: int, step: int) -> int:
        """Round a length up to a multiple of a step, at most to the model's positions."""
        return min(-(-length // step) * step, self._tokenizer.parameters.positions)

    def _token_vectors(self, encoded: TokenIds, output: Output) -> TokenVectors:
        vectors = self._normalise(output.tokens[encoded.kept], self._tokenizer.parameters.hidden)
        return TokenVectors(vectors, encoded.spans)

    def _normalise(self, values: npt.NDArray[np.float32], dimension: int) -> Vectors:
        if values.shape[-1] != dimension:
            raise ModelError(f"{self.name} returned vectors of {values.shape[-1]} dimensions instead of {dimension}.")
        norms = np.linalg.norm(values, axis=-1, keepdims=True)
        unit: Vectors = values / np.maximum(norms, np.finfo(np.float32).tiny)
        return unit


def cosine(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float:
    """Return the cosine of two vectors of any norm; NaN if a value is not finite."""
    a, b = first.reshape(-1).astype(np.float64), second.reshape(-1).astype(np.float64)
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def pad(encoded: Sequence[TokenIds], shape: tuple[int, int], pad_id: int) -> dict[str, npt.NDArray[Any]]:
    """Return texts as a transformer's input arrays, each `shape` of int64; spare rows are dummies."""
    ids = np.full(shape, pad_id, dtype=np.int64)
    types = np.zeros(shape, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    mask[:, 0] = 1  # a row that attends to nothing would be NaN
    for row, text in enumerate(encoded):
        length = len(text.ids)
        ids[row, :length] = text.ids
        types[row, :length] = text.types
        mask[row, :length] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
