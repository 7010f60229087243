"""Small segments: NumPy compares all their vectors, in float16, in less time than importing FAISS takes.

The file is what FAISS writes for an `IndexIDMap` over an `IndexScalarQuantizer`.
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
    """Row numbers, `(n,)` ascending, and vectors, `(n, dim)`."""

    ids: Ids
    vectors: Stored

    def search(self, query: Vectors, limit: int) -> tuple[Ids, float]:
        """Find the nearest vectors.

        Args:
            query: `(dim,) float32`.
            limit: How many.

        Returns:
            Row numbers, unordered, and the highest score, in float32, that one left out can have; minus infinity if
            none was.
        """
        if limit >= len(self.ids):
            return self.ids, -np.inf
        scores = np.empty(len(self.ids), dtype=np.float32)
        # Float16 bits shifted to their places in float32 are the number divided by 2**112: much faster than NumPy's
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

    def packed(self) -> bytes:
        """Return its file."""
        count, dimension = self.vectors.shape
        ids = np.array([count, *self.ids.tolist()], dtype="<i8")
        return _header(count, dimension) + self.vectors.astype("<f2", copy=False).tobytes() + ids.tobytes()


def _header(count: int, dimension: int) -> bytes:
    """Return all before the vectors: both indexes, how vectors are stored, and how many bytes follow."""
    common = (dimension, count, _RESERVED, _RESERVED, _TRAINED, _INNER_PRODUCT)
    width = 2 * dimension
    return _HEADER.pack(b"IxMp", *common, b"IxSQ", *common, _FLOAT16, 0, 0.0, dimension, width, 0, count * width)


def unpack(data: npt.NDArray[np.uint8], count: int, dimension: int) -> ExactSegment:
    """Read a file without copying its vectors; raises ValueError."""
    header = _header(count, dimension)
    end = len(header) + 2 * count * dimension
    if len(data) != end + 8 * (count + 1) or data[: len(header)].tobytes() != header:
        raise ValueError("it is not an index of this kind and size")
    numbers = data[end:].view("<i8").astype(np.int64)
    ids = numbers[1:]
    if numbers[0] != count or (ids < 1).any() or (np.diff(ids) < 1).any():
        raise ValueError("its row numbers do not ascend")
    return ExactSegment(ids, data[len(header) : end].view("<f2").reshape(count, dimension))


def cosines(vectors: Stored, query: Vectors) -> Floats:
    """Return cosines of stored vectors with a unit vector, in float64, each independent of the other rows."""
    wide = vectors.astype(np.float64)
    scores: Floats = (wide * query.astype(np.float64)).sum(axis=1) / np.sqrt((wide**2).sum(axis=1))
    return scores
