"""Vectors in segments, as the store writes them, and a brute-force search of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.types import Passage
from index.commit.change import BuildMode, ChangeSet, SplitFile
from index.commit.store import Store
from index.dense import faiss_segments
from index.dense.exact_segments import ExactSegment, cosines
from index.dense.faiss_segments import VectorIndex
from index.dense.search import Candidate
from index.integrity.verify import verify
from index.snapshot import Snapshot
from index.storage.metadata import BuildConfig, Info
from index.storage.rows import StoredDocument
from index.storage.vectors import Ids, Stored, Vectors

DIMENSION = 64
CONFIG = BuildConfig(model="random", fingerprint="f" * 64, dimension=DIMENSION, splitter=1)


def limit_sizes(patch: pytest.MonkeyPatch, *, exact: int, most: int) -> None:
    patch.setattr(faiss_segments, "EXACT_MOST", exact)
    for module in ("faiss_segments", "merge_policy", "segment_writer"):
        patch.setattr(f"index.dense.{module}.SEGMENT_MOST", most)


def unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths, dtype=np.float32)


def scattered(count: int, seed: int = 0) -> Vectors:
    return unit(np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32))


def clustered(count: int, seed: int = 0) -> Vectors:
    """Ten clusters, so tight that one bit per dimension does not separate their members."""
    rng = np.random.default_rng(seed)
    return unit(scattered(10, 99)[rng.integers(0, 10, count)] + 0.3 * scattered(count, seed + 1))


def stored(rows: Vectors) -> Stored:
    return rows.astype("<f2")


def built(rows: Vectors, first: int = 1) -> Any:
    ids = np.arange(first, first + len(rows), dtype=np.int64)
    return faiss_segments.build(ids, lambda wanted: stored(rows[wanted - first]), dimension=rows.shape[1])


def searched(*parts: Any) -> VectorIndex:
    """An index that never needs to fetch."""

    def fetch(wanted: Ids) -> Stored:
        raise AssertionError(wanted)

    return VectorIndex(parts, fetch)


def digest(number: int) -> bytes:
    return number.to_bytes(16, "big")


def split_file(path: str, numbers: Sequence[int]) -> SplitFile:
    """A document whose passages have numbers as texts and digests."""
    texts = list(map(str, numbers))
    passages = tuple(
        Passage(20 * place, 20 * place + len(text), text, 0, "", (), "", (1, 1)) for place, text in enumerate(texts)
    )
    document = StoredDocument(0, path, "0" * 64, 1, 1, 1, "text/plain", "", len(passages))
    return SplitFile(document, passages, tuple(digest(number) for number in numbers))


def commit(
    folder: Path, rows: Vectors, documents: Mapping[str, Sequence[int]], removed: frozenset[str] = frozenset()
) -> Info:
    """Add documents, given as the row numbers of their vectors, and remove some."""
    numbers = [number for several in documents.values() for number in several]
    with Store(folder) as store:
        if numbers:
            store.add_vectors([digest(number) for number in numbers], rows[numbers])
        for path, several in documents.items():
            store.stage(split_file(path, several))
        info = store.commit(ChangeSet(BuildMode.INCREMENTAL, CONFIG, removed=removed))
    check(folder)
    return info


def dealt(count: int, documents: int) -> dict[str, range]:
    """Deal out the passages below `count` to documents in turn."""
    return {f"{first}.txt": range(first, count, documents) for first in range(documents)}


def check(folder: Path) -> None:
    """Check that tables and files agree about the vectors, and that there are no other files of vectors."""
    assert verify(folder).problems == ()
    with Snapshot(folder) as snapshot:
        segments = snapshot.info.segments
    assert sorted(path.name for path in folder.glob("*.faiss")) == sorted(one.name for one in segments)
    for segment in segments:
        assert segment.held <= faiss_segments.SEGMENT_MOST
        index = faiss_segments.load(folder, segment, dimension=DIMENSION)
        assert isinstance(index, ExactSegment) is (segment.held <= faiss_segments.EXACT_MOST)


class Truth:
    """What NumPy finds over all stored vectors."""

    def __init__(self, snapshot: Snapshot, documents: frozenset[int] | None = None) -> None:
        self._links = [link for link in snapshot._links("true") if documents is None or link.document in documents]
        self._vectors = snapshot.vectors([link.vector for link in self._links])

    def nearest(self, query: Vectors, limit: int) -> list[Candidate]:
        scores = cosines(self._vectors, query).tolist()
        ranked = sorted((-score, link.key, link) for score, link in zip(scores, self._links, strict=True))
        return [Candidate(link, -score) for score, _, link in ranked[:limit]]


def scope(snapshot: Snapshot, paths: Sequence[str]) -> frozenset[int]:
    return frozenset(document.id for document in snapshot.documents() if document.path in paths)
