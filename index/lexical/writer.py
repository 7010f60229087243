"""Add passages to the keyword index and remove them; only the rows of their terms are rewritten."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from index.lexical import posting_blocks
from index.lexical.posting_blocks import PassageBlock, damaged_block, delete_rows, pack_posting_list, row_id, write_rows
from index.lexical.postings import MAX_WEIGHT, Bytes, Numbers, Postings, pack, unpack
from index.lexical.vocabulary import Ints, Vocabulary

# Weights of a word in the title, the headings, the text and the path of a passage.
FIELD_WEIGHTS = (1, 1, 1, 2)
MAX_LENGTH = 65_535  # words that are counted in a passage
# How many words are cached with their terms, and texts with their words, as a document's passages share fields.
_MAX_WORDS = 100_000
_MAX_SHARED = 64

_Column = Numbers | Ints | Bytes


class Fields(NamedTuple):
    """The texts of a passage that are indexed."""

    title: str
    heading: str
    text: str
    path: str


@dataclass(slots=True)
class _Passages:
    """Passages of a block: their positions in it, and the numbers of their words, field by field."""

    positions: array[int] = field(default_factory=lambda: array("i"))
    words: array[int] = field(default_factory=lambda: array("i"))
    sizes: array[int] = field(default_factory=lambda: array("i"))  # of each field of each passage


class _Columns(NamedTuple):
    """Postings of a block as columns, unordered: numbers of terms, positions of passages, and weights."""

    terms: _Column
    positions: _Column
    weights: _Column


@dataclass(slots=True)
class _BlockChange:
    """The passages added to a block and removed from it."""

    added: _Passages = field(default_factory=_Passages)
    removed: _Passages = field(default_factory=_Passages)


class LexicalWriter:
    """Adds and removes passages inside the caller's transaction; nothing is written before `flush`.

    A passage is removed with the fields that it was added with, and before others are added.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self._changes: defaultdict[int, _BlockChange] = defaultdict(_BlockChange)
        self._vocabulary = Vocabulary()
        self._shared: dict[str, array[int]] = {}

    def add(self, passage: int, fields: Fields) -> None:
        """Index a passage by its row id."""
        number, position = divmod(passage, posting_blocks.BLOCK)
        if number not in self._changes and len(self._changes) > 1:
            # Row ids mostly ascend in a large build, so few blocks are in memory.
            self.flush()
        self._append(self._changes[number].added, position, fields)

    def remove(self, passage: int, fields: Fields) -> None:
        """Remove a passage."""
        number, position = divmod(passage, posting_blocks.BLOCK)
        self._append(self._changes[number].removed, position, fields)

    def clear(self) -> None:
        """Remove all passages."""
        self._changes.clear()
        for table in ("posting_lists", "blocks"):
            self._connection.execute(f"DELETE FROM {table}")

    def flush(self) -> None:
        """Write all changes."""
        for number in sorted(self._changes):
            self._flush_block(number, self._changes[number])
        self._changes.clear()
        if len(self._vocabulary) > _MAX_WORDS:
            self._vocabulary = Vocabulary()
            self._shared.clear()

    def _append(self, passages: _Passages, position: int, fields: Fields) -> None:
        passages.positions.append(position)
        for text in fields:
            words = self._shared.get(text)
            if words is None:
                words = self._vocabulary.word_numbers(text)
                if text is not fields.text:
                    if len(self._shared) >= _MAX_SHARED:
                        self._shared.clear()
                    self._shared[text] = words
            passages.words += words
            passages.sizes.append(len(words))

    def _flush_block(self, number: int, change: _BlockChange) -> None:
        block = self._read_block(number)
        new = self._to_columns(change.added)
        changed_positions = np.array([*change.removed.positions, *change.added.positions])
        terms = self._distinct_terms(new.terms, self._to_columns(change.removed).terms)
        changed_hashes = np.unique(np.array(self._vocabulary.hashes)[terms])
        row_bits = np.unpackbits(block.hashes, bitorder="little")
        old = self._read_columns(number, changed_hashes[row_bits[changed_hashes] == 1])
        is_kept = ~np.isin(old.positions, changed_positions)
        rows = self._pack_rows(new, _Columns(*(column[is_kept] for column in old)))
        write_rows(self._connection, ((row_id(number, hashed), data) for hashed, data in rows.items()))
        row_bits[changed_hashes] = 0
        row_bits[list(rows)] = 1
        emptied = changed_hashes[row_bits[changed_hashes] == 0].tolist()
        delete_rows(self._connection, (row_id(number, hashed) for hashed in emptied))
        lengths = np.zeros(posting_blocks.BLOCK, dtype=np.uint16)
        lengths[: len(block.lengths)] = block.lengths
        lengths[change.removed.positions] = 0
        lengths[change.added.positions] = self._count_words(change.added)
        block = PassageBlock(lengths, np.packbits(row_bits, bitorder="little"))
        posting_blocks.write_block(self._connection, number, block)

    def _to_columns(self, passages: _Passages) -> _Columns:
        """Return the postings of passages: one for each occurrence of a term, with the weight of its field."""
        sizes = np.array(passages.sizes)
        occurrences = self._vocabulary.occurrences(np.array(passages.words))
        field_indexes = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[occurrences.words]
        weights = np.array(FIELD_WEIGHTS, dtype=np.int32)[field_indexes % len(FIELD_WEIGHTS)]
        positions = np.array(passages.positions)[field_indexes // len(FIELD_WEIGHTS)]
        return _Columns(occurrences.terms, positions, weights)

    def _count_words(self, passages: _Passages) -> Numbers:
        """Count the words of each passage."""
        sizes = np.array(passages.sizes).reshape(-1, len(FIELD_WEIGHTS)).sum(axis=1)
        lengths = self._vocabulary.word_lengths(np.array(passages.words))
        passage_indexes = np.repeat(np.arange(len(sizes)), sizes)
        return np.clip(np.bincount(passage_indexes, weights=lengths, minlength=len(sizes)), 1, MAX_LENGTH)

    def _read_columns(self, number: int, hashes: Numbers) -> _Columns:
        """Read the postings in a block's rows for some hashes."""
        row_ids = [row_id(number, hashed) for hashed in hashes.tolist()]
        rows = posting_blocks.read_posting_lists(self._connection, self._file, row_ids)
        posting_lists = [pair for _, row in rows for pair in row.items()]
        terms = np.array([self._vocabulary.term_number(name) for name, _ in posting_lists], dtype=np.int64)
        try:
            unpacked = unpack([postings for _, postings in posting_lists], np.zeros(len(posting_lists), dtype=np.int64))
        except ValueError as error:
            raise damaged_block(self._file, number) from error
        if unpacked.positions.max(initial=0) >= posting_blocks.BLOCK:
            raise damaged_block(self._file, number)
        return _Columns(np.repeat(terms, unpacked.counts), unpacked.positions, unpacked.weights)

    def _distinct_terms(self, *columns: _Column) -> Numbers:
        """Return the distinct terms, faster than by sorting millions."""
        occurs = np.zeros(len(self._vocabulary.names), dtype=bool)
        for terms in columns:
            occurs[terms] = True
        return np.flatnonzero(occurs)

    def _pack_rows(self, new: _Columns, old: _Columns) -> dict[int, bytes]:
        """Return the rows of a block with these postings, by hash."""
        names, hashes = self._vocabulary.names, self._vocabulary.hashes
        terms = self._distinct_terms(new.terms, old.terms).tolist()
        terms.sort(key=lambda term: (hashes[term], names[term]))
        ranks = np.empty(len(names), dtype=np.int64)
        ranks[terms] = np.arange(len(terms))
        keys = ranks[new.terms] * posting_blocks.BLOCK
        keys += new.positions
        keys, weights = np.unique(np.repeat(keys, new.weights), return_counts=True)
        if len(old.terms):
            keys = np.concatenate([keys, ranks[old.terms] * posting_blocks.BLOCK + old.positions])
            order = np.argsort(keys)
            keys, weights = keys[order], np.concatenate([weights, old.weights])[order]
        counts = np.bincount(keys // posting_blocks.BLOCK, minlength=len(terms))
        postings = Postings(keys % posting_blocks.BLOCK, np.minimum(weights, MAX_WEIGHT), counts)
        data, ends = pack(postings)
        starts = [0, *ends]
        parts: defaultdict[int, list[bytes]] = defaultdict(list)
        for term, count, start, end in zip(terms, counts.tolist(), starts, ends, strict=False):
            parts[hashes[term]] += pack_posting_list(names[term], count, data[start:end])
        return {hashed: b"".join(row) for hashed, row in parts.items()}

    def _read_block(self, number: int) -> PassageBlock:
        blocks = posting_blocks.read_blocks(self._connection, self._file, f"block = {number:d}")
        if number in blocks:
            return blocks[number]
        first, last = row_id(number, 0), row_id(number + 1, 0) - 1
        rows = self._connection.execute("SELECT 1 FROM posting_lists WHERE id BETWEEN ? AND ? LIMIT 1", (first, last))
        if rows.fetchone():
            raise damaged_block(self._file, number)
        return posting_blocks.EMPTY
