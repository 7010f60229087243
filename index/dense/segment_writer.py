"""Bring refcounts and FAISS segments in line with the passages, inside the transaction of a commit."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from index.dense.faiss_segments import SEGMENT_MOST, build, is_there, save
from index.dense.merge_policy import plan_merge
from index.dense.vector_refs import RefTable, read_ref_table, ref_table_of, write_refs
from index.storage.metadata import Segment
from index.storage.rows import AMONG, damaged, ids_json
from index.storage.vectors import Ids, Stored, read_vectors

# How many vectors are in use, and the FAISS files that hold them.
SegmentState = tuple[int, tuple[Segment, ...]]


class SegmentWriter:
    """Writes one commit's changes to the references from passages to vectors, in its transaction."""

    def __init__(self, connection: sqlite3.Connection, file: Path, *, generation: int, dimension: int) -> None:
        self._connection = connection
        self._file = file
        self._generation = generation
        self._dimension = dimension

    def update(self, before: SegmentState, *, added: Ids, removed: Ids) -> SegmentState:
        """Update refcounts for the vectors of passages added and removed, and write new vectors into a segment.

        Returns:
            How many vectors passages refer to now, and the segments that have them.
        """
        used, segments = before
        vectors, positions = np.unique(np.concatenate([added, removed]), return_inverse=True)
        change = np.zeros(len(vectors), dtype=np.int64)
        np.add.at(change, positions, np.repeat((1, -1), (len(added), len(removed))))
        old = ref_table_of(self._connection, self._file, vectors)
        refcounts = old.refcounts + change
        self._require_counted(vectors, refcounts)
        born, died = (old.refcounts == 0) & (refcounts > 0), (old.refcounts > 0) & (refcounts == 0)
        new = born & (old.segments == 0)
        table = RefTable(vectors, old.segments, refcounts, np.where(refcounts > 0, 0, self._generation))
        write_refs(self._connection, table.rows(np.flatnonzero(~new)))
        changed = [
            replace(segment, dead=segment.dead + int((died & inside).sum()) - int((born & inside).sum()))
            for segment in segments
            for inside in (old.segments == segment.number,)
        ]
        count = used + int(born.sum()) - int(died.sum())
        return count, self._write_segments(changed, vectors[new], refcounts[new])

    def _require_counted(self, vectors: Ids, refcounts: Ids) -> None:
        """Check incrementally updated refcounts against the passages."""
        query = f"SELECT vector, count(*) FROM passages WHERE vector IN {AMONG} GROUP BY vector"
        counted = dict(self._connection.execute(query, (ids_json(vectors.tolist()),)))
        for vector, refcount in zip(vectors.tolist(), refcounts.tolist(), strict=True):
            if counted.get(vector, 0) != refcount:
                raise damaged(self._file, f"the refcount of vector {vector} is inconsistent")

    def _write_segments(self, segments: Sequence[Segment], vectors: Ids, refcounts: Ids) -> tuple[Segment, ...]:
        """Write new vectors, and those of the segments they are merged with, into new segments."""
        folder = self._file.parent
        unusable = [segment for segment in segments if not is_there(folder, segment)]
        kept, merged = plan_merge(segments, len(vectors), unusable=unusable)
        held = self._members(merged)
        live = held.refcounts > 0
        write_refs(self._connection, replace(held, segments=np.zeros_like(held.segments)).rows(np.flatnonzero(~live)))
        ids = np.concatenate([vectors, held.vectors[live]])
        refcounts = np.concatenate([refcounts, held.refcounts[live]])
        order = np.argsort(ids)
        ids, refcounts = ids[order], refcounts[order]
        number = max((segment.number for segment in segments), default=0)
        written = []
        for start in range(0, len(ids), SEGMENT_MOST):
            part = slice(start, start + SEGMENT_MOST)
            number += 1
            index = build(ids[part], self._fetch, dimension=self._dimension)
            written.append(save(index, folder, number=number, generation=self._generation))
            zeros = np.zeros_like(ids[part])
            table = RefTable(ids[part], zeros + number, refcounts[part], zeros)
            write_refs(self._connection, table.rows(np.arange(len(zeros))))
        return (*kept, *written)

    def _members(self, segments: Sequence[Segment]) -> RefTable:
        numbers = ids_json([segment.number for segment in segments])
        table = read_ref_table(self._connection, self._file, f"segment IN {AMONG}", (numbers,))
        for segment in segments:
            inside = table.segments == segment.number
            if (int(inside.sum()), int((inside & (table.refcounts > 0)).sum())) != (segment.held, segment.live):
                raise damaged(self._file, f"the number of vectors in {segment.name} is inconsistent")
        return table

    def _fetch(self, wanted: Ids) -> Stored:
        return read_vectors(self._connection, self._file, wanted.tolist(), self._dimension)
