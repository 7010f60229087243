"""Stored vectors: their digests, checksums and bytes."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpus.errors import DamagedIndexError, ModelError
from index.storage.rows import AMONG, Link, Place, damaged, ids_json, require_all

Ids = npt.NDArray[np.int64]
# Unit vectors as an encoder returns them, and as they are stored, rounded.
Vectors = npt.NDArray[np.float32]
Stored = npt.NDArray[np.float16]
# Tolerated deviation of a stored vector's norm from 1; float16 has a relative rounding error of at most 2**-11.
_STORED_TOLERANCE = 6e-4
# The same for the vectors that an encoder returns.
_ENCODER_TOLERANCE = 1e-3


def vector_digest(fingerprint: str, encoder_text: str) -> bytes:
    """Return the key of a vector: BLAKE2b-128 over the encoder's fingerprint and the exact text it embeds."""
    data = f"{fingerprint}\n{encoder_text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()


def vector_checksum(digest: bytes, data: bytes | memoryview) -> int:
    """Return the checksum of a vector's row: CRC-32 for speed, as a question reads hundreds of rows."""
    return zlib.crc32(data, zlib.crc32(digest))


def unit_vectors(vectors: Vectors) -> Vectors:
    """Normalise an encoder's vectors, `(n, dim) float32`; raises ModelError if their norms are not close to 1."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    # Written with "not" so that NaN fails too.
    if not (np.abs(norms - 1) < _ENCODER_TOLERANCE).all():
        raise ModelError("the model returned vectors that are not finite or not of unit length. Choose another.")
    unit: Vectors = vectors / norms[:, np.newaxis]
    return unit


def pack_vector(vector: Vectors) -> bytes:
    """Return a unit vector as stored, in float16, which loses less than the encoder's own rounding."""
    return vector.astype("<f2").tobytes()


class PassageColumns(NamedTuple):
    """Row ids of passages, their documents and their vectors, each `(n,) int64`, by document and position."""

    passages: Ids
    documents: Ids
    vectors: Ids


def columns_of(links: Iterable[Link], place: Place) -> PassageColumns:
    """Return the columns of passages; raises DamagedIndexError if one occurs twice."""
    values = (value for link in links for value in (link.id, link.document, link.vector, link.start))
    rows = np.fromiter(values, dtype=np.int64).reshape(-1, 4)
    order = np.lexsort((rows[:, 0], rows[:, 3], rows[:, 1]))
    columns = PassageColumns(*rows[order, :3].T)
    if len(np.unique(columns.passages)) != len(rows):
        raise damaged(place, "a passage occurs twice")
    return columns


def read_vectors(connection: sqlite3.Connection, file: Path, ids: Sequence[int], dimension: int) -> Stored:
    """Return stored vectors, `(n, dim)`, in the order of `ids`."""
    query = f"SELECT id, digest, vector, checksum FROM vectors WHERE id IN {AMONG}"
    vectors_by_id: dict[int, bytes] = {}
    for row_id, digest, data, check in connection.execute(query, (ids_json(ids),)):
        if not has_valid_checksum(digest, data, check) or len(data) != 2 * dimension:
            raise damaged(file, f"checksum mismatch in vector {row_id}")
        vectors_by_id[row_id] = data
    data = b"".join(require_all(vectors_by_id, ids, "vector", file))
    vectors: Stored = np.frombuffer(data, dtype="<f2").reshape(len(ids), dimension)
    if not are_unit_vectors(vectors):
        raise not_unit_vector(file)
    return vectors


def not_unit_vector(place: Place) -> DamagedIndexError:
    """Return the error for a stored vector that is not of unit length."""
    return damaged(place, "a vector is not of unit length")


def has_valid_checksum(digest: object, data: object, check: object) -> bool:
    """Return whether the checksum of a vector's row matches."""
    return isinstance(digest, bytes) and isinstance(data, bytes) and vector_checksum(digest, data) == check


def is_usable_vector(dimension: int, digest: object, data: object, check: object) -> bool:
    """Return whether a row has a valid checksum and a unit vector of this dimension."""
    if not has_valid_checksum(digest, data, check) or not isinstance(data, bytes) or len(data) != 2 * dimension:
        return False
    return are_unit_vectors(np.frombuffer(data, dtype="<f2").reshape(1, dimension))


def are_unit_vectors(vectors: Stored) -> bool:
    """Return whether all stored vectors are of unit length."""
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
    # Written so that NaN fails too.
    return bool((np.abs(norms - 1) < _STORED_TOLERANCE).all())
