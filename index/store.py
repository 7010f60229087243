"""The writing side: embeddings as they come, and the one transaction that makes a new generation."""

# ruff: noqa: S608 - statements are put together from names in this package; values are bound

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import numpy as np

from corpus.errors import ModelError
from corpus.paths import path_words
from corpus.types import Passage

from .changes import Change, Entry, Extent, Maker, Seen
from .encoder import Vectors
from .records import (
    AMONG,
    Info,
    Left,
    StoredDocument,
    StoredPassage,
    VectorsFile,
    damaged,
    ids_json,
    passage_key,
    read_documents,
    read_info,
    read_left,
    read_passages,
    read_vectors,
    text_digest,
    vector_checksum,
    write_info,
    write_left,
)
from .schema import DATABASE, checksum, open_for_writing, seam
from .vectors import Ids, VectorIndex, delete_others

_LOG = logging.getLogger(__name__)

# Vectors that no passage refers to any more are kept for undo, up to this many or as many as are in use.
SPARE_VECTORS = 10_000


class Store:
    """The index opened for writing; the caller holds the writer lock.

    Args:
        folder: The index folder, `.qa`.

    Raises:
        IncompatibleError: Written by another format version.
        DamagedIndexError: It cannot be read.
        StorageError: The disk refused.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / DATABASE
        self._connection = open_for_writing(self._file)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with seam(self._file):
            self._connection.close()

    def info(self) -> Info | None:
        """What the current generation is made of, or None before the first."""
        with seam(self._file):
            return read_info(self._connection, self._file)

    def documents(self) -> dict[str, StoredDocument]:
        """All documents by path."""
        with seam(self._file):
            return {document.path: document for document in read_documents(self._connection, self._file)}

    def skipped(self) -> tuple[Left, ...]:
        """What was left out, by path."""
        with seam(self._file):
            return read_left(self._connection)

    def known(self, digests: Iterable[bytes]) -> frozenset[bytes]:
        """Those of the digests whose vectors are stored and undamaged."""
        found = set()
        with seam(self._file):
            for digest in digests:
                row = self._connection.execute(
                    "SELECT vector, checksum FROM vectors WHERE digest = ?", (digest,)
                ).fetchone()
                if row is not None and vector_checksum(digest, row[0]) == row[1]:
                    found.add(digest)
        return frozenset(found)

    def add_vectors(self, digests: Sequence[bytes], vectors: Vectors) -> None:
        """Keep embeddings at once, so that an interrupted build loses none; the generation stays the same.

        Raises:
            ModelError: The encoder gave something that is no vector.
        """
        if not np.isfinite(vectors).all():
            raise ModelError("the model gave a vector that is not finite. Choose another model.")
        rows = []
        used = self._next_generation()
        for digest, vector in zip(digests, vectors, strict=True):
            data = vector.astype("<f4").tobytes()
            rows.append((digest, data, used, vector_checksum(digest, data)))
        with self._transaction():
            self._connection.executemany(
                "INSERT INTO vectors (digest, vector, used, checksum) VALUES (?, ?, ?, ?) ON CONFLICT (digest) "
                "DO UPDATE SET vector = excluded.vector, used = excluded.used, checksum = excluded.checksum",
                rows,
            )

    def adopt_vectors(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Take over digests and vectors of another database, those known already left as they are."""
        used = self._next_generation()
        with self._transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO vectors (digest, vector, used, checksum) VALUES (?, ?, ?, ?)",
                [(digest, data, used, vector_checksum(digest, data)) for digest, data in rows],
            )

    def require_intact(self) -> None:
        """Check the structure of the whole database, which reading single rows does not.

        Raises:
            DamagedIndexError: SQLite finds a fault.
        """
        with seam(self._file):
            (verdict,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise damaged(self._file, f"the database ({verdict})")

    def note(self, seen: Sequence[Seen], left: Sequence[Left]) -> None:
        """Remember what was looked at; the generation stays the same."""
        with self._transaction():
            self._note(seen, left)

    def commit(self, change: Change, maker: Maker, *, seen: Sequence[Seen], left: Sequence[Left]) -> Info:
        """Make the next generation; after a crash at any moment there is the old one or the new one.

        Raises:
            DamagedIndexError: A row to be replaced does not hold what was written.
            StorageError: The disk refused; the old generation stands.
        """
        with seam(self._file):
            before = read_info(self._connection, self._file)
        with self._transaction():
            generation = self._next_generation()
            if change.extent is Extent.ALL:
                self._clear(change.kept, generation)
            else:
                self._remove(change.removed | {entry.path for entry in change.entries}, generation)
            for entry in change.entries:
                self._insert(entry)
            self._note(seen, left)
            self._prune()
            vectors_file = self._save_vectors(before, generation, maker.dimension)
            info = self._info(maker, generation, vectors_file)
            write_info(self._connection, info)
        delete_others(self._folder, vectors_file.name)
        return info

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with seam(self._file):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite itself rolls back after some errors, such as a full disk.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _next_generation(self) -> int:
        with seam(self._file):
            info = read_info(self._connection, self._file)
        return 1 if info is None else info.generation + 1

    def _clear(self, kept: frozenset[str], generation: int) -> None:
        """Empty everything but some documents, whose words are entered again."""
        self._connection.execute("INSERT INTO terms (terms) VALUES ('delete-all')")
        ids = [document for document, path in self._paths() if path in kept]
        self._connection.execute(
            f"UPDATE vectors SET used = ? WHERE id IN (SELECT vector FROM passages WHERE document NOT IN {AMONG})",
            (generation, ids_json(ids)),
        )
        for table, column in (("passages", "document"), ("documents", "id")):
            self._connection.execute(f"DELETE FROM {table} WHERE {column} NOT IN {AMONG}", (ids_json(ids),))
        for passage in self._passages(ids):
            self._enter_words(passage.id, _words(passage.document.path, passage.title, passage))

    def _remove(self, paths: frozenset[str] | set[str], generation: int) -> None:
        ids = [document for document, path in self._paths() if path in paths]
        if not ids:
            return
        for passage in self._passages(ids):
            # A contentless index forgets a row only if told exactly what it was given.
            self._connection.execute(
                "INSERT INTO terms (terms, rowid, title, heading, text, path) VALUES ('delete', ?, ?, ?, ?, ?)",
                (passage.id, *_words(passage.document.path, passage.title, passage)),
            )
        chosen = (ids_json(ids),)
        self._connection.execute(
            f"UPDATE vectors SET used = ? WHERE id IN (SELECT vector FROM passages WHERE document IN {AMONG})",
            (generation, *chosen),
        )
        self._connection.execute(f"DELETE FROM passages WHERE document IN {AMONG}", chosen)
        self._connection.execute(f"DELETE FROM documents WHERE id IN {AMONG}", chosen)

    def _paths(self) -> list[tuple[int, str]]:
        return self._connection.execute("SELECT id, path FROM documents").fetchall()

    def _passages(self, documents: Sequence[int]) -> list[StoredPassage]:
        found = read_passages(self._connection, self._file, f"p.document IN {AMONG}", (ids_json(documents),))
        return list(found)

    def _insert(self, entry: Entry) -> None:
        fields = (entry.path, entry.sha256, entry.size, entry.mtime_ns, entry.checked_ns, entry.media_type, entry.title)
        (document,) = self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM documents").fetchone()
        self._connection.execute(
            "INSERT INTO documents (id, path, sha256, size, mtime_ns, checked_ns, media_type, title, checksum) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (document, *fields, checksum(document, *fields)),
        )
        for passage, digest in zip(entry.passages, entry.digests, strict=True):
            self._insert_passage(document, entry.path, passage, digest)
            number = self._connection.execute("SELECT last_insert_rowid()").fetchone()[0]
            self._enter_words(number, _words(entry.path, entry.title, passage))

    def _insert_passage(self, document: int, path: str, passage: Passage, digest: bytes) -> None:
        (vector,) = self._connection.execute("SELECT id FROM vectors WHERE digest = ?", (digest,)).fetchone()
        (number,) = self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM passages").fetchone()
        same = text_digest(passage.text)
        fields = (
            number,
            passage_key(path, passage.start, passage.end, same),
            passage.start,
            passage.end,
            passage.body,
            *passage.lines,
            None,  # a page, once a reader of paged documents gives one
            json.dumps(passage.heading, ensure_ascii=False),
            passage.context,
            passage.text,
            same,
            vector,
        )
        self._connection.execute(
            "INSERT INTO passages (id, key, start, end, body, line_first, line_last, page, heading, context, text, "
            "text_digest, vector, document, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*fields, document, checksum(path, *fields)),
        )

    def _enter_words(self, number: int, fields: tuple[str, str, str, str]) -> None:
        self._connection.execute(
            "INSERT INTO terms (rowid, title, heading, text, path) VALUES (?, ?, ?, ?, ?)", (number, *fields)
        )

    def _note(self, seen: Sequence[Seen], left: Sequence[Left]) -> None:
        documents = self.documents() if seen else {}
        for file in seen:
            old = documents[file.path]
            stat = (file.size, file.mtime_ns, file.checked_ns)
            check = checksum(old.id, old.path, old.sha256, *stat, old.media_type, old.title)
            self._connection.execute(
                "UPDATE documents SET size = ?, mtime_ns = ?, checked_ns = ?, checksum = ? WHERE id = ?",
                (*stat, check, old.id),
            )
        write_left(self._connection, left)

    def _prune(self) -> None:
        (used,) = self._connection.execute("SELECT count(DISTINCT vector) FROM passages").fetchone()
        self._connection.execute(
            "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors WHERE id NOT IN (SELECT vector FROM passages) "
            "ORDER BY used DESC, id DESC LIMIT -1 OFFSET ?)",
            (max(SPARE_VECTORS, used),),
        )

    def _save_vectors(self, before: Info | None, generation: int, dimension: int) -> VectorsFile:
        rows = self._connection.execute("SELECT DISTINCT vector FROM passages").fetchall()
        ids: Ids = np.array(rows, dtype=np.int64).reshape(-1)

        def fetch(wanted: Ids) -> Vectors:
            return read_vectors(self._connection, self._file, wanted.tolist(), dimension)

        index = self._previous_vectors(before, dimension)
        if index is None:
            index = VectorIndex.build(ids, fetch(ids), dimension=dimension)
        else:
            index.adjust(ids, fetch)
        return index.save(self._folder, generation)

    def _previous_vectors(self, before: Info | None, dimension: int) -> VectorIndex | None:
        if before is None:
            return None
        try:
            return VectorIndex.load(self._folder, before.vectors_file, dimension=dimension)
        except (OSError, ValueError) as error:
            _LOG.info("%s is made again (%s)", before.vectors_file.name, error)
            return None

    def _info(self, maker: Maker, generation: int, vectors_file: VectorsFile) -> Info:
        (documents,) = self._connection.execute("SELECT count(*) FROM documents").fetchone()
        (passages,) = self._connection.execute("SELECT count(*) FROM passages").fetchone()
        return Info(
            generation=generation,
            documents=documents,
            passages=passages,
            model=maker.model,
            fingerprint=maker.fingerprint,
            dimension=maker.dimension,
            splitter=maker.splitter,
            include=maker.include,
            exclude=maker.exclude,
            vectors_file=vectors_file,
        )


def _words(path: str, title: str, passage: Passage | StoredPassage) -> tuple[str, str, str, str]:
    """The text that a passage is found by, field by field."""
    return title, "\n".join(passage.heading), passage.text[passage.body :], path_words(path)
