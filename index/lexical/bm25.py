"""Keyword search in one generation: BM25 over posting lists."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from index.lexical import posting_blocks
from index.lexical.posting_blocks import (
    HASHES,
    damaged_block,
    parse_posting_lists,
    read_blocks,
    read_posting_lists,
    row_id,
    term_bytes,
    term_hash,
)
from index.lexical.postings import Bytes, Numbers, PostingList, Postings, unpack
from index.lexical.scoring import Floats, bm25, idf, length_norms, select_highest
from index.storage.rows import damaged

_MAX_CACHED_TERMS = 500
# Blocks scored at once.
_BLOCKS_AT_ONCE = 4


class _Blocks(NamedTuple):
    """All blocks, one after another, each with a slot for every passage that a block can have.

    Attributes:
        numbers: `(blocks,) int64`, ascending.
        sizes: `(blocks,) int64`, number of slots up to the last with a passage.
        lengths: `(blocks * BLOCK,) uint16`, number of words of each slot's passage; 0 for no passage.
        norms: The length norm of BM25 for each length.
        hashes: `(blocks, 1024) uint8`, a bit for each hash that has a row.
    """

    numbers: Numbers
    sizes: Numbers
    lengths: npt.NDArray[np.uint16]
    norms: Floats
    hashes: npt.NDArray[np.uint8]


class _TermPostings(NamedTuple):
    """The slots of the passages that have a term, ascending, and its weight in each passage."""

    slots: Numbers
    weights: Bytes | Numbers

    def in_range(self, start: int, end: int) -> _TermPostings:
        """Return the postings within a range of slots."""
        return self.part(*np.searchsorted(self.slots, (start, end)).tolist())

    def part(self, first: int, last: int) -> _TermPostings:
        return _TermPostings(self.slots[first:last], self.weights[first:last])


class LexicalIndex:
    """The keyword index of one generation, for reading; the caller translates the errors of SQLite."""

    def __init__(self, connection: sqlite3.Connection, file: Path, passages: int) -> None:
        self._connection = connection
        self._file = file
        self._passages = passages
        # A question's terms are read for the search and for their frequencies.
        self._cache: Mapping[str, _TermPostings] = {}

    def load(self) -> None:
        """Read in advance what every search needs: the lengths of passages, and which hashes have rows."""
        _ = self._blocks

    def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Count the passages in which each term occurs."""
        return self._count(self._terms(terms))

    def search(self, query: Mapping[str, float], limit: int, *, among: Numbers | None = None) -> tuple[Numbers, Floats]:
        """Return the passages with any of the terms, by BM25, best first, and all that tie with the last.

        Args:
            query: Terms with their weights.
            limit: How many; more if several tie for last place.
            among: Row ids of the passages to search, or None for all.

        Returns:
            Row ids and scores. A score depends only on the passage's terms and the collection's statistics.
        """
        terms = self._terms(query)
        term_weights = {term: query[term] * idf(self._passages, df) for term, df in self._count(terms).items()}
        blocks = self._blocks
        is_in_scope = None
        if among is not None:
            is_in_scope = np.zeros(len(blocks.lengths), dtype=bool)
            is_in_scope[self._slots(among)] = True
        best, scores = np.empty(0, dtype=np.int64), np.empty(0)
        # A few blocks at a time, so that each step reuses memory that is in the processor's cache.
        for start in range(0, len(blocks.lengths), _BLOCKS_AT_ONCE * posting_blocks.BLOCK):
            sums = np.zeros(len(blocks.lengths[start : start + _BLOCKS_AT_ONCE * posting_blocks.BLOCK]))
            # In the question's order, so that equal passages get equal sums wherever they are.
            for term, weight in term_weights.items():
                slots, counts = terms[term].in_range(start, start + len(sums))
                sums[slots - start] += bm25(weight, counts, blocks.norms[blocks.lengths[slots]])
            if is_in_scope is not None:
                sums[~is_in_scope[start : start + len(sums)]] = 0.0
            hits = np.flatnonzero(sums > 0 if len(best) < limit else sums >= scores.min())
            best, scores = select_highest(np.append(best, hits + start), np.append(scores, sums[hits]), limit)
        order = np.argsort(-scores, kind="stable")
        block, position = np.divmod(best[order], posting_blocks.BLOCK)
        return blocks.numbers[block] * posting_blocks.BLOCK + position, scores[order]

    def passages(self) -> Numbers:
        """Return the row ids of the indexed passages, ascending."""
        ids = [
            np.flatnonzero(block.lengths) + number * posting_blocks.BLOCK
            for number, block in read_blocks(self._connection, self._file).items()
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *ids])

    def verify(self) -> None:
        """Check every row."""
        seen_hashes = np.zeros_like(self._blocks.hashes)
        indexes = {number: i for i, number in enumerate(self._blocks.numbers.tolist())}
        rows = self._connection.execute("SELECT id, data, checksum FROM posting_lists ORDER BY id")
        for number, block_rows in groupby(rows, key=lambda row: row[0] // HASHES):
            if number not in indexes:
                raise damaged_block(self._file, number)
            lists: list[PostingList] = []
            for row in block_rows:
                hashed = row[0] % HASHES
                posting_lists = parse_posting_lists(row, self._file)
                if not posting_lists or any(term_hash(term) != hashed for term in posting_lists):
                    raise damaged_block(self._file, number)
                lists += posting_lists.values()
                seen_hashes[indexes[number], hashed >> 3] |= 1 << (hashed & 7)
            self._unpack(lists, np.full(len(lists), indexes[number]))
        if not np.array_equal(seen_hashes, self._blocks.hashes):
            raise damaged(self._file, "a row of the keyword index is missing")

    def _terms(self, terms: Collection[str]) -> Mapping[str, _TermPostings]:
        """Return the postings of terms, from the cache if they were read lately."""
        cached = self._cache
        read = self._read_postings([term for term in terms if term not in cached])
        postings = {term: read[term] if term in read else cached[term] for term in terms}
        self._cache = {**cached, **read} if len(cached) + len(read) <= _MAX_CACHED_TERMS else postings
        return postings

    def _count(self, terms: Mapping[str, _TermPostings]) -> dict[str, int]:
        counts = {term: len(postings.slots) for term, postings in terms.items()}
        if max(counts.values(), default=0) > self._passages:
            raise damaged(self._file, "a document frequency in the keyword index is inconsistent")
        return counts

    def _read_postings(self, terms: Sequence[str]) -> dict[str, _TermPostings]:
        if not terms:
            return {}
        names = {term: term_bytes(term) for term in terms}
        # The rows that may have each term, with the indexes of their blocks.
        rows: dict[str, dict[int, int]] = {}
        for term, name in names.items():
            hashed = term_hash(name)
            block_indexes = np.flatnonzero(self._blocks.hashes[:, hashed >> 3] >> (hashed & 7) & 1)
            rows[term] = {row_id(int(self._blocks.numbers[block]), hashed): int(block) for block in block_indexes}
        row_ids = sorted({row for blocks_by_row in rows.values() for row in blocks_by_row})
        stored = dict(read_posting_lists(self._connection, self._file, row_ids))
        posting_lists = [
            (term, block, postings)
            for term, blocks_by_row in rows.items()
            for row, block in blocks_by_row.items()
            if (postings := stored[row].get(names[term])) is not None
        ]
        blocks = np.array([block for _, block, _ in posting_lists], dtype=np.int64)
        unpacked = self._unpack([postings for *_, postings in posting_lists], blocks)
        sizes = dict.fromkeys(terms, 0)
        for term, _, postings in posting_lists:
            sizes[term] += postings.passages
        merged = _TermPostings(unpacked.positions, unpacked.weights)
        ends = accumulate(sizes.values(), initial=0)
        return {term: merged.part(first, last) for term, (first, last) in zip(sizes, pairwise(ends), strict=True)}

    def _unpack(self, lists: Sequence[PostingList], blocks: Numbers) -> Postings:
        """Unpack posting lists to slots; `blocks` are the indexes of their blocks."""
        starts = blocks * posting_blocks.BLOCK
        try:
            postings = unpack(lists, starts)
        except ValueError as error:
            raise damaged(self._file, f"in the keyword index {error}") from error
        last = postings.positions[np.cumsum(postings.counts) - 1]
        if (beyond := np.flatnonzero(last - starts >= self._blocks.sizes[blocks])).size:
            raise damaged_block(self._file, int(self._blocks.numbers[blocks[beyond[0]]]))
        return postings

    def _slots(self, passages: Numbers) -> Numbers:
        """Return the slots of passages, without those in no block."""
        number, position = np.divmod(passages, posting_blocks.BLOCK)
        block = np.searchsorted(self._blocks.numbers, number)
        is_indexed = np.isin(number, self._blocks.numbers)
        return block[is_indexed] * posting_blocks.BLOCK + position[is_indexed]

    @cached_property
    def _blocks(self) -> _Blocks:
        blocks = read_blocks(self._connection, self._file)
        if sum(int(np.count_nonzero(block.lengths)) for block in blocks.values()) != self._passages:
            raise damaged(self._file, "the number of passages in the keyword index is inconsistent")
        lengths = np.zeros((len(blocks), posting_blocks.BLOCK), dtype=np.uint16)
        for row, (number, block) in zip(lengths, blocks.items(), strict=True):
            if len(block.lengths) > len(row):
                raise damaged_block(self._file, number)
            row[: len(block.lengths)] = block.lengths
        mean = int(lengths.sum(dtype=np.int64)) / max(self._passages, 1) or 1.0
        empty = np.zeros((0, HASHES // 8), dtype=np.uint8)
        return _Blocks(
            np.array(list(blocks), dtype=np.int64),
            np.array([len(block.lengths) for block in blocks.values()], dtype=np.int64),
            lengths.reshape(-1),
            length_norms(np.arange(int(lengths.max(initial=0)) + 1), mean),
            np.vstack([empty, *(block.hashes for block in blocks.values())]),
        )
