"""Find nearest vectors. The files are derived data: an unusable one is rebuilt from the stored vectors.

A segment is one file, written once. Up to `EXACT_MOST` vectors are kept as they are stored, in float16; more are
compressed by FAISS to one bit per dimension and a few numbers, with RaBitQ by Gao and Long
(https://arxiv.org/abs/2405.12497), and their hits are scored again with the stored vectors.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shlex
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from index.dense.exact_segments import ExactSegment, parse_segment
from index.storage import disk
from index.storage.database import DATABASE
from index.storage.files import write_atomically
from index.storage.metadata import Segment
from index.storage.vectors import Ids, Stored, Vectors

_LOG = logging.getLogger(__name__)

# An exact search of this many takes a few milliseconds.
EXACT_MOST = 32_768
# More vectors are divided into several segments, which are searched in parallel.
SEGMENT_MOST = 262_144
# How many hits of compressed segments are scored exactly: a multiple of the limit, plus a number divided by the root of
# the dimension, as the error of one bit for each of n dimensions is one over the root of n. Of a million real vectors
# with 384 dimensions this finds .997 of the ten nearest; with 160 more, .9975.
_OVERSAMPLE = 4
_EXTRA = 1280
_CHUNK = 8192

# Held while FAISS's process-wide allocation limit is set for one file, and at a fork, as the child inherits both.
_LOADING = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOADING.acquire, after_in_parent=_LOADING.release, after_in_child=_LOADING.release)
# The process that loaded this module.
_PROCESS = os.getpid()

Fetch = Callable[[Ids], Stored]


class VectorIndex:
    """Inner-product search over all segments of a generation; `fetch` reads the vectors that no exact segment has."""

    def __init__(self, parts: Sequence[Any], fetch: Fetch) -> None:
        self._fetch = fetch
        self._exact = [part for part in parts if isinstance(part, ExactSegment) and len(part.ids)]
        self._compressed = [part for part in parts if not isinstance(part, ExactSegment)]
        self._joined = _join_shards(self._compressed)
        self.vector_count = sum(len(part.ids) for part in self._exact) + sum(
            int(part.ntotal) for part in self._compressed
        )

    def search(self, vector: Vectors, limit: int) -> tuple[Ids, float]:
        """Find the vectors that are likely the nearest.

        Args:
            vector: `(dim,) float32`.
            limit: How many of the nearest to find; more are returned.

        Returns:
            Row ids, unordered, and an upper bound of the scores, in float32, of the other vectors in exact segments;
            minus infinity if there are no others.
        """
        query = np.ascontiguousarray(vector, dtype=np.float32)
        hits = [np.empty(0, dtype=np.int64)]
        bound = -np.inf
        for part in self._exact:
            ids, highest = part.search(query, limit)
            hits.append(ids)
            bound = max(bound, highest)
        if self._joined is not None:
            candidates = _OVERSAMPLE * limit + int(_EXTRA / len(query) ** 0.5)
            with _one_thread():
                _, ids = self._joined.search(query.reshape(1, -1), min(candidates, int(self._joined.ntotal)))
            hits.append(ids[0][ids[0] >= 0])
        return np.concatenate(hits), bound

    def stored_vectors(self, ids: Ids) -> Stored:
        """Return stored vectors in the order given, `(n, dim)`; those of exact segments come from memory."""
        if not self._exact:
            return self._fetch(ids)
        vectors = np.empty((len(ids), self._exact[0].vectors.shape[1]), dtype=np.float16)
        is_missing = np.ones(len(ids), dtype=bool)
        for part in self._exact:
            positions = np.minimum(np.searchsorted(part.ids, ids), len(part.ids) - 1)
            is_inside = part.ids[positions] == ids
            vectors[is_inside] = part.vectors[positions[is_inside]]
            is_missing &= ~is_inside
        if is_missing.any():
            vectors[is_missing] = self._fetch(ids[is_missing])
        return vectors


def _join_shards(parts: Sequence[Any]) -> Any:
    """Join several indexes into one that searches each in its own thread; they must outlive it."""
    if len(parts) < 2:
        return parts[0] if parts else None
    import faiss

    threaded, renumbered = True, False
    joined: Any = faiss.IndexShards(parts[0].d, threaded, renumbered)  # type: ignore[call-arg]
    for part in parts:
        joined.add_shard(part)
    return joined


def build_segment(ids: Ids, fetch: Fetch, *, dimension: int) -> Any:
    """Build a segment of vectors, given by ascending row ids; `fetch` reads them, a few at a time."""
    chunks = [ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK)]
    if len(ids) <= EXACT_MOST:
        empty = np.empty((0, dimension), dtype=np.float16)
        return ExactSegment(ids, np.concatenate([empty, *map(fetch, chunks)]))
    import faiss

    # In a forked process FAISS would wait forever for threads that only its parent has.
    with _one_thread() if os.getpid() != _PROCESS else contextlib.nullcontext():
        inner: Any = faiss.IndexRaBitQFastScan(dimension, faiss.METRIC_INNER_PRODUCT)
        # Training computes only the centroid.
        inner.train(fetch(ids[:: -(-len(ids) // _CHUNK)]).astype(np.float32))
        index = faiss.IndexIDMap(inner)
        for chunk in chunks:
            index.add_with_ids(fetch(chunk).astype(np.float32), chunk)
    return index


def save_segment(index: Any, folder: Path, *, number: int, generation: int) -> Segment:
    """Write a segment to a new file and return its record for the metadata; raises StorageError."""
    if isinstance(index, ExactSegment):
        data: Any = index.to_bytes()
    else:
        import faiss

        data = memoryview(faiss.serialize_index(index))  # type: ignore[arg-type]
    name = f"vectors-{generation}-{number}.faiss"
    write_atomically(folder / name, data, like=folder / DATABASE)
    return Segment(number, name, len(data), _digest(data), len(vector_ids(index)))


def load_segment(folder: Path, segment: Segment, *, dimension: int) -> Any:
    """Read a segment, and check all of it.

    Raises:
        ValueError: The file is not the one that was committed, or not an index of this kind.
        OSError: It cannot be read.
    """
    file = folder / segment.name
    if file.stat().st_size != segment.size:
        raise ValueError("its size is wrong")
    data = np.fromfile(file, dtype=np.uint8)
    if len(data) != segment.size or _digest(data.data) != segment.digest:
        raise ValueError("checksum mismatch")
    if segment.held <= EXACT_MOST:
        return parse_segment(data, segment.held, dimension)
    import faiss

    try:
        with _LOADING, _bounded_allocation(segment.size):
            # Copies the vectors; FAISS reorders compressed ones anyway, so avoiding that would gain nothing.
            index: Any = faiss.deserialize_index(data)
    except RuntimeError as error:
        raise ValueError(f"FAISS cannot read it: {error}") from error
    _require_valid(index, segment, dimension)
    return index


def _require_valid(index: Any, segment: Segment, dimension: int) -> None:
    """Check the content too, as a forged index can have valid checksums."""
    import faiss

    if not isinstance(index, faiss.IndexIDMap) or (index.d, index.ntotal) != (dimension, segment.held):
        raise ValueError("it is not an index of this kind and size")
    if not isinstance(inner := faiss.downcast_index(index.index), faiss.IndexRaBitQFastScan):
        raise ValueError("it is not an index of this kind")
    ids = vector_ids(index)
    if inner.metric_type != faiss.METRIC_INNER_PRODUCT or (ids < 1).any() or (np.diff(ids) < 1).any():
        raise ValueError("it is not an index of inner products, or its row numbers do not ascend")


def vector_ids(index: Any) -> Ids:
    """Return the row ids of a segment's vectors, in the order in which they were added."""
    if isinstance(index, ExactSegment):
        return index.ids
    import faiss

    ids: Ids = faiss.vector_to_array(index.id_map)
    return ids


def describe_failure(error: OSError | ValueError) -> str:
    """Describe why a segment cannot be used."""
    if isinstance(error, PermissionError):
        return f"{error.strerror}; its owner can chmod it like {DATABASE}"
    return str(getattr(error, "strerror", None) or error)


def has_segment_file(folder: Path, segment: Segment) -> bool:
    """Return whether a segment's file exists with the right size; its content is not checked."""
    try:
        return (folder / segment.name).stat().st_size == segment.size
    except OSError:
        return False


def open_segments(
    folder: Path, segments: Iterable[Segment], read_live_ids: Callable[[Segment], Ids], fetch: Fetch, *, dimension: int
) -> VectorIndex:
    """Open all segments; one whose file is unusable is rebuilt from its live vectors, as stored in the database."""
    parts = []
    for segment in segments:
        try:
            parts.append(load_segment(folder, segment, dimension=dimension))
        except (OSError, ValueError) as error:
            _LOG.warning(
                "%s is unusable (%s); the vectors are taken from the database until `qa check --repair %s` writes it",
                folder / segment.name,
                describe_failure(error),
                shlex.quote(str(folder.parent)),
            )
            parts.append(build_segment(read_live_ids(segment), fetch, dimension=dimension))
    return VectorIndex(parts, fetch)


def delete_other_segments(folder: Path, names: Iterable[str]) -> None:
    """Delete all FAISS files but those named; readers have theirs in memory."""
    kept = frozenset(names)
    for path in folder.glob("vectors-*.faiss"):
        if path.name not in kept:
            with contextlib.suppress(OSError):
                disk.delete(path)


def _digest(data: bytes | memoryview) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def _one_thread() -> AbstractContextManager[None]:
    """Use one thread, as for a single question waking others takes longer than the search."""
    import faiss

    return _temporary_value(faiss.omp_get_max_threads, faiss.omp_set_num_threads, 1)


def _bounded_allocation(size: int) -> AbstractContextManager[None]:
    """Keep FAISS from allocating more than the file's size, whatever the header says (older versions have no limit)."""
    import faiss

    library: Any = faiss
    if not hasattr(library, "set_deserialization_vector_byte_limit"):
        return contextlib.nullcontext()
    get_limit, set_limit = library.get_deserialization_vector_byte_limit, library.set_deserialization_vector_byte_limit
    return _temporary_value(get_limit, set_limit, size)


@contextlib.contextmanager
def _temporary_value(get_value: Callable[[], int], set_value: Callable[[int], object], value: int) -> Iterator[None]:
    previous = get_value()
    set_value(value)
    try:
        yield
    finally:
        set_value(previous)
