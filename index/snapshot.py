"""The index in a folder's own files, opened for reading."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from corpus.errors import CorpusError
from index.dense.exact_segments import Floats
from index.dense.scope import Scope, is_small_scope
from index.dense.search import Candidate, DenseIndex
from index.lexical.bm25 import LexicalIndex
from index.protocol import Index
from index.storage.database import DATABASE, FORMAT_VERSION, open_for_reading, translate_errors, unfinished
from index.storage.duplicates import read_duplicates
from index.storage.metadata import SkippedRow, read_info, read_skipped
from index.storage.rows import (
    AMONG,
    DOCUMENT,
    FILE_STAT,
    FileStat,
    Link,
    StoredDocument,
    StoredPassage,
    count_documents,
    damaged,
    ids_json,
    parse_document,
    parse_file_stats,
    read_documents,
    read_links,
    read_passages,
    require_all,
)
from index.storage.vectors import Stored, Vectors, read_vectors
from index.storage.wal import require_log_follows


class Snapshot(Index):
    """One generation of an index in its folder's own files, unaffected by later commits.

    Args:
        folder: The index folder, `.qa`.

    Raises:
        NoIndexError: There is no index, or the first build was never finished.
        IncompatibleError: It has another format version.
        DamagedIndexError: It is damaged.
    """

    format = FORMAT_VERSION
    # Whether it should be replaced even if there is no newer generation, as the log grows while it is open.
    is_outdated = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = self._place = folder / DATABASE
        require_log_follows(self._file)
        self._inode = _inode(self._file)
        self._connection = open_for_reading(self._file)
        try:
            with translate_errors(self._file):
                info = read_info(self._connection, self._file)
                if info is None:
                    raise unfinished(self._file)
                if count_documents(self._connection) != (info.files, info.documents):
                    raise damaged(self._file, "the number of documents is inconsistent")
                self.info = info
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def is_newest(self) -> bool:
        if not self.folder.parent.exists():
            raise CorpusError(f"{self.folder.parent} no longer exists: deleted, renamed or unmounted.")
        with translate_errors(self._file), closing(open_for_reading(self._file)) as connection:
            is_same = self._inode == _inode(self._file) and read_info(connection, self._file) == self.info
            return is_same and not self.is_outdated

    def newest(self) -> Snapshot:
        return Snapshot(self.folder)

    def load(self) -> None:
        with translate_errors(self._file):
            self._lexical_index.load()
        self._dense_index.load()

    def documents(self) -> tuple[StoredDocument, ...]:
        with translate_errors(self._file):
            documents = tuple(read_documents(self._connection, self._file))
        if len(documents) != self.info.files:
            raise damaged(self._file, "the number of documents is inconsistent")
        return documents

    def file_stats(self) -> dict[str, FileStat]:
        with translate_errors(self._file):
            rows = self._connection.execute(f"SELECT {FILE_STAT} FROM documents d NOT INDEXED")
            return parse_file_stats(rows, self.info.files, self._file)

    def document(self, path: str) -> StoredDocument | None:
        with translate_errors(self._file):
            row = self._connection.execute(f"SELECT {DOCUMENT} FROM documents d WHERE d.path = ?", (path,)).fetchone()
        if row is not None and (document := parse_document(row, self._file)).path == path:
            return document
        # Only the table itself proves that there is none: a damaged SQLite index can lack the row.
        return next((document for document in self.documents() if document.path == path), None)

    def skipped(self) -> tuple[SkippedRow, ...]:
        with translate_errors(self._file):
            return read_skipped(self._connection, self._file, self.info.skipped)

    def _dense(self, vector: Vectors, limit: int, scope: Scope | None) -> list[Candidate]:
        return self._dense_index.search(vector, limit, scope)

    def _keyword(self, terms: Mapping[str, float], limit: int, scope: Scope | None) -> Iterable[Candidate]:
        with translate_errors(self._file):
            ids, scores = self._lexical_index.search(terms, limit, among=None if scope is None else scope.passages)
        rows = self._links(*self._id_condition("id", ids.tolist()))
        links = require_all({link.id: link for link in rows}, ids.tolist(), "passage", self._file)
        if scope is not None and not all(map(scope.contains, links)):
            raise damaged(self._file, "the passages of documents are inconsistent")
        return map(Candidate, links, scores.tolist())

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        with translate_errors(self._file):
            return self._lexical_index.frequencies(terms)

    def size(self) -> int:
        total = 0
        for file in self.folder.iterdir():
            with suppress(OSError):  # it was deleted meanwhile
                total += file.stat().st_size
        return total

    def cosines(self, vectors: Sequence[int], vector: Vectors) -> Floats:
        return self._dense_index.cosines(vectors, vector)

    def vectors(self, vectors: Sequence[int]) -> Stored:
        with translate_errors(self._file):
            return read_vectors(self._connection, self._file, vectors, self.info.dimension)

    def duplicates(self, passages: Sequence[StoredPassage]) -> dict[int, tuple[StoredPassage, ...]]:
        duplicates = super().duplicates(passages)
        with translate_errors(self._file):
            counts = read_duplicates(self._connection, self._file, [passage.text_digest for passage in passages])
        for passage in passages:
            if len(duplicates[passage.id]) + 1 != counts[passage.text_digest]:
                raise damaged(self._file, f"the duplicates of passage {passage.id} are inconsistent")
        return duplicates

    def _links_with_texts_of(self, passages: Sequence[StoredPassage]) -> Iterator[Link]:
        condition = f"p.text_digest IN (SELECT text_digest FROM passages WHERE id IN {AMONG})"
        return self._links(condition, ids_json([passage.id for passage in passages]))

    def find(self, key: str) -> StoredPassage | None:
        passage = next(self._passages("p.key = ?", key), None)
        # Only the table itself proves that there is none: a damaged SQLite index can lack the row.
        if passage.key != key if passage is not None else any(link.key == key for link in self._links("true")):
            raise damaged(self._file, f"passage {key} cannot be found by its key")
        return passage

    def _passages(self, condition: str, *values: object) -> Iterator[StoredPassage]:
        with translate_errors(self._file):
            yield from read_passages(self._connection, self._file, condition, values)

    def _links(self, condition: str, *values: object) -> Iterator[Link]:
        with translate_errors(self._file):
            yield from read_links(self._connection, self._file, condition, values)

    def _passages_ending(self, document: int, ranges: Sequence[tuple[int, int]]) -> Iterator[StoredPassage]:
        condition = " OR ".join(["p.end BETWEEN ? AND ?"] * len(ranges))
        return self._passages(f"p.document = ? AND ({condition})", document, *chain.from_iterable(ranges))

    def _id_condition(self, column: str, ids: Collection[int]) -> tuple[str, str]:
        return f"p.{column} IN {AMONG}", ids_json(ids)

    def _read_scope(self, documents: frozenset[int]) -> Scope:
        size = sum(document.passages for document in self.documents() if document.id in documents)
        if is_small_scope(size):
            scope = super()._read_scope(documents)
        else:
            query = f"SELECT id FROM passages WHERE document IN {AMONG}"
            with translate_errors(self._file):
                rows = self._connection.execute(query, (ids_json(documents),)).fetchall()
            scope = Scope(documents, np.array(rows, dtype=np.int64).reshape(-1), vectors=None)
        if not len(scope.passages) == len(np.unique(scope.passages)) == size:
            raise damaged(self._file, "the number of passages of documents is inconsistent")
        return scope

    @cached_property
    def _lexical_index(self) -> LexicalIndex:
        return LexicalIndex(self._connection, self._file, self.info.passages)

    @cached_property
    def _dense_index(self) -> DenseIndex:
        return DenseIndex(self._connection, self._file, self.info)


def _inode(file: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        stat = file.stat()
        return stat.st_dev, stat.st_ino
    return None
