"""A keyword index on its own: changing it, reading its rows, and an independent BM25."""

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
Indexed = dict[int, Fields]


def body(words: str) -> Fields:
    return Fields("", "", words, "")


# In blocks of four.
SMALL = {1: body("cat dog"), 2: body("dog sea"), 6: body("cat sea"), 13: Fields("dog", "sea", "cat", "art")}


def as_query(*terms: str) -> dict[str, float]:
    """Return a query with each term once."""
    return dict.fromkeys(terms, 1.0)


@contextmanager
def rollback(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Roll back all changes at the end."""
    database.execute("SAVEPOINT whole")
    try:
        yield database
    finally:
        database.execute("ROLLBACK TO whole")
        database.execute("RELEASE whole")


def open_reader(connection: sqlite3.Connection, passages: int) -> LexicalIndex:
    return LexicalIndex(connection, FILE, passages)


def change(
    connection: sqlite3.Connection, *, add: Mapping[int, Fields] = {}, remove: Mapping[int, Fields] = {}
) -> None:
    writer = LexicalWriter(connection, FILE)
    for row, fields in remove.items():
        writer.remove(row, fields)
    for row, fields in add.items():
        writer.add(row, fields)
    writer.flush()


def stored_rows(connection: sqlite3.Connection) -> list[list[tuple[Any, ...]]]:
    """Return all rows on disk."""
    return [
        connection.execute("SELECT id, data, checksum FROM posting_lists ORDER BY id").fetchall(),
        connection.execute("SELECT block, lengths, hashes, checksum FROM blocks ORDER BY block").fetchall(),
    ]


def stored_lists(connection: sqlite3.Connection) -> dict[tuple[int, str], PostingList]:
    """Return the posting lists by block and term."""
    return {
        (row[0] // HASHES, term.decode("utf-8", "surrogatepass")): posting_list
        for row in stored_rows(connection)[0]
        for term, posting_list in posting_blocks.parse_posting_lists(row, FILE).items()
    }


def passage_lengths(connection: sqlite3.Connection) -> dict[int, list[int]]:
    """Return the passage lengths of each block, in words."""
    return {number: block.lengths.tolist() for number, block in read_blocks(connection, FILE).items()}


def stored_row_id(block: int, term: str) -> int:
    return posting_blocks.row_id(block, term_hash(term_bytes(term)))


def count_terms(fields: Fields) -> tuple[Counter[str], int]:
    """Return the weights of terms and the length in words, independently: path words count double, lengths from 1."""
    weights: Counter[str] = Counter()
    words = 0
    for text, weight in ((fields.title, 1), (fields.heading, 1), (fields.text, 1), (fields.path, 2)):
        simple, joined = terms(text)
        words += len(simple)
        for term in simple + joined:
            weights[term] += weight
    return weights, max(words, 1)


def frequency(indexed: Indexed, term: str) -> int:
    return sum(term in count_terms(fields)[0] for fields in indexed.values())


def bm25(indexed: Indexed, query: Mapping[str, float]) -> dict[int, float]:
    """Score every passage that has any of the terms."""
    counted = {row: count_terms(fields) for row, fields in indexed.items()}
    mean = sum(words for _, words in counted.values()) / max(len(indexed), 1)
    scores: dict[int, float] = {}
    for term in query:
        count = frequency(indexed, term)
        idf = max(float(np.log((len(indexed) - count + 0.5) / (count + 0.5))), 1e-6)
        for row, (weights, words) in counted.items():
            if weight := weights[term]:
                norm = 1.2 * (1 - 0.75 + 0.75 * words / mean)
                scores[row] = scores.get(row, 0.0) + query[term] * idf * (1.2 + 1) * weight / (weight + norm)
    return scores
