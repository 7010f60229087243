"""The keyword index: which terms stand in which passages, in blocks of passages that change on their own; BM25.

Row `(block, term)` lists the passages of one block that have a term: their places in the block as sorted `uint16`,
then how much the term weighs in each as `uint8`. Adding or removing a passage rewrites the rows of its own terms in
its own block; reading a term adds up arrays. FTS5, which was here before, took 60 ms for common words on 20,000
passages, and more with every passage that has one.
"""

# ruff: noqa: S608 - statements are put together from names in this package; values are bound

from __future__ import annotations

import json
import sqlite3
import sys
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .analysis import terms
from .records import AMONG, damaged

# Passages in a block: small enough that a change is, large enough that a term's rows are few.
BLOCK = 16_384
# Of a word in the title, the headings, the text and the path of a passage.
FIELD_WEIGHTS = (1, 1, 1, 2)
_MOST_WEIGHT = 255
_LONGEST = 65_535
# BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
        for text, weight in zip((self.title, self.heading, self.text, self.path), FIELD_WEIGHTS, strict=True):
            simple, joined = terms(text)
            length += len(simple)
            for term in (*simple, *joined):
                weights[term] += weight
        return weights, length


@dataclass(slots=True)
class _Added:
    """Where a term was added in a block, and how much it weighs there: arrays, as there are millions of them."""

    places: array[int] = field(default_factory=lambda: array("H"))
    weights: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class _Block:
    """What changes in one block."""

    added: defaultdict[str, _Added] = field(default_factory=lambda: defaultdict(_Added))
    removed: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    lengths: dict[int, int] = field(default_factory=dict)


class PostingsWriter:
    """Adds and removes passages inside the caller's transaction; nothing is written before `flush`.

    A passage is removed with the same fields it was added with.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self._blocks: dict[int, _Block] = {}

    def add(self, passage: int, fields: Fields) -> None:
        """Enter a passage under its row number."""
        number, place = divmod(passage, BLOCK)
        if number not in self._blocks and len(self._blocks) > 1:
            # Row numbers mostly ascend in a large build, so that what is held stays small.
            self.flush()
        block = self._blocks.setdefault(number, _Block())
        weights, length = fields.weigh()
        for term, weight in weights.items():
            added = block.added[term]
            added.places.append(place)
            added.weights.append(min(weight, _MOST_WEIGHT))
        block.lengths[place] = min(max(length, 1), _LONGEST)

    def remove(self, passage: int, fields: Fields) -> None:
        """Take a passage out."""
        number, place = divmod(passage, BLOCK)
        if number in self._blocks and self._blocks[number].added:
            self.flush()  # it may be among what was added
        block = self._blocks.setdefault(number, _Block())
        for term in fields.weigh()[0]:
            block.removed[term].append(place)
        block.lengths[place] = 0

    def clear(self) -> None:
        """Take everything out."""
        self._blocks.clear()
        for table in ("postings", "lengths"):
            self._connection.execute(f"DELETE FROM {table}")

    def flush(self) -> None:
        """Write what was added and removed.

        Raises:
            DamagedIndexError: A row to be changed does not hold what was written.
        """
        for number in sorted(self._blocks):
            self._flush(number, self._blocks[number])
        self._blocks.clear()

    def _flush(self, number: int, block: _Block) -> None:
        touched = sorted(block.added.keys() | block.removed.keys())
        query = f"SELECT block, term, data, checksum FROM postings WHERE block = ? AND term IN {AMONG}"
        stored: dict[str, bytes] = {}
        held, sized = (
            self._connection.execute(f"SELECT 1 FROM {table} WHERE block = ? LIMIT 1", (number,)).fetchone()
            for table in ("postings", "lengths")
        )
        if held and not sized:
            raise damaged(self._file, f"the keyword index (block {number})")
        if held:
            for row in self._connection.execute(query, (number, json.dumps(touched))):
                stored[row[1]] = _checked(row, self._file)
        written, emptied = [], []
        for term in touched:
            added = block.added.get(term)
            entries = dict(zip(added.places, added.weights, strict=True)) if added else {}
            if term in stored:
                gone = frozenset(block.removed.get(term, ()))
                places, weights = _entries(stored[term])
                old = zip(places.tolist(), weights.astype(int).tolist(), strict=True)
                entries = {place: weight for place, weight in old if place not in gone} | entries
            if entries:
                data = _packed(entries)
                written.append((number, term, data, _row_checksum(number, term, data)))
            else:
                emptied.append((number, term))
        self._connection.executemany("DELETE FROM postings WHERE block = ? AND term = ?", emptied)
        self._connection.executemany(
            "INSERT OR REPLACE INTO postings (block, term, data, checksum) VALUES (?, ?, ?, ?)", written
        )
        self._write_lengths(number, block.lengths)

    def _write_lengths(self, number: int, changed: Mapping[int, int]) -> None:
        lengths = np.zeros(BLOCK, dtype="<u2")
        query = "SELECT block, data, checksum FROM lengths WHERE block = ?"
        for row in self._connection.execute(query, (number,)):
            before = _checked_lengths(row, self._file)
            lengths[: len(before)] = before
        lengths[list(changed.keys())] = list(changed.values())
        used = np.flatnonzero(lengths)
        if not len(used):
            self._connection.execute("DELETE FROM lengths WHERE block = ?", (number,))
            return
        data = lengths[: int(used[-1]) + 1].tobytes()
        self._connection.execute(
            "INSERT OR REPLACE INTO lengths (block, data, checksum) VALUES (?, ?, ?)",
            (number, data, _row_checksum(number, "", data)),
        )


class Postings:
    """The keyword index of one generation, for reading.

    Args:
        connection: Holds the generation; the caller turns its errors into ours.
        file: For messages.
        passages: How many the generation has.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path, passages: int) -> None:
        self._connection = connection
        self._file = file
        self._passages = passages

    def load(self) -> None:
        """Read now what every search needs: how long the passages are.

        Raises:
            DamagedIndexError: It does not hold what was written.
        """
        _ = self._norms

    def frequencies(self, wanted: Iterable[str]) -> dict[str, int]:
        """In how many passages each term stands."""
        # CROSS JOIN keeps SQLite to the order written: it would rather read all postings.
        found = dict.fromkeys(wanted, 0)
        query = (
            "SELECT p.term, sum(length(p.data)) / 3 FROM json_each(?) t CROSS JOIN lengths l "
            "CROSS JOIN postings p ON p.block = l.block AND p.term = t.value GROUP BY p.term"
        )
        found.update(self._connection.execute(query, (json.dumps(list(found)),)))
        return found

    def search(self, wanted: Sequence[str], limit: int, *, among: Numbers | None = None) -> tuple[Numbers, Floats]:
        """Passages that have any of the terms, by BM25, best first, with all that tie with the last.

        Args:
            wanted: Terms as `analysis.terms` gives them, each once.
            limit: How many, or more where the last place is shared.
            among: Row numbers of the passages to choose from, or None for all.

        Returns:
            Row numbers and scores. A score depends on the passage's terms and the collection's statistics alone.

        Raises:
            DamagedIndexError: A row that is read does not hold what was written.
        """
        norms_of = self._norms
        rows = self._rows(wanted)
        frequency: defaultdict[str, int] = defaultdict(int)
        for held in rows.values():
            for term, (places, _) in held.items():
                frequency[term] += len(places)
        idf = {term: _idf(self._passages, count) for term, count in frequency.items()}
        allowed = None if among is None else _by_block(among)
        best = _Best(limit)
        for number, held in rows.items():
            norms = norms_of[number]
            scores = np.zeros(len(norms))
            # In the question's order, so that equal passages get equal sums wherever they stand.
            for term in wanted:
                if term in held:
                    places, weights = held[term]
                    scores[places] += idf[term] * (_K1 + 1) * weights / (weights + norms[places])
            if allowed is not None:
                kept = np.zeros(len(scores), dtype=bool)
                kept[allowed.get(number, [])] = True
                scores[~kept] = 0.0
            best.add(number * BLOCK, scores)
        return best.take()

    def verify(self) -> None:
        """Check every row.

        Raises:
            DamagedIndexError: One does not hold what was written, or a passage is missing.
        """
        places = {number: len(block) for number, block in self._norms.items()}
        for row in self._connection.execute("SELECT block, term, data, checksum FROM postings"):
            found = _entries(_checked(row, self._file))[0]
            if not len(found) or found[-1] >= places.get(row[0], 0):
                raise damaged(self._file, f"the keyword index (block {row[0]})")

    def _rows(self, wanted: Sequence[str]) -> dict[int, dict[str, tuple[Numbers, Floats]]]:
        query = (
            "SELECT p.block, p.term, p.data, p.checksum FROM lengths l CROSS JOIN json_each(?) t "
            "CROSS JOIN postings p ON p.block = l.block AND p.term = t.value"
        )
        found: defaultdict[int, dict[str, tuple[Numbers, Floats]]] = defaultdict(dict)
        for row in self._connection.execute(query, (json.dumps(list(wanted)),)):
            found[row[0]][row[1]] = _entries(_checked(row, self._file))
        return found

    @cached_property
    def _norms(self) -> dict[int, Floats]:
        """For each block what a passage's length adds to the divisor of BM25."""
        lengths = {}
        for row in self._connection.execute("SELECT block, data, checksum FROM lengths ORDER BY block"):
            lengths[row[0]] = _checked_lengths(row, self._file)
        if sum(int(np.count_nonzero(block)) for block in lengths.values()) != self._passages:
            raise damaged(self._file, "the number of passages in the keyword index")
        total = sum(int(block.sum(dtype=np.int64)) for block in lengths.values())
        mean = total / max(self._passages, 1)
        return {number: _K1 * (1 - _B + _B * block.astype(np.float64) / mean) for number, block in lengths.items()}


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


def _idf(passages: int, frequency: int) -> float:
    return max(float(np.log((passages - frequency + 0.5) / (frequency + 0.5))), _LEAST_IDF)


def _by_block(passages: Numbers) -> dict[int, Numbers]:
    blocks = passages // BLOCK
    return {int(number): passages[blocks == number] % BLOCK for number in np.unique(blocks)}


def _packed(entries: Mapping[int, int]) -> bytes:
    order = sorted(entries)
    places = array("H", order)
    if sys.byteorder == "big":
        places.byteswap()
    return places.tobytes() + bytes([entries[place] for place in order])


def _entries(data: bytes) -> tuple[Numbers, Floats]:
    count = len(data) // 3
    places = np.frombuffer(data, dtype="<u2", count=count)
    return places.astype(np.int64), np.frombuffer(data, dtype=np.uint8, offset=2 * count).astype(np.float64)


def _row_checksum(block: int, term: str, data: bytes) -> int:
    """CRC-32 over the row; it is taken for every row of a common word, so it has to be quick."""
    return zlib.crc32(data, zlib.crc32(f"{block} {term}".encode("utf-8", "surrogatepass")))


def _checked(row: tuple[Any, ...], file: Path) -> bytes:
    block, term, data, check = row
    if not isinstance(data, bytes) or len(data) % 3 or _row_checksum(block, term, data) != check:
        raise damaged(file, f"the keyword index (block {block})")
    return data


def _checked_lengths(row: tuple[Any, ...], file: Path) -> npt.NDArray[np.uint16]:
    block, data, check = row
    if not isinstance(data, bytes) or _row_checksum(block, "", data) != check:
        raise damaged(file, f"the keyword index (block {block})")
    return np.frombuffer(data, dtype="<u2")
