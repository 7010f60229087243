"""The items that are grouped: single passages, or whole documents and records; read in batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from index import Among, Index, PassageColumns, Scope, StoredPassage, Vectors
from qa.explore.clusters import Labels, evenly_spaced, unit_rows

PASSAGES, DOCUMENTS = "passages", "documents"
# The vectors of this many passages are in memory at once.
_BATCH = 16_384
# Clusters are found from at most this many items: 400 for each of 50 clusters.
_SAMPLE_ITEMS = 20_000


def columns_of(snapshot: Index, among: Among) -> PassageColumns:
    """Return the row numbers of all passages, or of those in some documents or in a scope."""
    if not isinstance(among, Scope):
        return snapshot.columns(among)
    columns = snapshot.columns(among.documents)
    inside = np.isin(columns.passages, among.passages)
    return PassageColumns(*(column[inside] for column in columns))


def _without_front_matter(snapshot: Index, columns: PassageColumns) -> PassageColumns:
    """Return passages without front matter, which is alike in all notes, unless a document has nothing else."""
    with_metadata = [document.id for document in snapshot.documents() if document.metadata != "[]"]
    same = columns.documents[1:] == columns.documents[:-1]
    # Only a document's first passage can be front matter, and its only passage is kept.
    is_first = ~np.append(False, same) & np.append(same, False)
    positions = np.flatnonzero(is_first & np.isin(columns.documents, with_metadata))
    front_matter = [at for at, passage in _read_passages(snapshot, columns, positions) if passage.is_front_matter]
    return PassageColumns(*(np.delete(column, front_matter) for column in columns))


def _read_passages(snapshot: Index, columns: PassageColumns, positions: Labels) -> Iterator[tuple[int, StoredPassage]]:
    """Yield positions in columns with their passages, read in batches."""
    for at in range(0, len(positions), _BATCH):
        chunk = positions[at : at + _BATCH]
        yield from zip(chunk.tolist(), snapshot.passages(columns.passages[chunk].tolist()), strict=True)


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a collection.

    Attributes:
        unit: What an item is: passages or documents.
        passages: `(n,)`, row numbers of all passages, in order of documents and text.
        vectors: `(n,)`, row numbers of their vectors.
        item_numbers: `(n,)`, the item of each passage, ascending from 0.
        count: How many items there are.
    """

    unit: str
    passages: Labels
    vectors: Labels
    item_numbers: Labels
    count: int

    @classmethod
    def read(cls, snapshot: Index, unit: str, among: Among = None) -> Items:
        """Read the items of all documents, or of some documents or passages."""
        columns = _without_front_matter(snapshot, columns_of(snapshot, among))
        size = len(columns.passages)
        if unit == PASSAGES:
            return cls(unit, columns.passages, columns.vectors, np.arange(size), size)
        is_item_start = np.diff(columns.documents, prepend=-1) != 0
        with_records = [document.id for document in snapshot.documents() if document.records]
        last = None
        for at, passage in _read_passages(snapshot, columns, np.flatnonzero(np.isin(columns.documents, with_records))):
            is_item_start[at], last = passage.item != last, passage.item
        item_numbers = np.cumsum(is_item_start) - 1
        return cls(unit, columns.passages, columns.vectors, item_numbers, int(item_numbers[-1]) + 1 if size else 0)

    @property
    def first_passages(self) -> Labels:
        """The index of each item's first passage."""
        return np.flatnonzero(np.diff(self.item_numbers, prepend=-1))

    def subset(self, chosen: Labels) -> Items:
        """Return some of the items, by their numbers, ascending."""
        inside = np.isin(self.item_numbers, chosen)
        item_numbers = np.searchsorted(chosen, self.item_numbers[inside])
        return Items(self.unit, self.passages[inside], self.vectors[inside], item_numbers, len(chosen))

    def sample(self, snapshot: Index) -> Vectors:
        """Return the vectors of items evenly spread over the collection: `(n, dim) float32`, unit L2 norm."""
        positions = np.flatnonzero(np.isin(self.item_numbers, evenly_spaced(self.count, _SAMPLE_ITEMS)))
        parts = [means for _, _, means in self.batches(snapshot, positions)]
        return np.concatenate([np.empty((0, snapshot.info.dimension), dtype=np.float32), *parts])

    def batches(self, snapshot: Index, positions: Labels | None = None) -> Iterator[tuple[Labels, Vectors, Vectors]]:
        """Yield batches of whole items: the positions of their passages, and the unit vectors of both."""
        positions = np.arange(len(self.item_numbers)) if positions is None else positions
        numbers = self.item_numbers[positions]
        start = 0
        while start < len(positions):
            end = min(start + _BATCH, len(positions))
            if end < len(positions) and numbers[end] == numbers[end - 1]:
                item_start = int(np.searchsorted(numbers, numbers[end]))
                # An item larger than a batch is read whole.
                end = item_start if item_start > start else int(np.searchsorted(numbers, numbers[end], side="right"))
            chunk = positions[start:end]
            vectors = unit_rows(snapshot.vectors(self.vectors[chunk].tolist()).astype(np.float32))
            firsts = np.flatnonzero(np.diff(numbers[start:end], prepend=-1))
            means = vectors if self.unit == PASSAGES else unit_rows(np.add.reduceat(vectors, firsts, axis=0))
            yield chunk, vectors, means
            start = end
