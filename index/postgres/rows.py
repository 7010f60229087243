"""The rows of a collection: how SQL selects them, and how they become the checked value types of `index.storage`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple

import numpy as np

from index.postgres.connection import Row, unescape_row
from index.storage.database import checksum
from index.storage.metadata import Info, SkippedRow, info_values, parse_info
from index.storage.rows import DOCUMENT, StoredDocument, damaged, parse_document
from index.storage.rows import LINK as SQLITE_LINK
from index.storage.rows import PASSAGE as SQLITE_PASSAGE
from index.storage.vectors import Stored, Vectors, are_unit_vectors, not_unit_vector, vector_checksum

# Columns to select, with the aliases of their tables; `end` is a keyword in PostgreSQL.
LINK, PASSAGE = (columns.replace("p.end", "p.stop") for columns in (SQLITE_LINK, SQLITE_PASSAGE))
LAST_GENERATION = (
    "SELECT generation, info, skipped, checksum, published::text FROM generations ORDER BY generation DESC LIMIT 1"
)


def live_condition(alias: str, generation: int) -> str:
    """Return the SQL condition that a row belongs to a generation."""
    return f"{alias}.added <= {generation:d} AND {alias}.removed > {generation:d}"


def select_documents(generation: int) -> str:
    """Return the query for all documents of a generation; more conditions may be appended."""
    return f"SELECT {DOCUMENT} FROM documents d WHERE {live_condition('d', generation)}"


def documents_of(rows: Iterable[Row], count: int, place: str) -> tuple[StoredDocument, ...]:
    """Return the documents in rows of `DOCUMENT`, sorted by path; raises DamagedIndexError unless there are `count`."""
    documents = sorted((parse_document(unescape_row(row), place) for row in rows), key=lambda document: document.path)
    if len(documents) != count:
        raise damaged(place, "the number of documents is inconsistent")
    return tuple(documents)


def vectors_of(rows: Sequence[Row], dimension: int, place: str) -> tuple[list[int], Stored]:
    """Return the ids and vectors, `(n, dim)`, of rows `(id, digest, vector, checksum)`."""
    size = 4 + 2 * dimension
    # A value of another length is replaced by zeros, which fail the checksum.
    halves = b"".join(row[2] if len(row[2]) == size else bytes(size) for row in rows)
    stored = np.frombuffer(halves, dtype=">f2").reshape(len(rows), 2 + dimension)[:, 2:].astype("<f2")
    data = memoryview(stored.tobytes())
    for i, (vector_id, digest, _, expected) in enumerate(rows):
        if vector_checksum(digest, data[i * 2 * dimension : (i + 1) * 2 * dimension]) != expected:
            raise damaged(place, f"checksum mismatch in vector {vector_id}")
    if not are_unit_vectors(stored):
        raise not_unit_vector(place)
    return [row[0] for row in rows], stored


def ids_text(ids: Iterable[int]) -> str:
    """Return ids as a PostgreSQL array literal: psycopg would inspect each id's size, and prepare a query per type."""
    return "{" + ",".join(map(str, ids.tolist() if isinstance(ids, np.ndarray) else ids)) + "}"


def vector_bytes(sent: bytes) -> bytes:
    """Return a vector in our stored form; pgvector sends two 16-bit numbers, then big-endian halves."""
    return np.frombuffer(sent, dtype=">f2", offset=4).astype("<f2").tobytes()


def vector_text(vector: Vectors | bytes) -> str:
    """Return a vector, given as an array or in our stored form, as pgvector's literal."""
    values = np.frombuffer(vector, dtype="<f2") if isinstance(vector, bytes) else vector
    return "[" + ",".join(map(str, values.tolist())) + "]"


def pack_generation(info: Info, skipped: Sequence[SkippedRow]) -> tuple[str, str, bytes]:
    """Return the values that publish a generation: metadata and skipped files as JSON, and their checksum."""
    texts = json.dumps(info_values(info)), json.dumps([astuple(file) for file in skipped])
    return (*texts, checksum(info.generation, *texts))


def unpack_generation(row: Row, place: str) -> tuple[Info, tuple[SkippedRow, ...]]:
    """Return the metadata and the skipped files in a row of `LAST_GENERATION`."""
    generation, info, skipped, expected, _ = row
    if checksum(generation, info, skipped) != expected:
        raise damaged(place, f"checksum mismatch in generation {generation}")
    try:
        parsed = parse_info(json.loads(info))
        files = tuple(SkippedRow(*values) for values in json.loads(skipped))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise damaged(place, f"generation {generation} has an invalid value") from error
    return parsed, files
