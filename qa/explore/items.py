"""The items that are grouped: single passages, or whole documents and records; read in batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from index import Among, Index, PassageColumns, Scope, StoredPassage, Vectors
from qa.explore.clusters import Labels, spread, unit_rows
from qa.explore.similar import group_of

PASSAGES, DOCUMENTS = "passages", "documents"
# How many passages' vectors are in memory at once.
_BATCH = 16_384
# How many items clusters are learned from: 400 for each of 50 clusters.
_LEARNED_FROM = 20_000


def columns_of(snapshot: Index, among: Among) -> PassageColumns:
    """Return the row numbers of all passages, or of those in some documents or in a scope."""
    if not isinstance(among, Scope):
        return snapshot.columns(among)
    columns = snapshot.columns(among.documents)
    inside = np.isin(columns.passages, among.passages)
    return PassageColumns(*(column[inside] for column in columns))


def _texts(snapshot: Index, columns: PassageColumns) -> PassageColumns:
    """Return passages without front matter, which is alike in all notes, unless a document has nothing else."""
    with_metadata = [document.id for document in snapshot.documents() if document.metadata != "[]"]
    same = columns.documents[1:] == columns.documents[:-1]
    # Only a document's first passage can be front matter, and its only passage is kept.
    is_first = ~np.append(False, same) & np.append(same, False)
    places = np.flatnonzero(is_first & np.isin(columns.documents, with_metadata))
    left_out = [place for place, passage in _read(snapshot, columns, places) if passage.is_front_matter]
    return PassageColumns(*(np.delete(column, left_out) for column in columns))


def _read(snapshot: Index, columns: PassageColumns, places: Labels) -> Iterator[tuple[int, StoredPassage]]:
    """Yield the passages at some places of columns, read in batches."""
    for at in range(0, len(places), _BATCH):
        chunk = places[at : at + _BATCH]
        yield from zip(chunk.tolist(), snapshot.passages(columns.passages[chunk].tolist()), strict=True)


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a collection.

    Attributes:
        unit: What an item is: passages or documents.
        passages: `(n,)`, row numbers of all passages, in order of documents and text.
        vectors: `(n,)`, row numbers of their vectors.
        of: `(n,)`, the item of each passage, ascending from 0.
        count: How many items there are.
    """

    unit: str
    passages: Labels
    vectors: Labels
    of: Labels
    count: int

    @classmethod
    def read(cls, snapshot: Index, unit: str, among: Among = None) -> Items:
        """Read the items of all documents, or of some documents or passages."""
        columns = _texts(snapshot, columns_of(snapshot, among))
        size = len(columns.passages)
        if unit == PASSAGES:
            return cls(unit, columns.passages, columns.vectors, np.arange(size), size)
        borders = np.diff(columns.documents, prepend=-1) != 0
        with_records = [document.id for document in snapshot.documents() if document.records]
        last = None
        for place, passage in _read(snapshot, columns, np.flatnonzero(np.isin(columns.documents, with_records))):
            borders[place], last = group_of(passage) != last, group_of(passage)
        of = np.cumsum(borders) - 1
        return cls(unit, columns.passages, columns.vectors, of, int(of[-1]) + 1 if size else 0)

    @property
    def heads(self) -> Labels:
        """The index of each item's first passage."""
        return np.flatnonzero(np.diff(self.of, prepend=-1))

    def among(self, chosen: Labels) -> Items:
        """Return some of the items, by their numbers, ascending."""
        inside = np.isin(self.of, chosen)
        of = np.searchsorted(chosen, self.of[inside])
        return Items(self.unit, self.passages[inside], self.vectors[inside], of, len(chosen))

    def sample(self, snapshot: Index) -> Vectors:
        """Return the vectors of items evenly spread over the collection: `(n, dim) float32`, unit L2 norm."""
        places = np.flatnonzero(np.isin(self.of, spread(self.count, _LEARNED_FROM)))
        parts = [means for _, _, means in self.batches(snapshot, places)]
        return np.concatenate([np.empty((0, snapshot.info.dimension), dtype=np.float32), *parts])

    def batches(self, snapshot: Index, places: Labels | None = None) -> Iterator[tuple[Labels, Vectors, Vectors]]:
        """Yield batches of whole items: the places of their passages, and the unit vectors of passages and of items."""
        places = np.arange(len(self.of)) if places is None else places
        of = self.of[places]
        start = 0
        while start < len(places):
            end = min(start + _BATCH, len(places))
            if end < len(places) and of[end] == of[end - 1]:
                item_start = int(np.searchsorted(of, of[end]))
                # An item larger than a batch is read whole.
                end = item_start if item_start > start else int(np.searchsorted(of, of[end], side="right"))
            chunk = places[start:end]
            vectors = unit_rows(snapshot.vectors(self.vectors[chunk].tolist()).astype(np.float32))
            firsts = np.flatnonzero(np.diff(of[start:end], prepend=-1))
            means = vectors if self.unit == PASSAGES else unit_rows(np.add.reduceat(vectors, firsts, axis=0))
            yield chunk, vectors, means
            start = end
