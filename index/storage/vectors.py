"""Stored vectors: their digests, checksums and bytes."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpus.errors import DamagedIndexError, ModelError
from index.storage.rows import AMONG, damaged, ids_json, read_links

Ids = npt.NDArray[np.int64]
# Vectors of an encoder, and as they are stored: of unit length, the latter before rounding.
Vectors = npt.NDArray[np.float32]
Stored = npt.NDArray[np.float16]
# float16 rounds by at most 2**-11, so the length of a stored vector differs from 1 by less.
_ROUNDED = 6e-4
# Norms of an encoder's vectors differ from 1 by less.
_UNIT = 1e-3


def vector_digest(fingerprint: str, encoder_text: str) -> bytes:
    """The key of a vector: BLAKE2b-128 over the encoder's fingerprint and the exact text that it embeds."""
    data = f"{fingerprint}\n{encoder_text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()


def vector_checksum(digest: bytes, data: bytes | memoryview) -> int:
    """CRC-32 of a vector's row: a question reads hundreds of them."""
    return zlib.crc32(data, zlib.crc32(digest))


def unit_vectors(vectors: Vectors) -> Vectors:
    """An encoder's vectors, `(n, dim) float32`, of unit length up to float32's rounding, or ModelError."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    # Negated, so that NaN fails too.
    if not (np.abs(norms - 1) < _UNIT).all():
        raise ModelError("the model returned vectors that are not finite or not of unit length. Choose another.")
    unit: Vectors = vectors / norms[:, np.newaxis]
    return unit


def pack_vector(vector: Vectors) -> bytes:
    """A unit vector as it is stored: float16 loses less than the encoder's own rounding."""
    return vector.astype("<f2").tobytes()


class PassageColumns(NamedTuple):
    """Passages as columns, `(n,) int64` each, in the order of documents and of the text."""

    passages: Ids
    documents: Ids
    vectors: Ids


def read_columns(connection: sqlite3.Connection, file: Path, documents: frozenset[int] | None) -> PassageColumns:
    """Row numbers of all passages or those of some documents, of their documents and vectors."""
    condition, values = ("true", ()) if documents is None else (f"document IN {AMONG}", (ids_json(tuple(documents)),))
    links = read_links(connection, file, condition, values)
    wanted = (number for one in links for number in (one.id, one.document, one.vector, one.start))
    rows = np.fromiter(wanted, dtype=np.int64).reshape(-1, 4)
    order = np.lexsort((rows[:, 0], rows[:, 3], rows[:, 1]))
    columns = PassageColumns(*rows[order, :3].T)
    if len(np.unique(columns.passages)) != len(rows):
        raise damaged(file, "a passage is there twice")
    return columns


def read_vectors(connection: sqlite3.Connection, file: Path, ids: Sequence[int], dimension: int) -> Stored:
    """Stored vectors in the order asked: `(n, dim)`."""
    query = f"SELECT id, digest, vector, checksum FROM vectors WHERE id IN {AMONG}"
    found: dict[int, bytes] = {}
    for number, digest, data, check in connection.execute(query, (ids_json(ids),)):
        if not is_sound(digest, data, check) or len(data) != 2 * dimension:
            raise damaged(file, f"checksum mismatch in vector {number}")
        found[number] = data
    missing = [number for number in ids if number not in found]
    if missing:
        raise damaged(file, f"vector {missing[0]} is missing")
    data = b"".join([found[number] for number in ids])
    vectors: Stored = np.frombuffer(data, dtype="<f2").reshape(len(ids), dimension)
    if not are_unit(vectors):
        raise not_unit(file)
    return vectors


def not_unit(file: Path) -> DamagedIndexError:
    """The error for a stored vector that is not of unit length."""
    return damaged(file, "a vector is not of unit length")


def is_sound(digest: object, data: object, check: object) -> bool:
    """Whether the checksum of a row matches."""
    return isinstance(digest, bytes) and isinstance(data, bytes) and vector_checksum(digest, data) == check


def is_usable(dimension: int, digest: object, data: object, check: object) -> bool:
    """Whether a row is sound and has a unit vector of this dimension."""
    if not is_sound(digest, data, check) or not isinstance(data, bytes) or len(data) != 2 * dimension:
        return False
    return are_unit(np.frombuffer(data, dtype="<f2").reshape(1, dimension))


def are_unit(vectors: Stored) -> bool:
    """Return whether all of some stored vectors are of unit length."""
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
    # Written so that NaN fails too.
    return bool((np.abs(norms - 1) < _ROUNDED).all())
