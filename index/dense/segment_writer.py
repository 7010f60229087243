"""Bring refcounts and FAISS segments in line with the passages, inside the transaction of a commit."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from index.dense.faiss_segments import SEGMENT_MOST, build_segment, has_segment_file, save_segment
from index.dense.vector_refs import RefTable, read_ref_table, read_refs_of, write_refs
from index.storage.metadata import Segment
from index.storage.rows import AMONG, damaged, ids_json
from index.storage.vectors import Ids, Stored, read_vectors

# How many vectors are live, and the FAISS files that hold them.
SegmentState = tuple[int, tuple[Segment, ...]]
# A segment is rewritten when more than this share of it, and more than a few of its vectors, are dead.
_DEAD_SHARE = 0.25
_MIN_DEAD = 64


class SegmentWriter:
    """Writes a commit's changes of vector references and segments, in its transaction."""

    def __init__(self, connection: sqlite3.Connection, file: Path, *, generation: int, dimension: int) -> None:
        self._connection = connection
        self._file = file
        self._generation = generation
        self._dimension = dimension

    def update(self, before: SegmentState, *, added: Ids, removed: Ids) -> SegmentState:
        """Update the refcounts of the vectors of added and removed passages, and write new vectors into a segment.

        Returns:
            How many vectors are live now, and the segments that have them.
        """
        live_count, segments = before
        vectors, positions = np.unique(np.concatenate([added, removed]), return_inverse=True)
        differences = np.zeros(len(vectors), dtype=np.int64)
        np.add.at(differences, positions, np.repeat((1, -1), (len(added), len(removed))))
        old = read_refs_of(self._connection, self._file, vectors)
        refcounts = old.refcounts + differences
        self._require_counted(vectors, refcounts)
        now_live, now_dead = (old.refcounts == 0) & (refcounts > 0), (old.refcounts > 0) & (refcounts == 0)
        is_new = now_live & (old.segments == 0)
        refs = RefTable(vectors, old.segments, refcounts, np.where(refcounts > 0, 0, self._generation))
        write_refs(self._connection, refs.rows(np.flatnonzero(~is_new)))
        updated = [
            replace(segment, dead=segment.dead + int((now_dead & inside).sum()) - int((now_live & inside).sum()))
            for segment in segments
            for inside in (old.segments == segment.number,)
        ]
        live_count += int(now_live.sum()) - int(now_dead.sum())
        return live_count, self._write_segments(updated, vectors[is_new], refcounts[is_new])

    def _require_counted(self, vectors: Ids, refcounts: Ids) -> None:
        """Check that the updated refcounts equal the numbers of passages."""
        query = f"SELECT vector, count(*) FROM passages WHERE vector IN {AMONG} GROUP BY vector"
        counts = dict(self._connection.execute(query, (ids_json(vectors.tolist()),)))
        for vector, refcount in zip(vectors.tolist(), refcounts.tolist(), strict=True):
            if counts.get(vector, 0) != refcount:
                raise damaged(self._file, f"the refcount of vector {vector} is inconsistent")

    def _write_segments(self, segments: Sequence[Segment], vectors: Ids, refcounts: Ids) -> tuple[Segment, ...]:
        """Write new vectors, and the live ones of the segments to merge, into new segments."""
        folder = self._file.parent
        unusable = [segment for segment in segments if not has_segment_file(folder, segment)]
        kept, merged = plan_merge(segments, len(vectors), unusable=unusable)
        merged_refs = self._read_refs(merged)
        is_live = merged_refs.refcounts > 0
        without_segment = replace(merged_refs, segments=np.zeros_like(merged_refs.segments))
        write_refs(self._connection, without_segment.rows(np.flatnonzero(~is_live)))
        ids = np.concatenate([vectors, merged_refs.vectors[is_live]])
        refcounts = np.concatenate([refcounts, merged_refs.refcounts[is_live]])
        order = np.argsort(ids)
        ids, refcounts = ids[order], refcounts[order]
        number = max((segment.number for segment in segments), default=0)
        written = []
        for start in range(0, len(ids), SEGMENT_MOST):
            chunk = slice(start, start + SEGMENT_MOST)
            number += 1
            index = build_segment(ids[chunk], self._fetch, dimension=self._dimension)
            written.append(save_segment(index, folder, number=number, generation=self._generation))
            zeros = np.zeros_like(ids[chunk])
            refs = RefTable(ids[chunk], zeros + number, refcounts[chunk], zeros)
            write_refs(self._connection, refs.rows(np.arange(len(zeros))))
        return (*kept, *written)

    def _read_refs(self, segments: Sequence[Segment]) -> RefTable:
        numbers = ids_json([segment.number for segment in segments])
        refs = read_ref_table(self._connection, self._file, f"segment IN {AMONG}", (numbers,))
        for segment in segments:
            in_segment = refs.segments == segment.number
            if (int(in_segment.sum()), int((in_segment & (refs.refcounts > 0)).sum())) != (segment.held, segment.live):
                raise damaged(self._file, f"the number of vectors in {segment.name} is inconsistent")
        return refs

    def _fetch(self, ids: Ids) -> Stored:
        return read_vectors(self._connection, self._file, ids.tolist(), self._dimension)


def plan_merge(
    segments: Sequence[Segment], new: int, *, unusable: Sequence[Segment] = ()
) -> tuple[list[Segment], list[Segment]]:
    """Return the segments to keep, and those to merge with the new vectors into new segments.

    A segment is merged if it is at most twice as large as the data written anyway, so that a vector is rewritten only
    as often as the collection grows by half, and the number of segments grows with the logarithm of its size.

    Args:
        segments: The current ones.
        new: How many vectors are in no segment yet.
        unusable: Segments whose files are missing or damaged.
    """
    merged = [segment for segment in segments if segment in unusable or _needs_rewrite(segment)]
    kept = sorted((segment for segment in segments if segment not in merged), key=lambda segment: segment.live)
    size = new + sum(segment.live for segment in merged)
    while kept and 0 < kept[0].live <= 2 * size and size + kept[0].live <= SEGMENT_MOST:
        size += kept[0].live
        merged.append(kept.pop(0))
    return sorted(kept, key=lambda segment: segment.number), merged


def _needs_rewrite(segment: Segment) -> bool:
    return segment.dead > max(_MIN_DEAD, _DEAD_SHARE * segment.held) or not segment.live
