"""Vectors in segments, written by the store, and a brute-force search of them."""

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
    for module in ("faiss_segments", "segment_writer"):
        patch.setattr(f"index.dense.{module}.SEGMENT_MOST", most)


def normalise(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths, dtype=np.float32)


def random_vectors(count: int, seed: int = 0) -> Vectors:
    return normalise(np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32))


def clustered_vectors(count: int, seed: int = 0) -> Vectors:
    """Return vectors in ten clusters, so tight that one bit per dimension does not separate their members."""
    rng = np.random.default_rng(seed)
    return normalise(random_vectors(10, 99)[rng.integers(0, 10, count)] + 0.3 * random_vectors(count, seed + 1))


def to_stored(rows: Vectors) -> Stored:
    return rows.astype("<f2")


def make_segment(rows: Vectors, first: int = 1) -> Any:
    all_ids = np.arange(first, first + len(rows), dtype=np.int64)
    return faiss_segments.build_segment(all_ids, lambda ids: to_stored(rows[ids - first]), dimension=rows.shape[1])


def vector_index(*parts: Any) -> VectorIndex:
    """Return an index of segments that never fetches a vector."""

    def fetch(ids: Ids) -> Stored:
        raise AssertionError(ids)

    return VectorIndex(parts, fetch)


def vector_digest(number: int) -> bytes:
    return number.to_bytes(16, "big")


def split_file(path: str, numbers: Sequence[int]) -> SplitFile:
    """Return a document whose passages have numbers as texts and digests."""
    texts = list(map(str, numbers))
    passages = tuple(
        Passage(20 * place, 20 * place + len(text), text, 0, "", (), "", (1, 1)) for place, text in enumerate(texts)
    )
    document = StoredDocument(0, path, "0" * 64, 1, 1, 1, "text/plain", "", len(passages))
    return SplitFile(document, passages, tuple(vector_digest(number) for number in numbers))


def commit(
    folder: Path, rows: Vectors, documents: Mapping[str, Sequence[int]], removed: frozenset[str] = frozenset()
) -> Info:
    """Add documents, given by the row numbers in `rows` of their vectors, and remove some."""
    vector_numbers = [number for numbers in documents.values() for number in numbers]
    with Store(folder) as store:
        if vector_numbers:
            store.add_vectors([vector_digest(number) for number in vector_numbers], rows[vector_numbers])
        for path, numbers in documents.items():
            store.stage(split_file(path, numbers))
        info = store.commit(ChangeSet(BuildMode.INCREMENTAL, CONFIG, removed=removed))
    check_segments(folder)
    return info


def deal_out(count: int, documents: int) -> dict[str, range]:
    """Deal out `count` passages to documents in turn."""
    return {f"{first}.txt": range(first, count, documents) for first in range(documents)}


def check_segments(folder: Path) -> None:
    """Check that tables and files agree about the vectors, and that there are no other FAISS files."""
    assert verify(folder).problems == ()
    with Snapshot(folder) as snapshot:
        segments = snapshot.info.segments
    assert sorted(path.name for path in folder.glob("*.faiss")) == sorted(segment.name for segment in segments)
    for segment in segments:
        assert segment.held <= faiss_segments.SEGMENT_MOST
        index = faiss_segments.load_segment(folder, segment, dimension=DIMENSION)
        assert isinstance(index, ExactSegment) is (segment.held <= faiss_segments.EXACT_MOST)


class BruteForce:
    """A search of all stored vectors with NumPy."""

    def __init__(self, snapshot: Snapshot, documents: frozenset[int] | None = None) -> None:
        self._links = [link for link in snapshot._links("true") if documents is None or link.document in documents]
        self._vectors = snapshot.vectors([link.vector for link in self._links])

    def nearest(self, query: Vectors, limit: int) -> list[Candidate]:
        scores = cosines(self._vectors, query).tolist()
        ranked = sorted((-score, link.key, link) for score, link in zip(scores, self._links, strict=True))
        return [Candidate(link, -score) for score, _, link in ranked[:limit]]


def document_ids(snapshot: Snapshot, paths: Sequence[str]) -> frozenset[int]:
    return frozenset(document.id for document in snapshot.documents() if document.path in paths)
