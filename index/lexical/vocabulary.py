"""Numbers for words and terms, so that a block of passages can be indexed by sorting arrays."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from index.lexical.analyzer import split_words, terms_of
from index.lexical.posting_blocks import term_bytes, term_hash

Ints = npt.NDArray[np.int32]


class Occurrences(NamedTuple):
    """Occurrences of terms in words: the numbers of the terms, and the indexes of their words."""

    terms: Ints
    words: Ints


class Vocabulary(dict[str, int]):
    """The numbers of words, assigned on first use, and the terms that each word is indexed by.

    Attributes:
        names: The terms as they are stored, by number.
        hashes: Their hashes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: list[bytes] = []
        self.hashes = array("i")
        self._terms: dict[bytes, int] = {}
        # For all words, one after another: their terms, where each word's begin, and how many of them are stems.
        self._word_terms = array("i")
        self._starts = array("i", [0])
        self._stem_counts = array("i")

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        simple, joined = terms_of(word)
        self._word_terms.extend(self.term_number(term_bytes(term)) for term in (*simple, *joined))
        self._starts.append(len(self._word_terms))
        self._stem_counts.append(len(simple))
        return number

    def word_numbers(self, text: str) -> array[int]:
        """Return the numbers of the words of a text."""
        return array("i", map(self.__getitem__, split_words(text)))

    def term_number(self, name: bytes) -> int:
        """Return the number of a term, which is added if it is new."""
        number = self._terms.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
            self.hashes.append(term_hash(name))
        return number

    def word_lengths(self, words: Ints) -> Ints:
        """Return how many words each word counts as: its parts, or its pairs of characters."""
        return np.frombuffer(self._stem_counts, dtype=np.int32)[words]

    def occurrences(self, words: Ints) -> Occurrences:
        """Return the terms that words are indexed by."""
        starts = np.frombuffer(self._starts, dtype=np.int32)
        first, counts = starts[words], (starts[1:] - starts[:-1])[words]
        ends = np.cumsum(counts, dtype=np.int32)
        indexes = np.arange(ends[-1] if len(ends) else 0, dtype=np.int32)
        indexes += np.repeat(first - (ends - counts), counts)
        word_indexes = np.repeat(np.arange(len(words), dtype=np.int32), counts)
        return Occurrences(np.frombuffer(self._word_terms, dtype=np.int32)[indexes], word_indexes)
