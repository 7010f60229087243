"""Add passages to the keyword index and remove them; only the rows of their own terms are rewritten."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from index.lexical import posting_blocks
from index.lexical.posting_blocks import PassageBlock, damaged_block, delete_rows, row_id, row_part, write_rows
from index.lexical.postings import MAX_WEIGHT, Bytes, Numbers, Postings, pack, unpack
from index.lexical.vocabulary import Ints, Vocabulary

# Weights of a word in the title, the headings, the text and the path of a passage.
FIELD_WEIGHTS = (1, 1, 1, 2)
MAX_LENGTH = 65_535  # words that are counted in a passage
# How many words are cached with their terms, and texts with their words: a document's passages share other fields.
_MAX_WORDS = 100_000
_MAX_SHARED = 64

_Column = Numbers | Ints | Bytes


class Fields(NamedTuple):
    """The texts by which a passage is found."""

    title: str
    heading: str
    text: str
    path: str


@dataclass(slots=True)
class _Passages:
    """Passages of a block: the place of each in it, and its words, by number, field by field."""

    places: array[int] = field(default_factory=lambda: array("i"))
    words: array[int] = field(default_factory=lambda: array("i"))
    sizes: array[int] = field(default_factory=lambda: array("i"))  # of each field of each passage


class _Columns(NamedTuple):
    """Postings of a block, unordered: the number of each one's term, the place of its passage, and its weight."""

    terms: _Column
    places: _Column
    weights: _Column


@dataclass(slots=True)
class _BlockChange:
    """What changes in one block."""

    added: _Passages = field(default_factory=_Passages)
    removed: _Passages = field(default_factory=_Passages)


class LexicalWriter:
    """Adds and removes passages inside the caller's transaction; nothing is written before `flush`.

    A passage is removed with the same fields it was added with, and before others are added.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self._changes: defaultdict[int, _BlockChange] = defaultdict(_BlockChange)
        self._vocabulary = Vocabulary()
        self._shared: dict[str, array[int]] = {}

    def add(self, passage: int, fields: Fields) -> None:
        """Index a passage under its row number."""
        number, place = divmod(passage, posting_blocks.BLOCK)
        if number not in self._changes and len(self._changes) > 1:
            # Row numbers mostly ascend in a large build, so few blocks are held in memory.
            self.flush()
        self._put(self._changes[number].added, place, fields)

    def remove(self, passage: int, fields: Fields) -> None:
        """Remove a passage."""
        number, place = divmod(passage, posting_blocks.BLOCK)
        self._put(self._changes[number].removed, place, fields)

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
        if len(self._vocabulary) > _MAX_WORDS:
            self._vocabulary = Vocabulary()
            self._shared.clear()

    def _put(self, passages: _Passages, place: int, fields: Fields) -> None:
        passages.places.append(place)
        for text in fields:
            words = self._shared.get(text)
            if words is None:
                words = self._vocabulary.words(text)
                if text is not fields.text:
                    if len(self._shared) >= _MAX_SHARED:
                        self._shared.clear()
                    self._shared[text] = words
            passages.words += words
            passages.sizes.append(len(words))

    def _flush(self, number: int, change: _BlockChange) -> None:
        block = self._block(number)
        new = self._columns(change.added)
        changed = np.array([*change.removed.places, *change.added.places])
        terms = self._distinct(new.terms, self._columns(change.removed).terms)
        touched = np.unique(np.array(self._vocabulary.hashes)[terms])
        marks = np.unpackbits(block.hashes, bitorder="little")
        old = self._stored(number, touched[marks[touched] == 1])
        kept = ~np.isin(old.places, changed)
        rows = self._rows(new, _Columns(*(column[kept] for column in old)))
        write_rows(self._connection, ((row_id(number, hashed), data) for hashed, data in rows.items()))
        marks[touched] = 0
        marks[list(rows)] = 1
        delete_rows(self._connection, (row_id(number, hashed) for hashed in touched[marks[touched] == 0].tolist()))
        lengths = np.zeros(posting_blocks.BLOCK, dtype=np.uint16)
        lengths[: len(block.lengths)] = block.lengths
        lengths[change.removed.places] = 0
        lengths[change.added.places] = self._lengths(change.added)
        block = PassageBlock(lengths, np.packbits(marks, bitorder="little"))
        posting_blocks.write_block(self._connection, number, block)

    def _columns(self, passages: _Passages) -> _Columns:
        """Return the postings of passages, one for each occurrence of a term, weighted by its field."""
        sizes = np.array(passages.sizes)
        occurrences = self._vocabulary.terms(np.array(passages.words))
        owners = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[occurrences.owners]
        weights = np.array(FIELD_WEIGHTS, dtype=np.int32)[owners % len(FIELD_WEIGHTS)]
        places = np.array(passages.places)[owners // len(FIELD_WEIGHTS)]
        return _Columns(occurrences.terms, places, weights)

    def _lengths(self, passages: _Passages) -> Numbers:
        """Count the words of each passage."""
        sizes = np.array(passages.sizes).reshape(-1, len(FIELD_WEIGHTS)).sum(axis=1)
        words = self._vocabulary.lengths(np.array(passages.words))
        owners = np.repeat(np.arange(len(sizes)), sizes)
        return np.clip(np.bincount(owners, weights=words, minlength=len(sizes)), 1, MAX_LENGTH)

    def _stored(self, number: int, hashes: Numbers) -> _Columns:
        """Read the postings in a block's rows for some hashes."""
        wanted = [row_id(number, hashed) for hashed in hashes.tolist()]
        rows = posting_blocks.read_posting_lists(self._connection, self._file, wanted)
        lists = [pair for _, row in rows for pair in row.items()]
        terms = np.array([self._vocabulary.term(name) for name, _ in lists], dtype=np.int64)
        try:
            unpacked = unpack([postings for _, postings in lists], np.zeros(len(lists), dtype=np.int64))
        except ValueError as error:
            raise damaged_block(self._file, number) from error
        if unpacked.positions.max(initial=0) >= posting_blocks.BLOCK:
            raise damaged_block(self._file, number)
        return _Columns(np.repeat(terms, unpacked.counts), unpacked.positions, unpacked.weights)

    def _distinct(self, *columns: _Column) -> Numbers:
        """Return all terms that occur; sorting millions would take longer."""
        occurs = np.zeros(len(self._vocabulary.names), dtype=bool)
        for terms in columns:
            occurs[terms] = True
        return np.flatnonzero(occurs)

    def _rows(self, new: _Columns, old: _Columns) -> dict[int, bytes]:
        """Return the rows of a block with these postings, by hash."""
        names, hashes = self._vocabulary.names, self._vocabulary.hashes
        terms = self._distinct(new.terms, old.terms).tolist()
        terms.sort(key=lambda term: (hashes[term], names[term]))
        ranks = np.empty(len(names), dtype=np.int64)
        ranks[terms] = np.arange(len(terms))
        keys = ranks[new.terms] * posting_blocks.BLOCK
        keys += new.places
        keys, weights = np.unique(np.repeat(keys, new.weights), return_counts=True)
        if len(old.terms):
            keys = np.concatenate([keys, ranks[old.terms] * posting_blocks.BLOCK + old.places])
            order = np.argsort(keys)
            keys, weights = keys[order], np.concatenate([weights, old.weights])[order]
        counts = np.bincount(keys // posting_blocks.BLOCK, minlength=len(terms))
        postings = Postings(keys % posting_blocks.BLOCK, np.minimum(weights, MAX_WEIGHT), counts)
        data, ends = pack(postings)
        starts = [0, *ends]
        parts: defaultdict[int, list[bytes]] = defaultdict(list)
        for term, count, start, end in zip(terms, counts.tolist(), starts, ends, strict=False):
            parts[hashes[term]] += row_part(names[term], count, data[start:end])
        return {hashed: b"".join(row) for hashed, row in parts.items()}

    def _block(self, number: int) -> PassageBlock:
        blocks = posting_blocks.read_blocks(self._connection, self._file, f"block = {number:d}")
        if number in blocks:
            return blocks[number]
        first, last = row_id(number, 0), row_id(number + 1, 0) - 1
        rows = self._connection.execute("SELECT 1 FROM posting_lists WHERE id BETWEEN ? AND ? LIMIT 1", (first, last))
        if rows.fetchone():
            raise damaged_block(self._file, number)
        return posting_blocks.EMPTY
