"""Dense search: FAISS finds the nearest vectors, and the stored vectors score them exactly."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from index.dense.exact_segments import Floats, cosines
from index.dense.faiss_segments import VectorIndex, open_segments
from index.dense.scope import Scope, is_small_scope
from index.dense.vector_refs import read_ref_table, read_refs_of
from index.storage.database import translate_errors
from index.storage.metadata import Info, Segment
from index.storage.rows import AMONG, Link, damaged, ids_json, read_links
from index.storage.vectors import Ids, Stored, Vectors, not_unit_vector, read_vectors

# Inner products of stored vectors, whose norms are rounded, differ from cosines by less than this.
_ROUNDING = 1e-3
# How many more than needed are searched for at first: usually enough that no other vector ties with the last place.
_BEYOND = 16

# In the order of all results: by negative score, then by passage key.
_Ranked = tuple[float, str, Link]


class Candidate(NamedTuple):
    """A passage and how well it matches, higher is better."""

    link: Link
    score: float

    @property
    def passage(self) -> int:
        """Its row id."""
        return self.link.id

    @property
    def key(self) -> str:
        """Its stable id."""
        return self.link.key


class DenseIndex:
    """Dense search in one generation."""

    def __init__(self, connection: sqlite3.Connection, file: Path, info: Info) -> None:
        self._connection = connection
        self._file = file
        self._info = info

    def load(self) -> None:
        """Read the FAISS files now instead of at the first search."""
        _ = self._segments

    def cosines(self, ids: Sequence[int], vector: Vectors) -> Floats:
        """Return cosines of stored vectors, by row id, with a unit vector: `(n,)`, independent of each other."""
        scores = cosines(self._segments.stored_vectors(np.array(ids, dtype=np.int64)), vector)
        if not np.isfinite(scores).all():
            raise not_unit_vector(self._file)
        return scores

    def search(self, vector: Vectors, limit: int, scope: Scope | None) -> list[Candidate]:
        """Return the nearest passages, best first; ties by passage key.

        Args:
            vector: `(dim,) float32`, unit L2 norm.
            limit: At most this many, at least 1.
            scope: What to search, or None for all.
        """
        share, needed = 1.0, limit
        if scope is not None:
            if scope.vectors is not None and is_small_scope(len(scope.passages)):
                return _to_candidates(self._rank(self._score_nearest(scope.vectors, vector, limit), scope), limit)
            # A scope may be far from the question: compare as many of its passages as without one.
            share, needed = len(scope.passages) / self._info.passages, 8 * limit
        size = int((limit + _BEYOND) / share)
        while True:
            ids, bound = self._segments.search(vector, size)
            scored = self._score(ids, vector)
            # Passages are looked up for no more vectors than needed.
            head = len(scored) if scope is not None else limit + _BEYOND
            ranked = self._rank(scored[:head], scope)
            bound += _ROUNDING
            if head < len(scored):
                bound = max(bound, -scored[head][0])
            # No other vector scores above the bound, so none ties with the last place.
            if len(ranked) >= needed and bound < -ranked[limit - 1][0]:
                return _to_candidates(ranked, limit)
            if size >= self._segments.vector_count:
                return _to_candidates(self._rank(scored, scope), limit)
            size *= 2

    @cached_property
    def _segments(self) -> VectorIndex:
        folder, dimension = self._file.parent, self._info.dimension
        # Not methods of this class, as a reference cycle would keep the vectors until the next garbage collection.
        read_live_ids = partial(_read_live_ids, self._connection, self._file)
        fetch_vectors = partial(_fetch_vectors, self._connection, self._file, dimension)
        return open_segments(folder, self._info.segments, read_live_ids, fetch_vectors, dimension=dimension)

    def _score(self, ids: Ids, query: Vectors) -> list[tuple[float, int]]:
        """Return negative exact scores with their vectors, best first."""
        vector_ids: list[int] = ids.tolist()
        return sorted(zip((-self.cosines(vector_ids, query)).tolist(), vector_ids, strict=True))

    def _score_nearest(self, ids: Ids, query: Vectors, limit: int) -> list[tuple[float, int]]:
        """Return the `limit` best of `_score` and all that tie with the last, unordered; all must be in scope."""
        negative = -self.cosines(ids.tolist(), query)
        if limit < len(ids):
            kept = negative <= np.partition(negative, limit - 1)[limit - 1]
            ids, negative = ids[kept], negative[kept]
        return list(zip(negative.tolist(), ids.tolist(), strict=True))

    def _rank(self, scored: Sequence[tuple[float, int]], scope: Scope | None) -> list[_Ranked]:
        """Return the passages of scored vectors, best first; dead vectors have none."""
        negative_scores = {vector: negative for negative, vector in scored}
        with translate_errors(self._file):
            table = read_refs_of(self._connection, self._file, np.array(sorted(negative_scores), dtype=np.int64))
            refcounts = Counter(dict(zip(table.vectors.tolist(), table.refcounts.tolist(), strict=True)))
            ids = (ids_json(tuple(negative_scores)),)
            # A damaged SQLite index can return a row more than once.
            links = set(read_links(self._connection, self._file, f"vector IN {AMONG}", ids))
        counts = Counter(link.vector for link in links)
        if counts != refcounts:
            vector = min(vector for vector in counts | refcounts if counts[vector] != refcounts[vector])
            raise damaged(self._file, f"the refcount of vector {vector} is inconsistent")
        in_scope = (link for link in links if scope is None or scope.contains(link))
        return sorted((negative_scores[link.vector], link.key, link) for link in in_scope)


def _read_live_ids(connection: sqlite3.Connection, file: Path, segment: Segment) -> Ids:
    """Return the row ids of a segment's live vectors, ascending."""
    with translate_errors(file):
        condition = "segment = ? AND refcount > 0"
        vectors = read_ref_table(connection, file, condition, (segment.number,)).vectors
    if len(vectors) != segment.live:
        raise damaged(file, f"the number of vectors in {segment.name} is inconsistent")
    return vectors


def _fetch_vectors(connection: sqlite3.Connection, file: Path, dimension: int, ids: Ids) -> Stored:
    with translate_errors(file):
        return read_vectors(connection, file, ids.tolist(), dimension)


def _to_candidates(ranked: Sequence[_Ranked], limit: int) -> list[Candidate]:
    return [Candidate(link, -negative) for negative, _, link in ranked[:limit]]
