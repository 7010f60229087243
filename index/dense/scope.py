"""The part of a collection to search: documents that a path pattern selects, or the passages of a topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from index.storage.rows import Link
from index.storage.vectors import Ids

_SMALL_SCOPE = 20_000


@dataclass(frozen=True, slots=True)
class Scope:
    """The passages to search, by row id."""

    documents: frozenset[int]
    passages: Ids
    vectors: Ids | None  # None if they are not known
    only: frozenset[int] | None = None  # the passages again, if their documents have others

    def contains(self, link: Link) -> bool:
        """Return whether a passage is in the scope."""
        return link.document in self.documents and (self.only is None or link.id in self.only)


# Limits a search to documents, by row id, or to a scope; None for all.
Among = frozenset[int] | Scope | None


def is_small_scope(passages: int) -> bool:
    """Return whether a scope of so many passages is compared passage by passage, without searching the segments."""
    return passages <= _SMALL_SCOPE


def scope_of(links: Sequence[Link], documents: frozenset[int], only: frozenset[int] | None = None) -> Scope:
    """Return the scope of all passages of documents, or of `only` some of them, from their links."""
    passages = np.array(sorted(link.id for link in links), dtype=np.int64)
    return Scope(documents, passages, np.unique(np.array([link.vector for link in links], dtype=np.int64)), only)
