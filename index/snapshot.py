"""The index in a folder's own files, opened for reading: one generation for as long as it is open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from corpus.errors import NoIndexError
from index.dense.exact_segments import Floats
from index.dense.scope import Scope, read_scope, scope_of
from index.dense.search import Candidate, DenseIndex
from index.lexical.bm25 import LexicalIndex
from index.protocol import Index
from index.storage.database import DATABASE, FORMAT_VERSION, open_for_reading, translate_errors
from index.storage.duplicates import read_duplicates
from index.storage.files import size_of
from index.storage.metadata import Info, SkippedRow, read_info, read_skipped
from index.storage.rows import (
    AMONG,
    StoredDocument,
    StoredPassage,
    count_documents,
    damaged,
    ids_json,
    read_document,
    read_documents,
    read_links,
    read_passages,
)
from index.storage.vectors import PassageColumns, Stored, Vectors, read_columns, read_vectors
from index.storage.wal import require_log_follows

_Row = TypeVar("_Row")
_MAX_SCOPES = 16  # cached, as many questions share them


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

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / DATABASE
        require_log_follows(self._file)
        self._inode = _inode(self._file)
        self._connection = open_for_reading(self._file)
        self._scopes: dict[frozenset[int], Scope] = {}
        try:
            with translate_errors(self._file):
                self.info = self._read_info()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def is_newest(self) -> bool:
        with translate_errors(self._file), closing(open_for_reading(self._file)) as now:
            return self._inode == _inode(self._file) and read_info(now, self._file) == self.info

    def newest(self) -> Snapshot:
        return Snapshot(self.folder)

    def load(self) -> None:
        with translate_errors(self._file):
            self._postings.load()
        self._nearest.load()

    def documents(self) -> tuple[StoredDocument, ...]:
        with translate_errors(self._file):
            documents = tuple(read_documents(self._connection, self._file))
        if len(documents) != self.info.files:
            raise damaged(self._file, "the number of documents is inconsistent")
        return documents

    def document(self, path: str) -> StoredDocument | None:
        with translate_errors(self._file):
            document = read_document(self._connection, self._file, path)
        if document is None or document.path != path:
            # Only the table itself proves that there is none: a damaged SQLite index can lack the row.
            document = next((document for document in self.documents() if document.path == path), None)
        return document

    def skipped(self) -> tuple[SkippedRow, ...]:
        with translate_errors(self._file):
            return read_skipped(self._connection, self._file, self.info.skipped)

    def _dense(self, vector: Vectors, limit: int, scope: Scope | None) -> list[Candidate]:
        return self._nearest.search(vector, limit, scope)

    def _keyword(self, terms: Mapping[str, float], limit: int, scope: Scope | None) -> Iterable[Candidate]:
        with translate_errors(self._file):
            ids, scores = self._postings.search(terms, limit, among=None if scope is None else scope.passages)
            rows = read_links(self._connection, self._file, f"id IN {AMONG}", (ids_json(ids.tolist()),))
            links = self._require_all({link.id: link for link in rows}, ids.tolist())
        if scope is not None and not all(map(scope.has, links)):
            raise damaged(self._file, "the passages of documents are inconsistent")
        return map(Candidate, links, scores.tolist())

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        with translate_errors(self._file):
            return self._postings.frequencies(terms)

    def scope(self, passages: frozenset[int]) -> Scope:
        with translate_errors(self._file):
            return scope_of(self._connection, self._file, passages)

    def columns(self, documents: frozenset[int] | None = None) -> PassageColumns:
        with translate_errors(self._file):
            columns = read_columns(self._connection, self._file, documents)
        if documents is None and len(columns.passages) != self.info.passages:
            raise damaged(self._file, "the number of passages is inconsistent")
        return columns

    def passages(self, ids: Sequence[int]) -> list[StoredPassage]:
        found = {passage.id: passage for passage in self._passages(f"p.id IN {AMONG}", ids_json(ids))}
        return self._require_all(found, ids)

    def size(self) -> int:
        return size_of(self.folder.iterdir())

    def cosines(self, vectors: Sequence[int], vector: Vectors) -> Floats:
        return self._nearest.cosines(vectors, vector)

    def vectors(self, vectors: Sequence[int]) -> Stored:
        with translate_errors(self._file):
            return read_vectors(self._connection, self._file, vectors, self.info.dimension)

    def duplicates(self, passages: Sequence[StoredPassage]) -> dict[int, tuple[StoredPassage, ...]]:
        query = f"SELECT id FROM passages WHERE text_digest IN (SELECT text_digest FROM passages WHERE id IN {AMONG})"
        known = {passage.id: passage for passage in passages}
        with translate_errors(self._file):
            # A set, as a damaged SQLite index can return a row more than once.
            ids = {number for (number,) in self._connection.execute(query, (ids_json(tuple(known)),))}
            counts = read_duplicates(self._connection, self._file, [passage.text_digest for passage in passages])
        others = self.passages(sorted(ids - known.keys())) if ids - known.keys() else []
        same: defaultdict[bytes, list[StoredPassage]] = defaultdict(list)
        for passage in sorted([*known.values(), *others], key=lambda passage: (passage.document.path, passage.start)):
            same[passage.text_digest].append(passage)
        for passage in passages:
            if passage.id not in ids or len(same[passage.text_digest]) != counts[passage.text_digest]:
                raise damaged(self._file, f"the duplicates of passage {passage.id} are inconsistent")
        return {p.id: tuple(other for other in same[p.text_digest] if other.id != p.id) for p in passages}

    def find(self, key: str) -> StoredPassage | None:
        found = next(iter(self._passages("p.key = ?", key)), None)
        if found is None or found.key != key:
            # Only the table itself proves that there is none: a damaged SQLite index can lack the row.
            with translate_errors(self._file):
                links = read_links(self._connection, self._file, "true")
                number = next((link.id for link in links if link.key == key), None)
            if number is not None or found is not None:
                raise damaged(self._file, f"passage {key} cannot be found by its key")
        return found

    def passages_of(self, path: str) -> tuple[StoredPassage, ...]:
        document = self.document(path)
        if document is None:
            return ()
        rows = self._passages("p.document = ? ORDER BY p.start, p.end", document.id)
        passages = {passage.id: passage for passage in rows if passage.document.id == document.id}
        if len(passages) != document.passages:
            raise damaged(self._file, f"the passages of document {document.id} are inconsistent")
        return tuple(passages.values())

    def _read_info(self) -> Info:
        info = read_info(self._connection, self._file)
        if info is None:
            raise NoIndexError(f"the first index in {self.folder} was never finished. Run `qa index` again.")
        if count_documents(self._connection) != (info.files, info.documents):
            raise damaged(self._file, "the number of documents is inconsistent")
        return info

    def _passages(self, condition: str, *values: object) -> Iterator[StoredPassage]:
        with translate_errors(self._file):
            yield from read_passages(self._connection, self._file, condition, values)

    def _require_all(self, found: Mapping[int, _Row], ids: Sequence[int]) -> list[_Row]:
        missing = [number for number in ids if number not in found]
        if missing:
            raise damaged(self._file, f"passage {missing[0]} is missing")
        return [found[number] for number in ids]

    def _scope_of(self, documents: frozenset[int]) -> Scope:
        scope = self._scopes.get(documents)
        if scope is None:
            size = sum(document.passages for document in self.documents() if document.id in documents)
            with translate_errors(self._file):
                scope = read_scope(self._connection, self._file, documents, size)
            if len(self._scopes) >= _MAX_SCOPES:
                self._scopes.clear()
            self._scopes[documents] = scope
        return scope

    @cached_property
    def _postings(self) -> LexicalIndex:
        return LexicalIndex(self._connection, self._file, self.info.passages)

    @cached_property
    def _nearest(self) -> DenseIndex:
        return DenseIndex(self._connection, self._file, self.info)


def _inode(file: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        status = file.stat()
        return status.st_dev, status.st_ino
    return None
