"""Small segments: NumPy compares all their vectors, in float16, in less time than importing FAISS takes.

The file has the bytes that FAISS writes for an `IndexIDMap` over an `IndexScalarQuantizer`.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from index.storage.vectors import Ids, Stored, Vectors

Floats = npt.NDArray[np.float64]

_HEADER = struct.Struct("<4siqqqBi4siqqqBiiifQQQQ")
_RESERVED, _TRAINED, _INNER_PRODUCT, _FLOAT16 = 1 << 20, 1, 0, 4
# Vectors compared at once: as many as fit into the processor's cache in float32.
_ROWS = 256


class ExactSegment(NamedTuple):
    """Vectors, `(n, dim)`, and their row ids, `(n,)` ascending."""

    ids: Ids
    vectors: Stored

    def search(self, query: Vectors, limit: int) -> tuple[Ids, float]:
        """Find the nearest vectors.

        Args:
            query: `(dim,) float32`.
            limit: How many.

        Returns:
            Row ids, unordered, and an upper bound of the other vectors' scores, in float32; minus infinity if there are
            no others.
        """
        if limit >= len(self.ids):
            return self.ids, -np.inf
        scores = np.empty(len(self.ids), dtype=np.float32)
        # Float16 bits, shifted to their places in float32, are the number divided by 2**112: much faster than NumPy's
        # conversion. NaN and infinity become large numbers, and are refused when they are scored exactly.
        scaled = query * np.float32(2.0**112)
        for start in range(0, len(scores), _ROWS):
            bits = self.vectors[start : start + _ROWS].view(np.int16).astype(np.int32)
            bits <<= 13
            bits &= ~(7 << 28)
            # Not a matrix product, which would wake threads.
            scores[start : start + _ROWS] = np.einsum("ij,j->i", bits.view(np.float32), scaled)
        best = np.argpartition(scores, -limit)[-limit:]
        return self.ids[best], float(scores[best].min())

    def to_bytes(self) -> bytes:
        """Return the content of its file."""
        count, dimension = self.vectors.shape
        ids = np.array([count, *self.ids.tolist()], dtype="<i8")
        return _build_header(count, dimension) + self.vectors.astype("<f2", copy=False).tobytes() + ids.tobytes()


def _build_header(count: int, dimension: int) -> bytes:
    """Return the bytes before the vectors: both indexes, the type of the vectors, and their size in bytes."""
    fields = (dimension, count, _RESERVED, _RESERVED, _TRAINED, _INNER_PRODUCT)
    vector_bytes = 2 * dimension
    return _HEADER.pack(
        b"IxMp", *fields, b"IxSQ", *fields, _FLOAT16, 0, 0.0, dimension, vector_bytes, 0, count * vector_bytes
    )


def parse_segment(data: npt.NDArray[np.uint8], count: int, dimension: int) -> ExactSegment:
    """Parse the content of a file without copying its vectors; raises ValueError."""
    header = _build_header(count, dimension)
    end = len(header) + 2 * count * dimension
    if len(data) != end + 8 * (count + 1) or data[: len(header)].tobytes() != header:
        raise ValueError("it is not an index of this kind and size")
    count_and_ids = data[end:].view("<i8").astype(np.int64)
    ids = count_and_ids[1:]
    if count_and_ids[0] != count or (ids < 1).any() or (np.diff(ids) < 1).any():
        raise ValueError("its row numbers do not ascend")
    return ExactSegment(ids, data[len(header) : end].view("<f2").reshape(count, dimension))


def cosines(vectors: Stored, query: Vectors) -> Floats:
    """Return cosines of stored vectors with a unit vector, in float64, each independent of the other rows."""
    rows = vectors.astype(np.float64)
    scores: Floats = (rows * query.astype(np.float64)).sum(axis=1) / np.sqrt((rows**2).sum(axis=1))
    return scores
