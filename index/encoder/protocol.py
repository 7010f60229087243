"""The encoder protocol, text in and unit vectors out, and the check that an index was built with an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from corpus.errors import IncompatibleError
from index.storage.metadata import Info
from index.storage.vectors import Vectors


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The contextual token vectors of one text, for late interaction.

    Attributes:
        vectors: `(t, dim) float32`, unit L2 norm, special tokens left out.
        spans: `(t, 2) int32`, the characters of the text each token covers, end exclusive.
    """

    vectors: Vectors
    spans: npt.NDArray[np.int32]


class Embedder(Protocol):
    """Embeds the passages of an update in place of an encoder, with the same result."""

    @property
    def batches(self) -> int:
        """The number of concurrent batches that keep it busy at the moment."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages, as `Encoder.encode_passages` does."""


class Encoder(Protocol):
    """Turns texts into vectors whose dot product is their similarity.

    A text's vector depends on the text alone, bit for bit: not on the batch or the order.
    """

    @property
    def name(self) -> str:
        """The model as the user names it: a hub name or a folder."""

    @property
    def fingerprint(self) -> str:
        """Digest (hex) of all that affects the vectors: weights, tokenizer, pooling, prompts, norm, length."""

    @property
    def dimension(self) -> int:
        """Number of values in a vector."""

    @property
    def max_tokens(self) -> int:
        """The maximum number of tokens in a passage, not counting the prompt and special tokens."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without special tokens or truncation; loads no weights."""

    def unknown_token_ratio(self, text: str) -> float:
        """Return the share of a text's letters that are single-letter or unknown tokens."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: `(n, dim) float32`, unit L2 norm, in the order given.

        Raises:
            ValueError: A text has more than `max_tokens` tokens.
        """

    def encode_query(self, text: str) -> Vectors:
        """Embed one question: `(dim,) float32`, unit L2 norm; truncated to the model's maximum length."""

    def encode_query_tokens(self, text: str) -> TokenVectors:
        """Return the token vectors of one question, truncated to the model's maximum length."""

    def encode_passage_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of each passage.

        Raises:
            ValueError: A text has more than `max_tokens` tokens.
        """


def require_same_encoder(info: Info, encoder: Encoder) -> None:
    """Refuse to compare vectors of different models.

    Raises:
        IncompatibleError: The index was built with another model, or with other files of the same model.
    """
    if info.fingerprint != encoder.fingerprint:
        raise IncompatibleError(
            f"the index was built with {info.model} (fingerprint {info.fingerprint[:12]}), not with {encoder.name} "
            f"({encoder.fingerprint[:12]}). Ask with that model, or embed again: `qa index --model {encoder.name}`."
        )
