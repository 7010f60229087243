"""Vector references: the FAISS segment and the refcount of each vector; a commit writes and a search checks them."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from index.storage.rows import AMONG, damaged, ids_json
from index.storage.vectors import Ids

# Vector, segment, refcount, unused_since.
VectorRef = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class RefTable:
    """References as columns, `(n,) int64` each, vectors ascending."""

    vectors: Ids
    segments: Ids
    refcounts: Ids
    unused_since: Ids

    def rows(self, indexes: Ids) -> Iterator[VectorRef]:
        """Return the references at these indexes."""
        columns = (self.vectors, self.segments, self.refcounts, self.unused_since)
        return zip(*(column[indexes].tolist() for column in columns), strict=True)


def ref_checksum(vector: int, segment: int, refcount: int, unused_since: int) -> int:
    """Return the checksum of a reference's row: CRC-32 for speed, as a question reads hundreds of them."""
    return zlib.crc32(f"{vector} {segment} {refcount} {unused_since}".encode())


def _read(connection: sqlite3.Connection, file: Path, condition: str, values: Sequence[object]) -> Iterator[VectorRef]:
    query = f"SELECT vector, segment, refcount, unused_since, checksum FROM vector_refs WHERE {condition}"
    for vector, segment, refcount, unused_since, check in connection.execute(query, tuple(values)):
        are_integers = type(vector) is type(segment) is type(refcount) is type(unused_since) is int
        if not are_integers or ref_checksum(vector, segment, refcount, unused_since) != check:
            raise damaged(file, f"checksum mismatch in the reference of vector {vector}")
        yield vector, segment, refcount, unused_since


def write_refs(connection: sqlite3.Connection, refs: Iterable[VectorRef]) -> None:
    """Write references, replacing those of the same vectors."""
    connection.executemany(
        "INSERT OR REPLACE INTO vector_refs (vector, segment, refcount, unused_since, checksum) VALUES (?, ?, ?, ?, ?)",
        ((*ref, ref_checksum(*ref)) for ref in refs),
    )


def read_ref_table(
    connection: sqlite3.Connection, file: Path, condition: str = "true", values: Sequence[object] = ()
) -> RefTable:
    """Read the references that meet an SQL condition."""
    flat = np.fromiter((field for ref in _read(connection, file, condition, values) for field in ref), dtype=np.int64)
    rows = flat.reshape(-1, 4)
    return RefTable(*rows[np.argsort(rows[:, 0])].T)


def read_refs_of(connection: sqlite3.Connection, file: Path, vectors: Ids) -> RefTable:
    """Read the references of these vectors, given in ascending order."""
    table = read_ref_table(connection, file, f"vector IN {AMONG}", (ids_json(vectors.tolist()),))
    if not np.array_equal(table.vectors, vectors):
        raise damaged(file, "the reference of a vector is missing")
    return table
