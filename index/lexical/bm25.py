"""The keyword index of one generation: which passages have a question's terms, ranked by BM25."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from index.lexical import posting_blocks
from index.lexical.posting_blocks import (
    HASHES,
    Block,
    Floats,
    Numbers,
    lost,
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
# Terms whose passages are kept in memory.
_MOST_KEPT = 500

# For each term the blocks that have it, with what they keep of it.
_Held = Mapping[str, Mapping[int, bytes]]


@dataclass(frozen=True, slots=True)
class _Blocks:
    """All blocks: what a passage's length adds to the divisor of BM25, and which buckets there are."""

    numbers: tuple[int, ...]
    norms: dict[int, Floats]
    buckets: npt.NDArray[np.uint8]


class LexicalIndex:
    """The keyword index, for reading.

    Args:
        connection: Holds the generation; the caller turns its errors into ours.
        file: For messages.
        passages: How many the generation has.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path, passages: int) -> None:
        self._connection = connection
        self._file = file
        self._passages = passages
        # The words of a question are counted before and after they are searched for.
        self._kept: _Held = {}

    def load(self) -> None:
        """Read now what every search needs: how long the passages are, and which buckets there are.

        Raises:
            DamagedIndexError: It does not hold what was written.
        """
        _ = self._blocks

    def frequencies(self, wanted: Collection[str]) -> dict[str, int]:
        """In how many passages each term stands.

        Raises:
            DamagedIndexError: A row that is read does not hold what was written.
        """
        return self._counted(self._hold(wanted))

    def search(
        self, wanted: Mapping[str, float], limit: int, *, among: Numbers | None = None
    ) -> tuple[Numbers, Floats]:
        """Passages that have any of the terms, by BM25, best first, with all that tie with the last.

        Args:
            wanted: Terms as `analysis.terms` gives them, each with what it counts.
            limit: How many, or more where the last place is shared.
            among: Row numbers of the passages to choose from, or None for all.

        Returns:
            Row numbers and scores. A score depends on the passage's terms and the collection's statistics alone.

        Raises:
            DamagedIndexError: A row that is read does not hold what was written.
        """
        held = self._hold(wanted)
        frequency = self._counted(held)
        worth = {term: wanted[term] * _idf(self._passages, count) for term, count in frequency.items()}
        allowed = None if among is None else _by_block(among)
        best = _Best(limit)
        for number in self._blocks.numbers:
            norms = self._blocks.norms[number]
            scores = np.zeros(len(norms))
            # In the question's order, so that equal passages get equal sums wherever they stand.
            for term in wanted:
                if number in held[term]:
                    places, weights = unpack_postings(held[term][number])
                    if places.max(initial=0) >= len(norms):
                        raise lost(self._file, number)
                    scores[places] += worth[term] * (_K1 + 1) * weights / (weights + norms[places])
            if allowed is not None:
                kept = np.zeros(len(scores), dtype=bool)
                kept[allowed.get(number, [])] = True
                scores[~kept] = 0.0
            best.add(number * posting_blocks.BLOCK, scores)
        return best.take()

    def passages(self) -> Numbers:
        """Row numbers of the passages that are entered, ascending."""
        places = [
            np.flatnonzero(block.lengths) + number * posting_blocks.BLOCK
            for number, block in read_blocks(self._connection, self._file).items()
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *places])

    def verify(self) -> None:
        """Check every row.

        Raises:
            DamagedIndexError: One does not hold what was written, or is missing, or speaks of a passage that is.
        """
        sizes = {number: len(norms) for number, norms in self._blocks.norms.items()}
        seen = np.zeros_like(self._blocks.buckets)
        at = {number: i for i, number in enumerate(self._blocks.numbers)}
        for row in self._connection.execute("SELECT id, data, checksum FROM posting_lists"):
            number, bucket = divmod(row[0], HASHES)
            if number not in at:
                raise lost(self._file, number)
            for name, data in posting_lists_in(row, self._file).items():
                places = unpack_postings(data)[0]
                sound = len(places) and places[-1] < sizes[number] and (np.diff(places) > 0).all()
                if not sound or term_hash(name) != bucket:
                    raise lost(self._file, number)
            seen[at[number], bucket >> 3] |= 1 << (bucket & 7)
        if not np.array_equal(seen, self._blocks.buckets):
            raise damaged(self._file, "a row of the keyword index is missing")

    def _hold(self, wanted: Collection[str]) -> _Held:
        """What is kept of each term, read where it was not lately."""
        kept = self._kept
        read = self._read([term for term in wanted if term not in kept])
        held = {term: read[term] if term in read else kept[term] for term in wanted}
        self._kept = {**kept, **read} if len(kept) + len(read) <= _MOST_KEPT else held
        return held

    def _counted(self, held: _Held) -> dict[str, int]:
        """In how many passages each term stands."""
        counted = {term: sum(map(len, rows.values())) // 3 for term, rows in held.items()}
        if max(counted.values(), default=0) > self._passages:
            raise damaged(self._file, "a document frequency in the keyword index is inconsistent")
        return counted

    def _read(self, wanted: Sequence[str]) -> _Held:
        """What each block keeps of each term."""
        names = {term: term_bytes(term) for term in wanted}
        bucket = {term: term_hash(name) for term, name in names.items()}
        blocks = self._blocks
        rows: set[int] = set()
        for place in set(bucket.values()):
            there = blocks.buckets[:, place >> 3] >> (place & 7) & 1
            rows.update(row_id(blocks.numbers[i], place) for i in np.flatnonzero(there))
        found = dict(read_posting_lists(self._connection, self._file, sorted(rows)))
        held: dict[str, dict[int, bytes]] = {term: {} for term in wanted}
        for number in blocks.numbers:
            for term in wanted:
                data = found.get(row_id(number, bucket[term]), {}).get(names[term])
                if data:
                    held[term][number] = data
        return held

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
        return _Blocks(tuple(blocks), norms, _stacked(list(blocks.values())))


class _Best:
    """The best few scores of many blocks, and all that tie with the last of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._least = 0.0
        self._found: list[tuple[Numbers, Floats]] = []
        self._held = 0

    def add(self, first: int, scores: Floats) -> None:
        places = np.flatnonzero(scores >= self._least) if self._least else np.flatnonzero(scores)
        self._found.append((places + first, scores[places]))
        self._held += len(places)
        if self._held > 8 * self._limit:
            self._found = [self._trimmed()]
            self._held = len(self._found[0][0])

    def take(self) -> tuple[Numbers, Floats]:
        ids, scores = self._trimmed()
        order = np.argsort(-scores, kind="stable")
        return ids[order], scores[order]

    def _trimmed(self) -> tuple[Numbers, Floats]:
        if not self._found:
            return np.empty(0, dtype=np.int64), np.empty(0)
        ids = np.concatenate([one[0] for one in self._found])
        scores = np.concatenate([one[1] for one in self._found])
        if len(ids) <= self._limit:
            return ids, scores
        self._least = float(np.partition(scores, -self._limit)[-self._limit])
        kept = scores >= self._least
        return ids[kept], scores[kept]


def _stacked(blocks: Sequence[Block]) -> npt.NDArray[np.uint8]:
    """`(blocks, 8192)`."""
    if not blocks:
        return np.zeros((0, HASHES // 8), dtype=np.uint8)
    return np.stack([block.buckets for block in blocks])


def _idf(passages: int, frequency: int) -> float:
    return max(float(np.log((passages - frequency + 0.5) / (frequency + 0.5))), _LEAST_IDF)


def _by_block(passages: Numbers) -> dict[int, Numbers]:
    blocks = passages // posting_blocks.BLOCK
    return {int(number): passages[blocks == number] % posting_blocks.BLOCK for number in np.unique(blocks)}
