"""A keyword index on its own: what is indexed, what is on disk, and an independent BM25."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from index.lexical import posting_blocks
from index.lexical.analyzer import terms
from index.lexical.bm25 import LexicalIndex
from index.lexical.posting_blocks import HASHES, read_blocks, term_bytes, term_hash
from index.lexical.postings import PostingList
from index.lexical.writer import Fields, LexicalWriter

FILE = Path("index.db")
Held = dict[int, Fields]


def text(words: str) -> Fields:
    return Fields("", "", words, "")


# In blocks of four.
SMALL = {1: text("cat dog"), 2: text("dog sea"), 6: text("cat sea"), 13: Fields("dog", "sea", "cat", "art")}


def once(*terms: str) -> dict[str, float]:
    """A question with each term once."""
    return dict.fromkeys(terms, 1.0)


@contextmanager
def undone(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Roll back all changes at the end."""
    database.execute("SAVEPOINT whole")
    try:
        yield database
    finally:
        database.execute("ROLLBACK TO whole")
        database.execute("RELEASE whole")


def reader(connection: sqlite3.Connection, passages: int) -> LexicalIndex:
    return LexicalIndex(connection, FILE, passages)


def change(
    connection: sqlite3.Connection, *, add: Mapping[int, Fields] = {}, remove: Mapping[int, Fields] = {}
) -> None:
    target = LexicalWriter(connection, FILE)
    for row, one in remove.items():
        target.remove(row, one)
    for row, one in add.items():
        target.add(row, one)
    target.flush()


def rows(connection: sqlite3.Connection) -> list[list[tuple[Any, ...]]]:
    """All rows on disk."""
    return [
        connection.execute("SELECT id, data, checksum FROM posting_lists ORDER BY id").fetchall(),
        connection.execute("SELECT block, lengths, hashes, checksum FROM blocks ORDER BY block").fetchall(),
    ]


def stored(connection: sqlite3.Connection) -> dict[tuple[int, str], PostingList]:
    """Posting lists by block and term."""
    return {
        (row[0] // HASHES, term.decode("utf-8", "surrogatepass")): data
        for row in rows(connection)[0]
        for term, data in posting_blocks.posting_lists_in(row, FILE).items()
    }


def lengths(connection: sqlite3.Connection) -> dict[int, list[int]]:
    """The passage lengths of each block, in words."""
    return {number: block.lengths.tolist() for number, block in read_blocks(connection, FILE).items()}


def row_of(block: int, term: str) -> int:
    return posting_blocks.row_id(block, term_hash(term_bytes(term)))


def weighed(one: Fields) -> tuple[Counter[str], int]:
    """Count term weights and words independently: words of the path weigh double, and the least length is 1."""
    weights: Counter[str] = Counter()
    words = 0
    for part, weight in ((one.title, 1), (one.heading, 1), (one.text, 1), (one.path, 2)):
        simple, joined = terms(part)
        words += len(simple)
        for term in simple + joined:
            weights[term] += weight
    return weights, max(words, 1)


def frequency(held: Held, term: str) -> int:
    return sum(term in weighed(one)[0] for one in held.values())


def bm25(held: Held, wanted: Mapping[str, float]) -> dict[int, float]:
    """Score every passage that has any of the terms."""
    counted = {row: weighed(one) for row, one in held.items()}
    mean = sum(words for _, words in counted.values()) / max(len(held), 1)
    scores: dict[int, float] = {}
    for term in wanted:
        count = frequency(held, term)
        idf = max(float(np.log((len(held) - count + 0.5) / (count + 0.5))), 1e-6)
        for row, (weights, words) in counted.items():
            if weight := weights[term]:
                norm = 1.2 * (1 - 0.75 + 0.75 * words / mean)
                scores[row] = scores.get(row, 0.0) + wanted[term] * idf * (1.2 + 1) * weight / (weight + norm)
    return scores
