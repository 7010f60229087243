"""Number words and terms, so that a block of passages is indexed by sorting arrays."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from index.lexical.analyzer import split_words, terms_of
from index.lexical.posting_blocks import term_bytes, term_hash

Ints = npt.NDArray[np.int32]


class Occurrences(NamedTuple):
    """Where terms occur: `terms` are their numbers, `owners` say in which of the words given."""

    terms: Ints
    owners: Ints


class Vocabulary(dict[str, int]):
    """A number for each word seen so far, assigned on first use, and the terms that it is indexed by.

    Attributes:
        names: The terms as they are stored, by number.
        hashes: Their hashes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: list[bytes] = []
        self.hashes = array("i")
        self._terms: dict[bytes, int] = {}
        # For each word: its terms, one after another, where they begin, and how many are not joined words.
        self._word_terms = array("i")
        self._starts = array("i", [0])
        self._simple = array("i")

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        simple, joined = terms_of(word)
        self._word_terms.extend(self.term(term_bytes(term)) for term in (*simple, *joined))
        self._starts.append(len(self._word_terms))
        self._simple.append(len(simple))
        return number

    def words(self, text: str) -> array[int]:
        """Return the words of a text, by number."""
        return array("i", map(self.__getitem__, split_words(text)))

    def term(self, name: bytes) -> int:
        """Return the number of a term, which may be new."""
        number = self._terms.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
            self.hashes.append(term_hash(name))
        return number

    def lengths(self, words: Ints) -> Ints:
        """Return how many words each counts as: its parts, or pairs of characters."""
        return np.frombuffer(self._simple, dtype=np.int32)[words]

    def terms(self, words: Ints) -> Occurrences:
        """Return the terms that words are indexed by."""
        starts = np.frombuffer(self._starts, dtype=np.int32)
        first, counts = starts[words], (starts[1:] - starts[:-1])[words]
        ends = np.cumsum(counts, dtype=np.int32)
        places = np.arange(ends[-1] if len(ends) else 0, dtype=np.int32)
        places += np.repeat(first - (ends - counts), counts)
        owners = np.repeat(np.arange(len(words), dtype=np.int32), counts)
        return Occurrences(np.frombuffer(self._word_terms, dtype=np.int32)[places], owners)
