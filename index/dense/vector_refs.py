"""Where each vector is, and how many passages refer to it: kept with every commit, checked with every search."""

# ruff: noqa: S608 - statements are put together from names in this package; values are bound

from __future__ import annotations

import sqlite3
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from index.dense.faiss_segments import Ids
from index.storage.rows import AMONG, damaged, ids_json


class VectorRef(NamedTuple):
    """A vector's place.

    Attributes:
        vector: Its row number.
        segment: Number of the FAISS file that holds it, or 0.
        refcount: Passages that refer to it.
        unused_since: Where none does, the generation that was being made when the last one went or the vector came.
    """

    vector: int
    segment: int
    refcount: int
    unused_since: int


def ref_checksum(vector: int, segment: int, refcount: int, unused_since: int) -> int:
    """The checksum of a place's row: CRC-32, since a question reads some hundred of them."""
    return zlib.crc32(f"{vector} {segment} {refcount} {unused_since}".encode())


def read_refs(
    connection: sqlite3.Connection, file: Path, condition: str = "true", values: Sequence[object] = ()
) -> Iterator[VectorRef]:
    """The places that meet an SQL condition.

    Raises:
        DamagedIndexError: A row does not hold what was written.
    """
    query = f"SELECT vector, segment, refcount, unused_since, checksum FROM vector_refs WHERE {condition}"
    for vector, segment, refcount, unused_since, check in connection.execute(query, tuple(values)):
        right_types = type(vector) is type(segment) is type(refcount) is type(unused_since) is int
        if not right_types or ref_checksum(vector, segment, refcount, unused_since) != check:
            raise damaged(file, f"checksum mismatch in the reference of vector {vector}")
        yield VectorRef(vector, segment, refcount, unused_since)


def write_refs(connection: sqlite3.Connection, refs: Iterable[VectorRef]) -> None:
    """Write references, replacing those of the same vectors."""
    connection.executemany(
        "INSERT OR REPLACE INTO vector_refs (vector, segment, refcount, unused_since, checksum) VALUES (?, ?, ?, ?, ?)",
        ((*ref, ref_checksum(*ref)) for ref in refs),
    )


def read_refcounts(connection: sqlite3.Connection, file: Path, vectors: Sequence[int]) -> dict[int, int]:
    """How many passages refer to each vector.

    Raises:
        DamagedIndexError: The place of one is missing or does not hold what was written.
    """
    refs = read_refs(connection, file, f"vector IN {AMONG}", (ids_json(vectors),))
    refcounts = {ref.vector: ref.refcount for ref in refs}
    missing = [vector for vector in vectors if vector not in refcounts]
    if missing:
        raise damaged(file, f"the reference of vector {missing[0]} is missing")
    return refcounts


@dataclass(frozen=True, slots=True)
class RefTable:
    """Places as columns, for as many as a commit touches; `(n,) int64` each, vectors ascending."""

    vectors: Ids
    segments: Ids
    refcounts: Ids
    unused_since: Ids


def read_ref_table(
    connection: sqlite3.Connection, file: Path, condition: str = "true", values: Sequence[object] = ()
) -> RefTable:
    """As `read_refs`, in columns."""
    flat = array("q")
    for place in read_refs(connection, file, condition, values):
        flat.extend((place.vector, place.segment, place.refcount, place.unused_since))
    rows = (np.frombuffer(flat, dtype=np.int64) if flat else np.empty(0, dtype=np.int64)).reshape(-1, 4)
    return RefTable(*rows[np.argsort(rows[:, 0])].T)


def ref_table_of(connection: sqlite3.Connection, file: Path, vectors: Ids) -> RefTable:
    """The places of these vectors, which ascend.

    Raises:
        DamagedIndexError: One is missing or does not hold what was written.
    """
    table = read_ref_table(connection, file, f"vector IN {AMONG}", (ids_json(vectors.tolist()),))
    if not np.array_equal(table.vectors, vectors):
        raise damaged(file, "the reference of a vector is missing")
    return table
