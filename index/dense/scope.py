"""The part of a collection to search: documents that a path pattern selects, or the passages of a topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from index.storage.rows import Link
from index.storage.vectors import Ids

_FEW = 20_000


@dataclass(frozen=True, slots=True)
class Scope:
    """What to search, as row numbers."""

    documents: frozenset[int]
    passages: Ids
    vectors: Ids | None  # None if they are not known
    only: frozenset[int] | None = None  # the passages again, if their documents have others

    def has(self, link: Link) -> bool:
        """Return whether a passage is in it."""
        return link.document in self.documents and (self.only is None or link.id in self.only)


# What to search: documents by row id, or passages; None for all.
Among = frozenset[int] | Scope | None


def are_few(passages: int) -> bool:
    """Return whether so many passages are each compared, instead of searching all segments."""
    return passages <= _FEW


def scope_of(links: Sequence[Link], documents: frozenset[int], only: frozenset[int] | None = None) -> Scope:
    """Return the scope of all passages of documents, or of `only` some of them, given their links."""
    passages = np.array(sorted(link.id for link in links), dtype=np.int64)
    return Scope(documents, passages, np.unique(np.array([link.vector for link in links], dtype=np.int64)), only)
