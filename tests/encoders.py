"""A small deterministic encoder for tests: a hashed bag of words that records what it embeds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from index.encoder.protocol import TokenVectors
from index.storage.vectors import Vectors

_WORD = re.compile(r"\w+")


class BagEncoder:
    """Implements `index.encoder.protocol.Encoder`: a word is one of 64 directions, a text the unit sum of its words.

    Attributes:
        embedded: Texts passed to `encode_passages` so far, in order.
    """

    def __init__(self, *, name: str = "bag", fingerprint: str = "f" * 64, max_tokens: int = 60) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.dimension = 64
        self.max_tokens = max_tokens
        self.embedded: list[str] = []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(_WORD.findall(text)) for text in texts]

    def unknown_token_ratio(self, text: str) -> float:
        return 0.0

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded.extend(texts)
        return np.array([self._embed(text) for text in texts], dtype=np.float32).reshape(len(texts), self.dimension)

    def encode_query(self, text: str) -> Vectors:
        return self._embed(text)

    def encode_query_tokens(self, text: str) -> TokenVectors:
        return self._token_vectors(text)

    def encode_passage_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        if any(size > self.max_tokens for size in self.count_tokens(texts)):
            raise ValueError(f"a text has more than {self.max_tokens} tokens")
        return [self._token_vectors(text) for text in texts]

    def _embed(self, text: str) -> Vectors:
        total = np.zeros(self.dimension, dtype=np.float32)
        for word in _WORD.findall(text):
            total += self._direction(word)
        if not total.any():
            total[0] = 1.0
        unit: Vectors = total / np.linalg.norm(total)
        return unit

    def _token_vectors(self, text: str) -> TokenVectors:
        matches = list(_WORD.finditer(text))
        vectors = np.array([self._direction(match.group()) for match in matches], dtype=np.float32)
        spans = np.array([match.span() for match in matches], dtype=np.int32)
        return TokenVectors(vectors.reshape(len(matches), self.dimension), spans.reshape(len(matches), 2))

    def _direction(self, word: str) -> Vectors:
        number = int.from_bytes(hashlib.blake2b(word.lower().encode(), digest_size=4).digest(), "big")
        direction = np.zeros(self.dimension, dtype=np.float32)
        direction[number % self.dimension] = 1.0
        return direction
