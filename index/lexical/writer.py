"""Enter passages into the keyword index and take them out: only the rows of their own terms are written again."""

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
    PostingLists,
    lost,
    pack_postings,
    row_id,
    term_bytes,
    term_hash,
    unpack_postings,
)

# Of a word in the title, the headings, the text and the path of a passage.
FIELD_WEIGHTS = (1, 1, 1, 2)
_MOST_WEIGHT = 255
_LONGEST = 65_535


@dataclass(frozen=True, slots=True)
class Fields:
    """The text a passage is found by."""

    title: str
    heading: str
    text: str
    path: str

    def weigh(self) -> tuple[Mapping[str, int], int]:
        """How much each term weighs in the passage, and how many words it has."""
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
    """Where a term was added in a block, and how much it weighs there: arrays, as there are millions of them."""

    places: array[int] = field(default_factory=lambda: array("H"))
    weights: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class _Change:
    """What changes in one block."""

    added: defaultdict[str, _Added] = field(default_factory=lambda: defaultdict(_Added))
    removed: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    lengths: dict[int, int] = field(default_factory=dict)


class LexicalWriter:
    """Adds and removes passages inside the caller's transaction; nothing is written before `flush`.

    A passage is removed with the same fields it was added with.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self._changes: dict[int, _Change] = {}

    def add(self, passage: int, fields: Fields) -> None:
        """Enter a passage under its row number."""
        number, place = divmod(passage, posting_blocks.BLOCK)
        if number not in self._changes and len(self._changes) > 1:
            # Row numbers mostly ascend in a large build, so that what is held stays small.
            self.flush()
        change = self._changes.setdefault(number, _Change())
        weights, length = fields.weigh()
        for term, weight in weights.items():
            added = change.added[term]
            added.places.append(place)
            added.weights.append(min(weight, _MOST_WEIGHT))
        change.lengths[place] = min(max(length, 1), _LONGEST)

    def remove(self, passage: int, fields: Fields) -> None:
        """Take a passage out."""
        number, place = divmod(passage, posting_blocks.BLOCK)
        if number in self._changes and self._changes[number].added:
            self.flush()  # it may be among what was added
        change = self._changes.setdefault(number, _Change())
        for term in fields.weigh()[0]:
            change.removed[term].append(place)
        change.lengths[place] = 0

    def clear(self) -> None:
        """Take everything out."""
        self._changes.clear()
        for table in ("posting_lists", "blocks"):
            self._connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a name from here

    def flush(self) -> None:
        """Write what was added and removed.

        Raises:
            DamagedIndexError: A row to be changed does not hold what was written.
        """
        for number in sorted(self._changes):
            self._flush(number, self._changes[number])
        self._changes.clear()

    def _flush(self, number: int, change: _Change) -> None:
        block = self._block(number)
        there = block.buckets.copy()
        names = {term: term_bytes(term) for term in change.added.keys() | change.removed.keys()}
        touched = {term_hash(name) for name in names.values()}
        old = [row_id(number, bucket) for bucket in sorted(touched) if there[bucket >> 3] >> (bucket & 7) & 1]
        rows: dict[int, PostingLists] = {row_id(number, bucket): {} for bucket in touched}
        rows.update(posting_blocks.read_posting_lists(self._connection, self._file, old))
        for term, name in names.items():
            bucket = rows[row_id(number, term_hash(name))]
            data = _changed(bucket.pop(name, b""), change.added.get(term), change.removed.get(term, ()))
            if data:
                bucket[name] = data
        posting_blocks.write_posting_lists(self._connection, rows)
        for place in touched:
            bit = np.uint8(1 << (place & 7))
            there[place >> 3] &= ~bit
            there[place >> 3] |= bit if rows[row_id(number, place)] else 0
        lengths = np.zeros(posting_blocks.BLOCK, dtype=np.uint16)
        lengths[: len(block.lengths)] = block.lengths
        lengths[list(change.lengths.keys())] = list(change.lengths.values())
        posting_blocks.write_block(self._connection, number, posting_blocks.Block(lengths, there))

    def _block(self, number: int) -> posting_blocks.Block:
        found = posting_blocks.read_blocks(self._connection, self._file, f"block = {number:d}")
        if number in found:
            return found[number]
        first, last = row_id(number, 0), row_id(number + 1, 0) - 1
        held = self._connection.execute("SELECT 1 FROM posting_lists WHERE id BETWEEN ? AND ? LIMIT 1", (first, last))
        if held.fetchone():
            raise lost(self._file, number)
        return posting_blocks.EMPTY


def _changed(data: bytes, added: _Added | None, removed: list[int] | tuple[()]) -> bytes:
    """What is kept of a term after some places went and some came."""
    entries: dict[int, int] = {}
    if data:
        gone = frozenset(removed)
        places, weights = unpack_postings(data)
        old = zip(places.tolist(), weights.astype(int).tolist(), strict=True)
        entries = {place: weight for place, weight in old if place not in gone}
    if added is not None:
        entries.update(zip(added.places, added.weights, strict=True))
    return pack_postings(entries) if entries else b""
