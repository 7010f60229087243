"""Bring the places of vectors and the FAISS files in line with the passages, inside the transaction of a commit."""

# ruff: noqa: S608 - statements are put together from names in this package; values are bound

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from index.dense.faiss_segments import SEGMENT_MOST, Ids, Stored, build, is_there, save
from index.dense.merge_policy import plan_merge
from index.dense.vector_refs import RefTable, VectorRef, read_ref_table, ref_table_of, write_refs
from index.dense.vector_rows import read_vectors
from index.storage.metadata import Segment
from index.storage.rows import AMONG, damaged, ids_json


@dataclass(frozen=True, slots=True)
class SegmentState:
    """How the vectors stand after a commit.

    Attributes:
        vectors: How many are in use.
        segments: The FAISS files that hold them.
    """

    vectors: int
    segments: tuple[Segment, ...]


class SegmentWriter:
    """One commit's change of what passages refer to which vectors.

    Args:
        connection: In the transaction.
        file: The database; the FAISS files go beside it.
        generation: The one that is being made.
        dimension: Length of the vectors.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path, *, generation: int, dimension: int) -> None:
        self._connection = connection
        self._file = file
        self._generation = generation
        self._dimension = dimension

    def update(self, before: SegmentState, *, added: Ids, removed: Ids) -> SegmentState:
        """Write down what changed, and put vectors that are in no FAISS file into one.

        Args:
            before: How they stood.
            added: The vector of each passage that was written.
            removed: The vector of each passage that was taken out.

        Raises:
            DamagedIndexError: What is written down of a vector does not fit.
        """
        vectors, turn = np.unique(np.concatenate([added, removed]), return_inverse=True)
        change = np.zeros(len(vectors), dtype=np.int64)
        np.add.at(change, turn, np.repeat((1, -1), (len(added), len(removed))))
        old = ref_table_of(self._connection, self._file, vectors)
        uses = old.refcounts + change
        self._require_counted(vectors, uses)
        appeared, vanished = (old.refcounts == 0) & (uses > 0), (old.refcounts > 0) & (uses == 0)
        new = appeared & (old.segments == 0)
        used = np.where(uses > 0, 0, self._generation)
        table = RefTable(vectors, old.segments, uses, used)
        self._write(table, np.flatnonzero(~new))
        segments = [
            replace(one, dead=one.dead + _held_by(one, old, vanished) - _held_by(one, old, appeared))
            for one in before.segments
        ]
        count = before.vectors + int(appeared.sum()) - int(vanished.sum())
        return SegmentState(
            count, self._placed(segments, RefTable(vectors[new], old.segments[new], uses[new], used[new]))
        )

    def _require_counted(self, vectors: Ids, uses: Ids) -> None:
        """A count that only follows the changes must be what there is."""
        query = f"SELECT vector, count(*) FROM passages WHERE vector IN {AMONG} GROUP BY vector"
        counted = dict(self._connection.execute(query, (ids_json(vectors.tolist()),)))
        for vector, number in zip(vectors.tolist(), uses.tolist(), strict=True):
            if counted.get(vector, 0) != number:
                raise damaged(self._file, f"the refcount of vector {vector} is inconsistent")

    def _placed(self, segments: Sequence[Segment], new: RefTable) -> tuple[Segment, ...]:
        folder = self._file.parent
        plan = plan_merge(segments, len(new.vectors), lost=[one for one in segments if not is_there(folder, one)])
        held = self._members(plan.merged)
        live = held.refcounts > 0
        self._write(
            RefTable(held.vectors, np.zeros_like(held.segments), held.refcounts, held.unused_since),
            np.flatnonzero(~live),
        )
        ids = np.concatenate([new.vectors, held.vectors[live]])
        uses = np.concatenate([new.refcounts, held.refcounts[live]])
        order = np.argsort(ids)
        ids, uses = ids[order], uses[order]
        number = max((one.number for one in segments), default=0)
        written = []
        for start in range(0, len(ids), SEGMENT_MOST):
            part = slice(start, start + SEGMENT_MOST)
            number += 1
            index = build(ids[part], self._fetch, dimension=self._dimension)
            written.append(save(index, folder, number=number, generation=self._generation))
            zeros = np.zeros(len(ids[part]), dtype=np.int64)
            self._write(RefTable(ids[part], zeros + number, uses[part], zeros), np.arange(len(zeros)))
        return (*plan.kept, *written)

    def _members(self, segments: Sequence[Segment]) -> RefTable:
        numbers = ids_json([one.number for one in segments])
        table = read_ref_table(self._connection, self._file, f"segment IN {AMONG}", (numbers,))
        for one in segments:
            inside = table.segments == one.number
            if (int(inside.sum()), int((inside & (table.refcounts > 0)).sum())) != (one.held, one.live):
                raise damaged(self._file, f"the number of vectors in {one.name} is inconsistent")
        return table

    def _fetch(self, wanted: Ids) -> Stored:
        return read_vectors(self._connection, self._file, wanted.tolist(), self._dimension)

    def _write(self, table: RefTable, rows: Ids) -> None:
        columns = (table.vectors, table.segments, table.refcounts, table.unused_since)
        write_refs(self._connection, map(VectorRef, *(column[rows].tolist() for column in columns)))


def _held_by(segment: Segment, table: RefTable, which: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    return int((which & (table.segments == segment.number)).sum())
