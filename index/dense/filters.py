"""The passages and vectors of the documents that a path pattern selects."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from index.dense.faiss_segments import Ids
from index.storage.rows import AMONG, damaged, ids_json, read_links

# With so few passages each is compared, instead of searching among all.
_FEW = 20_000


@dataclass(frozen=True, slots=True)
class Scope:
    """Documents to search."""

    documents: frozenset[int]  # their row numbers
    passages: Ids  # row numbers of their passages
    vectors: Ids | None  # row numbers of their vectors; None if they are many


def read_scope(connection: sqlite3.Connection, file: Path, documents: frozenset[int], size: int) -> Scope:
    """Look up the passages of documents, which must be `size`."""
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
    if len(passages) != size or len(np.unique(passages)) != size:
        raise damaged(file, "the number of passages of documents is inconsistent")
    return Scope(documents, passages, vectors)
