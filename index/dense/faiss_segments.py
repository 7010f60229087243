"""Nearest vectors through FAISS. The files are derived: whatever happens to them, they are made again from the store.

A segment of the vectors is one file, written once. Up to `EXACT_MOST` vectors are kept as they are stored; more are
kept as one bit a dimension and a few numbers, RaBitQ of Gao and Long (https://arxiv.org/abs/2405.12497), and what is
found there is scored again with the stored vectors.
"""

# ruff: noqa: PLC0415 - heavy libraries are imported where they are used, never with this package

from __future__ import annotations

import contextlib
import hashlib
import logging
import mmap
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from index.encoder.protocol import Vectors
from index.storage import disk
from index.storage.files import write_atomically
from index.storage.metadata import Segment

_LOG = logging.getLogger(__name__)
_PREFIX = "vectors-"
_SUFFIX = ".faiss"

# Searching so many exactly takes a few milliseconds.
EXACT_MOST = 32_768
# More are spread over several segments, which are searched side by side.
SEGMENT_MOST = 262_144
# So many times as many as wanted are taken from compressed segments to be scored exactly, and so many more, over the
# root of the dimension: one bit of each of n dimensions is off by one over the root of n. Of a million real vectors
# of 384 that finds .997 of the ten nearest; 160 more than four times as many would find .9975.
_OVERSAMPLE = 4
_EXTRA = 1280
_CHUNK = 8192

# Of the process that loaded this module.
_PROCESS = os.getpid()

Ids = npt.NDArray[np.int64]
# Vectors as they are stored: of unit length before they were rounded.
Stored = npt.NDArray[np.float16]
Fetch = Callable[[Ids], Stored]
Bytes = npt.NDArray[np.uint8]


class VectorIndex:
    """Inner-product search over all segments of a generation; vectors are known by their row numbers.

    Args:
        parts: A FAISS index for each segment, of any kind that `build` makes.
        fetch: Gives the stored vectors that no exact segment holds.
    """

    def __init__(self, parts: Sequence[Any], fetch: Fetch) -> None:
        self._fetch = fetch
        self._exact = [_Exact(part) for part in parts if _is_exact(part) and part.ntotal]
        self._compressed = [part for part in parts if not _is_exact(part)]
        self._side_by_side = _shards(self._compressed)
        self.held = sum(int(part.ntotal) for part in parts)

    def search(self, vector: Vectors, limit: int) -> tuple[Ids, float]:
        """Row numbers of those that are likely the nearest, in no order.

        Args:
            vector: `(dim,) float32`.
            limit: How many of the nearest are wanted; more come back.

        Returns:
            Row numbers, and a float32 score that nothing left out of an exact segment exceeds, infinitely
            low where nothing was left out.
        """
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        found = [np.empty(0, dtype=np.int64)]
        bound = -np.inf
        for part in self._exact:
            ids, scores = _search(part.index, query, limit)
            found.append(ids)
            if len(ids) < len(part.ids):
                bound = max(bound, float(scores[-1]))
        if self._side_by_side is not None:
            wanted = _OVERSAMPLE * limit + int(_EXTRA / query.shape[1] ** 0.5)
            found.append(_search(self._side_by_side, query, wanted)[0])
        return np.concatenate(found), bound

    def stored(self, ids: Ids) -> Stored:
        """Vectors as they are stored, `(n, dim)`, in the order asked: those of exact segments need not be read."""
        if not self._exact:
            return self._fetch(ids)
        found = np.empty((len(ids), self._exact[0].vectors.shape[1]), dtype=np.float16)
        missing = np.ones(len(ids), dtype=bool)
        for part in self._exact:
            places = np.minimum(np.searchsorted(part.ids, ids), len(part.ids) - 1)
            inside = part.ids[places] == ids
            found[inside] = part.vectors[places[inside]]
            missing &= ~inside
        if missing.any():
            found[missing] = self._fetch(ids[missing])
        return found


class _Exact:
    """An exact segment, and its vectors as the store has them.

    Attributes:
        index: FAISS's.
        ids: Row numbers, `(n,)`, ascending.
        vectors: `(n, dim)`, the memory of `index`.
    """

    def __init__(self, index: Any) -> None:
        import faiss

        self.index = index
        self.ids = members(index)
        codes: Any = faiss.downcast_index(index.index).codes  # type: ignore[attr-defined]
        data = faiss.rev_swig_ptr(codes.data(), codes.size())
        self.vectors: Stored = data.view("<f2").reshape(len(self.ids), index.d)


def _is_exact(part: Any) -> bool:
    import faiss

    return isinstance(faiss.downcast_index(part.index), faiss.IndexScalarQuantizer)


def _shards(parts: Sequence[Any]) -> Any:
    """One index over several, each searched by a thread of FAISS's own; they must outlive it."""
    import faiss

    if len(parts) < 2:
        return parts[0] if parts else None
    threaded, renumbered = True, False
    joined: Any = faiss.IndexShards(parts[0].d, threaded, renumbered)  # type: ignore[call-arg]
    for part in parts:
        joined.add_shard(part)
    return joined


def _search(index: Any, query: Vectors, limit: int) -> tuple[Ids, Vectors]:
    wanted = min(limit, int(index.ntotal))
    if wanted < 1:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    with _one_thread():
        scores, ids = index.search(query, wanted)
    there = ids[0] >= 0
    return ids[0][there], scores[0][there]


def build(ids: Ids, fetch: Fetch, *, dimension: int) -> Any:
    """The FAISS index of a segment, whose row numbers ascend; `fetch` gives the vectors of so many ids at a time."""
    import faiss

    with _one_thread() if _is_forked() else contextlib.nullcontext():
        kind: Any
        if len(ids) > EXACT_MOST:
            kind = faiss.IndexRaBitQFastScan(dimension, faiss.METRIC_INNER_PRODUCT)
            # What it learns is only where the middle is.
            kind.train(fetch(ids[:: -(-len(ids) // _CHUNK)]).astype(np.float32))
        else:
            kind = faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        index = faiss.IndexIDMap(kind)
        for start in range(0, len(ids), _CHUNK):
            chunk = ids[start : start + _CHUNK]
            index.add_with_ids(fetch(chunk).astype(np.float32), chunk)
    return index


def save(index: Any, folder: Path, *, number: int, generation: int) -> Segment:
    """Write a segment under a new name; nothing points to it until a generation that names it is committed.

    Raises:
        StorageError: The disk refused.
    """
    import faiss

    data: Any = memoryview(faiss.serialize_index(index))  # type: ignore[arg-type]
    name = f"{_PREFIX}{generation}-{number}{_SUFFIX}"
    write_atomically(folder / name, data)
    return Segment(number, name, len(data), _digest(data), int(index.ntotal))


def load(folder: Path, segment: Segment, *, dimension: int) -> Any:
    """Read a segment after its checksum held.

    Raises:
        ValueError: The bytes are not those that were committed, or mean something else.
        OSError: The file cannot be read.
    """
    import faiss

    file = folder / segment.name
    if file.stat().st_size != segment.size:
        raise ValueError("it has not the size it should have")
    exact = segment.held <= EXACT_MOST
    data = _read(file, segment.size)
    if _digest(data.data) != segment.digest:
        raise ValueError("its checksum does not hold")
    try:
        with _bounded_reading(faiss, segment.size):
            index: Any
            if exact:
                reader: Any = faiss.ZeroCopyIOReader(faiss.swig_ptr(data), segment.size)  # type: ignore[attr-defined]
                index = faiss.read_index(reader)
                index.referenced_objects = [data]  # whose memory it uses
            else:
                # Compressed vectors are put in another order anyway.
                index = faiss.deserialize_index(data)
    except RuntimeError as error:
        raise ValueError(f"FAISS cannot read it: {error}") from error
    if not isinstance(index, faiss.IndexIDMap) or (index.d, index.ntotal) != (dimension, segment.held):
        raise ValueError("it is not an index of this kind and size")
    inner = faiss.downcast_index(index.index)
    if not isinstance(inner, faiss.IndexScalarQuantizer | faiss.IndexRaBitQFastScan):
        raise ValueError("it is not an index of this kind")
    rows = members(index)
    if inner.metric_type != faiss.METRIC_INNER_PRODUCT or (rows < 1).any() or (np.diff(rows) < 1).any():
        raise ValueError("it is not an index of inner products, or not of rows")
    if _is_exact(index) and inner.codes.size() != 2 * index.d * len(rows):
        raise ValueError("it does not hold vectors as they are stored")
    return index


def _read(file: Path, size: int) -> Bytes:
    """A file of so many bytes, in large pages where the system has them: a search goes through all of it."""
    if sys.platform == "linux":
        memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with contextlib.suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
        data = np.frombuffer(memory, dtype=np.uint8, count=size)
    else:
        data = np.empty(size, dtype=np.uint8)
    with file.open("rb") as stream:
        if stream.readinto(data.data) != size:
            raise ValueError("it has not the size it should have")
    return data


def members(index: Any) -> Ids:
    """Row numbers of the vectors in a segment, in the order they were added."""
    import faiss

    found: Ids = faiss.vector_to_array(index.id_map)
    return found


def is_there(folder: Path, segment: Segment) -> bool:
    """Whether a segment's file has the size it should have; its bytes are not looked at."""
    try:
        return (folder / segment.name).stat().st_size == segment.size
    except OSError:
        return False


def open_all(
    folder: Path, segments: Iterable[Segment], members: Callable[[Segment], Ids], fetch: Fetch, *, dimension: int
) -> VectorIndex:
    """All segments; one whose file is of no use is made anew from its members and the stored vectors."""
    parts = []
    for segment in segments:
        try:
            parts.append(load(folder, segment, dimension=dimension))
        except (OSError, ValueError) as error:
            _LOG.warning("%s is not used (%s); made again from the stored vectors", folder / segment.name, error)
            parts.append(build(members(segment), fetch, dimension=dimension))
    return VectorIndex(parts, fetch)


def cosines(vectors: Stored, query: Vectors) -> npt.NDArray[np.float64]:
    """Of stored vectors with a unit vector, in float64, each summed in an order that does not depend on other rows."""
    wide = vectors.astype(np.float64)
    scores: npt.NDArray[np.float64] = (wide * query.astype(np.float64)).sum(axis=1) / np.sqrt((wide**2).sum(axis=1))
    return scores


def delete_others(folder: Path, kept: Iterable[str]) -> None:
    """Remove the files that no segment names any more; readers hold theirs in memory."""
    names = frozenset(kept)
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        if path.name not in names:
            with contextlib.suppress(OSError):
                disk.delete(path)


def _digest(data: bytes | memoryview) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def _is_forked() -> bool:
    """Whether threads that FAISS started may have stayed behind in another process; it would wait for them forever."""
    return os.getpid() != _PROCESS


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """A question is too little work to share out: to wake other threads for it takes longer."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


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
