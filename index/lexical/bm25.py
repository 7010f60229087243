"""Keyword search in one generation: BM25 over posting lists."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from index.lexical import posting_blocks
from index.lexical.posting_blocks import (
    HASHES,
    Floats,
    Numbers,
    damaged_block,
    posting_lists_in,
    read_blocks,
    read_posting_lists,
    row_id,
    term_bytes,
    term_hash,
    unpack_postings,
)
from index.storage.rows import damaged

# BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6
_MAX_CACHED_TERMS = 500

# For each term its posting lists by block.
_Postings = Mapping[str, Mapping[int, bytes]]


class _Blocks(NamedTuple):
    """All blocks: what the length of each passage adds to the divisor of BM25, and which hashes have rows."""

    norms: dict[int, Floats]
    hashes: npt.NDArray[np.uint8]  # (blocks, 8192)


class LexicalIndex:
    """The keyword index of one generation, for reading; the caller translates the errors of SQLite."""

    def __init__(self, connection: sqlite3.Connection, file: Path, passages: int) -> None:
        self._connection = connection
        self._file = file
        self._passages = passages
        # The terms of a question are counted before and after they are searched for.
        self._cache: _Postings = {}

    def load(self) -> None:
        """Read what every search needs now: the lengths of passages, and which rows there are."""
        _ = self._blocks

    def frequencies(self, wanted: Collection[str]) -> dict[str, int]:
        """In how many passages each term occurs."""
        return self._count(self._postings(wanted))

    def search(
        self, wanted: Mapping[str, float], limit: int, *, among: Numbers | None = None
    ) -> tuple[Numbers, Floats]:
        """Passages that have any of the terms, by BM25, best first, with all that tie with the last.

        Args:
            wanted: Terms of the index with their weights.
            limit: How many; more if several tie for the last.
            among: Row numbers of the passages to search, or None for all.

        Returns:
            Row numbers and scores. A score depends on the passage's terms and the collection's statistics alone.
        """
        postings = self._postings(wanted)
        idf = {term: _idf(self._passages, count) for term, count in self._count(postings).items()}
        among = None if among is None else np.sort(among)
        found = np.empty(0, dtype=np.int64), np.empty(0)
        for number, norms in self._blocks.norms.items():
            first = number * posting_blocks.BLOCK
            scores = np.zeros(len(norms))
            # In the question's order, so that equal passages get equal sums wherever they are.
            for term, weight in wanted.items():
                if number in postings[term]:
                    positions, weights = unpack_postings(postings[term][number])
                    if positions.max(initial=0) >= len(norms):
                        raise damaged_block(self._file, number)
                    scores[positions] += weight * idf[term] * (_K1 + 1) * weights / (weights + norms[positions])
            if among is not None:
                start, end = np.searchsorted(among, (first, first + posting_blocks.BLOCK))
                left_out = np.ones(len(scores), dtype=bool)
                left_out[among[start:end] - first] = False
                scores[left_out] = 0.0
            least = found[1].min() if len(found[1]) >= limit else np.nextafter(0, 1)
            ids = np.flatnonzero(scores >= least) + first
            found = _best(found, (ids, scores[ids - first]), limit)
        order = np.argsort(-found[1], kind="stable")
        return found[0][order], found[1][order]

    def passages(self) -> Numbers:
        """Row numbers of the indexed passages, ascending."""
        found = [
            np.flatnonzero(block.lengths) + number * posting_blocks.BLOCK
            for number, block in read_blocks(self._connection, self._file).items()
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *found])

    def verify(self) -> None:
        """Check every row."""
        seen = np.zeros_like(self._blocks.hashes)
        at = {number: i for i, number in enumerate(self._blocks.norms)}
        for row in self._connection.execute("SELECT id, data, checksum FROM posting_lists"):
            number, hashed = divmod(row[0], HASHES)
            if number not in at:
                raise damaged_block(self._file, number)
            for term, data in posting_lists_in(row, self._file).items():
                positions = unpack_postings(data)[0]
                ascending = len(positions) and (np.diff(positions) > 0).all()
                if not ascending or positions[-1] >= len(self._blocks.norms[number]) or term_hash(term) != hashed:
                    raise damaged_block(self._file, number)
            seen[at[number], hashed >> 3] |= 1 << (hashed & 7)
        if not np.array_equal(seen, self._blocks.hashes):
            raise damaged(self._file, "a row of the keyword index is missing")

    def _postings(self, wanted: Collection[str]) -> _Postings:
        """The posting lists of terms, read unless they were lately."""
        cached = self._cache
        read = self._read([term for term in wanted if term not in cached])
        postings = {term: read[term] if term in read else cached[term] for term in wanted}
        self._cache = {**cached, **read} if len(cached) + len(read) <= _MAX_CACHED_TERMS else postings
        return postings

    def _count(self, postings: _Postings) -> dict[str, int]:
        counted = {term: sum(map(len, lists.values())) // 3 for term, lists in postings.items()}
        if max(counted.values(), default=0) > self._passages:
            raise damaged(self._file, "a document frequency in the keyword index is inconsistent")
        return counted

    def _read(self, wanted: Sequence[str]) -> _Postings:
        numbers = tuple(self._blocks.norms)
        stored = {term: term_bytes(term) for term in wanted}
        hashes = {term: term_hash(data) for term, data in stored.items()}
        rows: set[int] = set()
        for hashed in set(hashes.values()):
            there = self._blocks.hashes[:, hashed >> 3] >> (hashed & 7) & 1
            rows.update(row_id(numbers[i], hashed) for i in np.flatnonzero(there))
        found = dict(read_posting_lists(self._connection, self._file, sorted(rows)))
        postings: dict[str, dict[int, bytes]] = {term: {} for term in wanted}
        for number in numbers:
            for term in wanted:
                data = found.get(row_id(number, hashes[term]), {}).get(stored[term])
                if data:
                    postings[term][number] = data
        return postings

    @cached_property
    def _blocks(self) -> _Blocks:
        blocks = read_blocks(self._connection, self._file)
        if sum(int(np.count_nonzero(block.lengths)) for block in blocks.values()) != self._passages:
            raise damaged(self._file, "the number of passages in the keyword index is inconsistent")
        total = sum(int(block.lengths.sum(dtype=np.int64)) for block in blocks.values())
        mean = total / max(self._passages, 1)
        norms = {
            number: _K1 * (1 - _B + _B * block.lengths.astype(np.float64) / mean) for number, block in blocks.items()
        }
        none = np.zeros((0, HASHES // 8), dtype=np.uint8)
        return _Blocks(norms, np.vstack([none, *(block.hashes for block in blocks.values())]))


def _best(found: tuple[Numbers, Floats], more: tuple[Numbers, Floats], limit: int) -> tuple[Numbers, Floats]:
    """The best few of both, and all that tie with the last of them."""
    ids, scores = (np.concatenate(both) for both in zip(found, more, strict=True))
    if len(ids) <= limit:
        return ids, scores
    kept = scores >= np.partition(scores, -limit)[-limit]
    return ids[kept], scores[kept]


def _idf(passages: int, frequency: int) -> float:
    return max(float(np.log((passages - frequency + 0.5) / (frequency + 0.5))), _LEAST_IDF)
