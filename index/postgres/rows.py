"""The rows of a collection: as SQL selects them, and as checked value types of `index.storage`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TypeVar

import numpy as np

from corpus.errors import DamagedIndexError
from index.postgres.connection import Row, restored
from index.storage.database import checksum
from index.storage.metadata import Info, SkippedRow, info_of, values_of
from index.storage.rows import (
    Link,
    StoredDocument,
    StoredPassage,
    document_of,
    link_checksum,
    passage_of,
)
from index.storage.vectors import Stored, Vectors, are_unit, vector_checksum

# Columns to select, by the alias of the table.
DOCUMENT = (
    "d.id, d.path, d.sha256, d.size, d.mtime_ns, d.checked_ns, d.media_type, d.title, d.passages, d.records, "
    "d.metadata, d.checksum"
)
LINK = "p.id, p.key, p.document, p.vector, p.start, p.stop, p.link_checksum"
PASSAGE = (
    f"{LINK}, p.body, p.line_first, p.line_last, p.page, p.anchor, p.title, p.heading, p.context, p.text, "
    "p.text_digest, p.checksum"
)
LAST_GENERATION = "SELECT generation, info, skipped, checksum FROM generations ORDER BY generation DESC LIMIT 1"
_WIDTH = PASSAGE.count(",") + 1

_Value = TypeVar("_Value")


def live(alias: str, generation: int) -> str:
    """Return the SQL condition that a row belongs to a generation."""
    return f"{alias}.added <= {generation:d} AND {alias}.removed > {generation:d}"


def damage(place: str, problem: str) -> DamagedIndexError:
    """Return the error for a problem such as a checksum mismatch, with advice on how to repair it."""
    return DamagedIndexError(f"{place} is damaged: {problem}. Rebuild it with `qa index --full`, or restore a back-up.")


def documents_of(rows: Iterable[Row], place: str) -> Iterator[StoredDocument]:
    """Yield the documents in rows of `DOCUMENT`."""
    for row in rows:
        yield document_of(restored(row), Path(place))


def passages_of(rows: Iterable[Row], place: str) -> Iterator[StoredPassage]:
    """Yield the passages in rows of `PASSAGE` and `DOCUMENT`."""
    documents: dict[Row, StoredDocument] = {}
    for row in map(restored, rows):
        document_row = row[_WIDTH:]
        if document_row not in documents:
            documents[document_row] = document_of(document_row, Path(place))
        yield passage_of(row[:_WIDTH], documents[document_row], Path(place))


def links_of(rows: Iterable[Row], place: str) -> Iterator[Link]:
    """Yield the links in rows of `LINK`."""
    for number, key, document, vector, start, stop, check in rows:
        link = Link(number, key, document, vector, start, stop)
        if link_checksum(link) != check:
            raise damage(place, f"checksum mismatch in passage {number}")
        yield link


def vectors_of(rows: Sequence[Row], dimension: int, place: str) -> tuple[list[int], Stored]:
    """Return the ids and vectors, `(n, dim)`, of rows `(id, digest, vector, checksum)`."""
    size = 4 + 2 * dimension
    # A value of another length becomes zeros, which fail the checksum.
    sent = b"".join(row[2] if len(row[2]) == size else bytes(size) for row in rows)
    stored = np.frombuffer(sent, dtype=">f2").reshape(len(rows), 2 + dimension)[:, 2:].astype("<f2")
    data = memoryview(stored.tobytes())
    for i, (number, digest, _, check) in enumerate(rows):
        if vector_checksum(digest, data[i * 2 * dimension : (i + 1) * 2 * dimension]) != check:
            raise damage(place, f"checksum mismatch in vector {number}")
    if not are_unit(stored):
        raise damage(place, "a vector is not of unit length")
    return [row[0] for row in rows], stored


def ids_text(ids: Iterable[int]) -> str:
    """Return ids as a PostgreSQL array literal; psycopg would inspect each id's size and prepare a query per type."""
    return "{" + ",".join(map(str, ids.tolist() if isinstance(ids, np.ndarray) else ids)) + "}"


def vector_bytes(sent: bytes) -> bytes:
    """Return a vector in our stored form; pgvector sends two 16-bit numbers, then big-endian halves."""
    return np.frombuffer(sent, dtype=">f2", offset=4).astype("<f2").tobytes()


def vector_text(vector: Vectors | bytes) -> str:
    """Return a vector, given as an array or in our stored form, as pgvector's literal."""
    values = np.frombuffer(vector, dtype="<f2") if isinstance(vector, bytes) else vector
    return "[" + ",".join(map(str, values.tolist())) + "]"


def require_all(found: Mapping[int, _Value], ids: Sequence[int], what: str, place: str) -> list[_Value]:
    """Return the values in the order of `ids`; raises DamagedIndexError if one is missing."""
    missing = [number for number in ids if number not in found]
    if missing:
        raise damage(place, f"{what} {missing[0]} is missing")
    return [found[number] for number in ids]


def pack_generation(info: Info, skipped: Sequence[SkippedRow]) -> tuple[str, str, bytes]:
    """Return the values that publish a generation: metadata and skipped files as JSON, and their checksum."""
    texts = json.dumps(values_of(info)), json.dumps([astuple(one) for one in skipped])
    return (*texts, checksum(info.generation, *texts))


def unpack_generation(row: Row, place: str) -> tuple[Info, tuple[SkippedRow, ...]]:
    """Return the metadata and the skipped files in a row `(generation, info, skipped, checksum)`."""
    generation, info, skipped, check = row
    if checksum(generation, info, skipped) != check:
        raise damage(place, f"checksum mismatch in generation {generation}")
    try:
        found = info_of(json.loads(info))
        rows = tuple(SkippedRow(*one) for one in json.loads(skipped))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise damage(place, f"generation {generation} has an invalid value") from error
    return found, rows
