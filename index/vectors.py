"""Nearest vectors through FAISS. The file is derived: whatever happens to it, it is made again from the store."""

# ruff: noqa: PLC0415 - heavy libraries are imported where they are used, never with this package

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .encoder import Vectors
from .files import write_atomically
from .records import VectorsFile

_LOG = logging.getLogger(__name__)
_PREFIX = "vectors-"
_SUFFIX = ".faiss"

Ids = npt.NDArray[np.int64]
Fetch = Callable[[Ids], Vectors]


class VectorIndex:
    """Exact inner-product search over vectors known by their row numbers."""

    def __init__(self, faiss_index: Any) -> None:
        self._index = faiss_index

    @classmethod
    def build(cls, ids: Ids, vectors: Vectors, *, dimension: int) -> VectorIndex:
        """Make one from vectors, `(n, dim) float32`."""
        import faiss

        index = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension))
        if len(ids):
            index.add_with_ids(vectors, ids)
        return cls(index)

    @classmethod
    def load(cls, folder: Path, file: VectorsFile, *, dimension: int) -> VectorIndex:
        """Read a saved one after its checksum held.

        Raises:
            ValueError: The bytes are not those that were committed, or mean something else.
            OSError: The file cannot be read.
        """
        import faiss

        data = (folder / file.name).read_bytes()
        if len(data) != file.size or _digest(data) != file.digest:
            raise ValueError("its checksum does not hold")
        try:
            with _bounded_reading(faiss, len(data)):
                index = faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8))
        except RuntimeError as error:
            raise ValueError(f"FAISS cannot read it: {error}") from error
        if not isinstance(index, faiss.IndexIDMap2) or index.d != dimension:
            raise ValueError("it is not an index of this kind and dimension")
        return cls(index)

    @property
    def ids(self) -> Ids:
        """Row numbers of the vectors in it, in no order."""
        import faiss

        found: Ids = faiss.vector_to_array(self._index.id_map).astype(np.int64)
        return found

    def adjust(self, ids: Ids, fetch: Fetch) -> None:
        """Make it hold exactly these row numbers; `fetch` gives the vectors of those it lacks."""
        present = self.ids
        gone = np.setdiff1d(present, ids)
        new = np.setdiff1d(ids, present)
        if len(gone):
            self._index.remove_ids(gone)
        if len(new):
            self._index.add_with_ids(fetch(new), new)

    def search(self, vector: Vectors, limit: int, *, among: Ids | None) -> tuple[Ids, Vectors]:
        """Row numbers and float32 inner products of the nearest, best first.

        Args:
            vector: `(dim,) float32`.
            limit: At most this many.
            among: Row numbers to choose from, or None for all.
        """
        import faiss

        limit = min(limit, self._index.ntotal if among is None else len(among))
        if limit < 1:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        selected = None if among is None else faiss.SearchParameters(sel=faiss.IDSelectorBatch(among))  # type: ignore[call-arg]
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        scores, ids = self._index.search(query, limit, params=selected)
        found = ids[0] >= 0
        return ids[0][found], scores[0][found]

    def save(self, folder: Path, generation: int) -> VectorsFile:
        """Write it under the name of a generation; nothing points to it until that is committed.

        Raises:
            StorageError: The disk refused.
        """
        import faiss

        data = faiss.serialize_index(self._index).tobytes()
        name = f"{_PREFIX}{generation}{_SUFFIX}"
        write_atomically(folder / name, data)
        return VectorsFile(name, len(data), _digest(data))


def open_or_rebuild(folder: Path, file: VectorsFile, ids: Ids, fetch: Fetch, *, dimension: int) -> VectorIndex:
    """The saved index, or one made anew from the stored vectors where the file is of no use."""
    try:
        found = VectorIndex.load(folder, file, dimension=dimension)
        if not np.array_equal(np.sort(found.ids), np.sort(ids)):
            raise ValueError("it holds other vectors than the index")
    except (OSError, ValueError) as error:
        _LOG.warning("%s is not used (%s); made again from the stored vectors", folder / file.name, error)
        return VectorIndex.build(ids, fetch(ids), dimension=dimension)
    return found


def exact_scores(vectors: Vectors, query: Vectors) -> npt.NDArray[np.float64]:
    """Inner products in float64, each summed in an order that does not depend on the other rows."""
    products = vectors.astype(np.float64) * query.astype(np.float64)
    scores: npt.NDArray[np.float64] = products.sum(axis=1)
    return scores


def delete_others(folder: Path, kept: str) -> None:
    """Remove the files of other generations; readers hold theirs in memory."""
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        if path.name != kept:
            with contextlib.suppress(OSError):
                path.unlink()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


@contextlib.contextmanager
def _bounded_reading(faiss: Any, size: int) -> Iterator[None]:
    """No header may make FAISS allocate more than the file is long (newer versions have the limit)."""
    if not hasattr(faiss, "set_deserialization_vector_byte_limit"):
        yield
        return
    before = faiss.get_deserialization_vector_byte_limit()
    faiss.set_deserialization_vector_byte_limit(size)
    try:
        yield
    finally:
        faiss.set_deserialization_vector_byte_limit(before)
