"""What encoders of one transformer share, whatever runs it: tokens in, unit vectors out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import ModelError
from index.encoder.model_files import ModelFiles
from index.encoder.protocol import TokenVectors, Vectors
from index.encoder.tokenizer import ModelTokenizer, TokenIds


@dataclass(frozen=True, slots=True)
class Forward:
    """What the model makes of one text.

    Attributes:
        text: `(dim,) float32`, before normalisation.
        tokens: `(t, hidden) float32`, a row for each token id; rows beyond are padding. Empty where none were wanted.
    """

    text: npt.NDArray[np.float32]
    tokens: npt.NDArray[np.float32]


NO_TOKENS = np.empty((0, 0), dtype=np.float32)


class TransformerEncoder(ABC):
    """Fulfils `index.encoder.protocol.Encoder` for a sentence-transformer; weights are loaded at the first embedding.

    Args:
        model: From `index.encoder.model_files.find`.
        tokens: The model's, if they are open already.

    Raises:
        ModelError: Settings or tokenizer cannot be read (here); weights cannot be loaded (when they are).
    """

    def __init__(self, model: ModelFiles, *, tokens: ModelTokenizer | None = None) -> None:
        self._model = model
        self._tokens = tokens or ModelTokenizer(model)
        self._settings = self._tokens.settings
        # Of the last question, since both its vector and its tokens' vectors are asked for.
        self._last: tuple[str, TokenIds, Forward] | None = None

    @property
    def name(self) -> str:
        """The model as the user names it."""
        return self._model.name

    @property
    def fingerprint(self) -> str:
        """Digest (hex) of all that shapes the vectors."""
        return self._model.fingerprint

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._settings.dimension

    @cached_property
    def max_tokens(self) -> int:
        """ModelTokenizer of a passage that the model reads, prompt and special tokens already taken off."""
        return self._tokens.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """ModelTokenizer of each text, special tokens not counted, nothing truncated; loads no weights."""
        return self._tokens.count(texts)

    def unknown_token_ratio(self, text: str) -> float:
        """Share of a text's letters that the model has no words for; loads no weights."""
        return self._tokens.unknown_token_ratio(text)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: `(n, dim) float32`, unit L2 norm, in the order given.

        Raises:
            ValueError: A text has more than `max_tokens` tokens.
            ModelError: The model cannot be loaded or does not give what its files promise.
        """
        found = np.empty((len(texts), self.dimension), dtype=np.float32)
        for place, forward in self._forward_passages(self._passages(texts, tokens=False), tokens=False):
            found[place] = self._unit(forward.text, self.dimension)
        return found

    def encode_query(self, text: str) -> Vectors:
        """Embed one question: `(dim,) float32`, unit L2 norm; what is past the model's length is cut."""
        return self._unit(self._asked(text)[1].text, self.dimension)

    def encode_query_tokens(self, text: str) -> TokenVectors:
        """Token vectors of one question; what is past the model's length is cut."""
        read, forward = self._asked(text)
        return self._token_vectors(forward, read)

    def encode_passage_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Token vectors of each passage.

        Raises:
            ValueError: A text has more than `max_tokens` tokens.
        """
        reads = self._passages(texts, tokens=True)
        found = {
            place: self._token_vectors(forward, reads[place])
            for place, forward in self._forward_passages(reads, tokens=True)
        }
        return [found[place] for place in range(len(texts))]

    @abstractmethod
    def _forward_passages(self, reads: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Forward]]:
        """Put passages through the model, each with its place in `reads`, in any order.

        Args:
            reads: The passages.
            tokens: Whether token vectors are wanted too.
        """

    @abstractmethod
    def _forward_query(self, read: TokenIds) -> Forward:
        """Put one question through the model."""

    def _passages(self, texts: Sequence[str], *, tokens: bool) -> list[TokenIds]:
        read = self._tokens.tokenise if tokens else self._tokens.encode
        reads = read(texts, prompt=self._settings.prompts.passage)
        for text, found in zip(texts, reads, strict=True):
            if len(found.ids) > self._settings.max_length:
                raise ValueError(
                    f"a passage has {self._tokens.count([text])[0]} tokens and the model reads {self.max_tokens}: "
                    f"{text[:60]!r}"
                )
        return reads

    def _asked(self, text: str) -> tuple[TokenIds, Forward]:
        last = self._last
        if last is None or last[0] != text:
            read = self._tokens.truncate(text, prompt=self._settings.prompts.query)
            last = self._last = (text, read, self._forward_query(read))
        return last[1:]

    @property
    def _room(self) -> int:
        # RoBERTa's positions begin at 2, so two places of what the settings state are not usable.
        return max(self._settings.max_length, self._settings.positions - 2)

    def _token_vectors(self, forward: Forward, tokens: TokenIds) -> TokenVectors:
        return TokenVectors(self._unit(forward.tokens[tokens.kept], self._settings.hidden), tokens.spans)

    def _unit(self, values: npt.NDArray[np.float32], dimension: int) -> Vectors:
        if values.shape[-1] != dimension:
            raise ModelError(f"{self.name} gives vectors of {values.shape[-1]}, its files promise {dimension}.")
        norms = np.linalg.norm(values, axis=-1, keepdims=True)
        unit: Vectors = values / np.maximum(norms, np.finfo(np.float32).tiny)
        return unit


def padded(reads: Sequence[TokenIds], shape: tuple[int, int], pad: int) -> dict[str, npt.NDArray[Any]]:
    """Token ids of texts as the arrays a transformer reads, each `shape` of int64; rows left over are dummies."""
    ids = np.full(shape, pad, dtype=np.int64)
    types = np.zeros(shape, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    mask[:, 0] = 1  # a row that attends to nothing would be NaN
    for row, tokens in enumerate(reads):
        length = len(tokens.ids)
        ids[row, :length] = tokens.ids
        types[row, :length] = tokens.types
        mask[row, :length] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
