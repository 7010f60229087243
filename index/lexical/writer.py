"""Index passages for keyword search and remove them; only the rows of their own terms are rewritten."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from index.lexical import posting_blocks
from index.lexical.analyzer import terms
from index.lexical.posting_blocks import (
    PassageBlock,
    PostingLists,
    damaged_block,
    pack_postings,
    row_id,
    term_bytes,
    term_hash,
    unpack_postings,
)

# Of a word in the title, the headings, the text and the path of a passage.
FIELD_WEIGHTS = (1, 1, 1, 2)
_MAX_WEIGHT = 255
_MAX_LENGTH = 65_535


@dataclass(frozen=True, slots=True)
class Fields:
    """The text a passage is found by."""

    title: str
    heading: str
    text: str
    path: str

    def weigh(self) -> tuple[Mapping[str, int], int]:
        """The weight of each term in the passage, and how many words it has."""
        weights: defaultdict[str, int] = defaultdict(int)
        length = 0
        # Passages of one document share all but the text.
        found = (_shared_terms(self.title), _shared_terms(self.heading), terms(self.text), _shared_terms(self.path))
        for (simple, joined), weight in zip(found, FIELD_WEIGHTS, strict=True):
            length += len(simple)
            for term in (*simple, *joined):
                weights[term] += weight
        return weights, length


@lru_cache(maxsize=64)
def _shared_terms(text: str) -> tuple[Sequence[str], Sequence[str]]:
    return terms(text)


@dataclass(slots=True)
class _Added:
    """New postings of a term: arrays, as there are millions of them."""

    positions: array[int] = field(default_factory=lambda: array("H"))
    weights: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class _BlockChange:
    """What changes in one block."""

    added: defaultdict[str, _Added] = field(default_factory=lambda: defaultdict(_Added))
    removed: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    lengths: dict[int, int] = field(default_factory=dict)


class LexicalWriter:
    """Adds and removes passages inside the caller's transaction; nothing is written before `flush`.

    A passage is removed with the same fields it was added with.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self._changes: defaultdict[int, _BlockChange] = defaultdict(_BlockChange)

    def add(self, passage: int, fields: Fields) -> None:
        """Index a passage under its row number."""
        number, position = divmod(passage, posting_blocks.BLOCK)
        if number not in self._changes and len(self._changes) > 1:
            # Row numbers mostly ascend in a large build, so few blocks are held in memory.
            self.flush()
        change = self._changes[number]
        weights, length = fields.weigh()
        for term, weight in weights.items():
            added = change.added[term]
            added.positions.append(position)
            added.weights.append(min(weight, _MAX_WEIGHT))
        change.lengths[position] = min(max(length, 1), _MAX_LENGTH)

    def remove(self, passage: int, fields: Fields) -> None:
        """Remove a passage."""
        number, position = divmod(passage, posting_blocks.BLOCK)
        if self._changes[number].added:
            self.flush()  # it may be among what was added
        change = self._changes[number]
        for term in fields.weigh()[0]:
            change.removed[term].add(position)
        change.lengths[position] = 0

    def clear(self) -> None:
        """Remove all passages."""
        self._changes.clear()
        for table in ("posting_lists", "blocks"):
            self._connection.execute(f"DELETE FROM {table}")

    def flush(self) -> None:
        """Write what was added and removed."""
        for number in sorted(self._changes):
            self._flush(number, self._changes[number])
        self._changes.clear()

    def _flush(self, number: int, change: _BlockChange) -> None:
        block = self._block(number)
        hashes = block.hashes.copy()
        stored = {term: term_bytes(term) for term in change.added.keys() | change.removed.keys()}
        touched = sorted({term_hash(data) for data in stored.values()})
        rows: dict[int, PostingLists] = {row_id(number, hashed): {} for hashed in touched}
        old = [row_id(number, hashed) for hashed in touched if hashes[hashed >> 3] >> (hashed & 7) & 1]
        rows.update(posting_blocks.read_posting_lists(self._connection, self._file, old))
        for term, data in stored.items():
            lists = rows[row_id(number, term_hash(data))]
            changed = _changed(lists.pop(data, b""), change.added.get(term), change.removed.get(term, set()))
            if changed:
                lists[data] = changed
        posting_blocks.write_posting_lists(self._connection, rows)
        for hashed in touched:
            bit = np.uint8(1 << (hashed & 7))
            hashes[hashed >> 3] &= ~bit
            hashes[hashed >> 3] |= bit if rows[row_id(number, hashed)] else 0
        lengths = np.zeros(posting_blocks.BLOCK, dtype=np.uint16)
        lengths[: len(block.lengths)] = block.lengths
        lengths[list(change.lengths.keys())] = list(change.lengths.values())
        posting_blocks.write_block(self._connection, number, PassageBlock(lengths, hashes))

    def _block(self, number: int) -> PassageBlock:
        found = posting_blocks.read_blocks(self._connection, self._file, f"block = {number:d}")
        if number in found:
            return found[number]
        first, last = row_id(number, 0), row_id(number + 1, 0) - 1
        rows = self._connection.execute("SELECT 1 FROM posting_lists WHERE id BETWEEN ? AND ? LIMIT 1", (first, last))
        if rows.fetchone():
            raise damaged_block(self._file, number)
        return posting_blocks.EMPTY


def _changed(data: bytes, added: _Added | None, removed: set[int]) -> bytes:
    """A posting list after some postings were removed and some added."""
    weights: dict[int, int] = {}
    if data:
        old = zip(*(column.tolist() for column in unpack_postings(data)), strict=True)
        weights = {position: int(weight) for position, weight in old if position not in removed}
    if added is not None:
        weights.update(zip(added.positions, added.weights, strict=True))
    return pack_postings(weights) if weights else b""
