"""The part of a collection to search: documents that a path pattern selects, or the passages of a topic."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corpus.errors import UsageError
from index.storage.rows import AMONG, Link, StoredDocument, damaged, ids_json, read_links
from index.storage.vectors import Ids

# Up to this many passages, each is compared, instead of searching all segments.
_FEW = 20_000


@dataclass(frozen=True, slots=True)
class Scope:
    """What to search, as row numbers."""

    documents: frozenset[int]
    passages: Ids
    vectors: Ids | None  # None if they are many
    only: frozenset[int] | None = None  # the passages again, if their documents have others

    def has(self, link: Link) -> bool:
        """Return whether a passage is in it."""
        return link.document in self.documents and (self.only is None or link.id in self.only)


# What to search: documents by row id, or passages; None for all.
Among = frozenset[int] | Scope | None


def documents_matching(documents: Iterable[StoredDocument], patterns: Sequence[str]) -> frozenset[int]:
    """Return row numbers of documents whose paths match a .gitignore pattern; UsageError for an invalid one.

    A leading "./", as shells complete it, stands for the folder of the collection.
    """
    from pathspec import GitIgnoreSpec

    try:
        rules = GitIgnoreSpec.from_lines(re.sub(r"^(!?)(?:\./+)+", r"\1/", pattern) for pattern in patterns)
    except ValueError as error:
        raise UsageError(f"the path pattern {' '.join(map(repr, patterns))} cannot be read: {error}") from error
    return frozenset(document.id for document in documents if rules.match_file(document.path))


def read_scope(connection: sqlite3.Connection, file: Path, documents: frozenset[int], size: int) -> Scope:
    """Look up the passages of documents, of which there must be `size`."""
    among = (ids_json(tuple(documents)),)
    vectors = None
    if size <= _FEW:
        links = list(read_links(connection, file, f"document IN {AMONG}", among))
        if any(link.document not in documents for link in links):
            raise damaged(file, "the passages of documents are inconsistent")
        passages = np.array([link.id for link in links], dtype=np.int64)
        vectors = np.unique(np.array([link.vector for link in links], dtype=np.int64))
    else:
        rows = connection.execute(f"SELECT id FROM passages WHERE document IN {AMONG}", among).fetchall()
        passages = np.array(rows, dtype=np.int64).reshape(-1)
    _require(len(passages) == size and len(np.unique(passages)) == size, file)
    return Scope(documents, passages, vectors)


def scope_of(connection: sqlite3.Connection, file: Path, passages: frozenset[int]) -> Scope:
    """Look up passages by row id."""
    links = list(read_links(connection, file, f"id IN {AMONG}", (ids_json(tuple(passages)),)))
    _require(len(links) == len(passages) and {link.id for link in links} == passages, file)
    vectors = np.unique(np.array([link.vector for link in links], dtype=np.int64))
    ids = np.array(sorted(passages), dtype=np.int64)
    documents = frozenset(link.document for link in links)
    return Scope(documents, ids, vectors if len(links) <= _FEW else None, passages)


def _require(consistent: bool, file: Path) -> None:  # noqa: FBT001
    if not consistent:
        raise damaged(file, "the number of passages of documents is inconsistent")
