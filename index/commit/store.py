"""The writing side: embeddings as they come, and the one transaction that makes a new generation."""

# ruff: noqa: S608 - statements are put together from names in this package; values are bound

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import numpy as np

from corpus.errors import ModelError, NoIndexError
from index.commit.change import BuildConfig, BuildMode, ChangeSet, UnchangedFile, config_of
from index.commit.insert import Inserter, fields_of
from index.commit.staging import Staging
from index.dense.faiss_segments import Ids, delete_others
from index.dense.segment_writer import SegmentState, SegmentWriter
from index.dense.vector_refs import VectorRef, write_refs
from index.dense.vector_rows import is_sound, pack_vector, vector_checksum
from index.encoder.protocol import Vectors
from index.lexical.writer import LexicalWriter
from index.storage import disk
from index.storage.database import DATABASE, open_for_writing, translate_errors
from index.storage.duplicates import count
from index.storage.metadata import Info, SkippedRow, read_info, read_skipped, write_info, write_skipped
from index.storage.rows import (
    AMONG,
    StoredDocument,
    count_documents,
    damaged,
    document_checksum,
    ids_json,
    read_documents,
    read_passages,
)
from index.storage.wal import require_log_follows

# Vectors that no passage refers to any more are kept for undo, up to this many or as many as are in use.
SPARE_VECTORS = 10_000
# Lengths of an encoder's vectors differ from 1 by less than this.
_UNIT = 1e-3


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
        self.folder = folder
        self._file = folder / DATABASE
        with suppress(NoIndexError):
            require_log_follows(self._file)
        self._connection = open_for_writing(self._file)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with translate_errors(self._file):
            self._connection.close()

    def info(self) -> Info | None:
        """What the current generation is made of, or None before the first."""
        with translate_errors(self._file):
            return read_info(self._connection, self._file)

    def documents(self) -> dict[str, StoredDocument]:
        """All documents by path."""
        with translate_errors(self._file):
            return {document.path: document for document in read_documents(self._connection, self._file)}

    def skipped(self) -> tuple[SkippedRow, ...]:
        """What was left out, by path."""
        with translate_errors(self._file):
            info = read_info(self._connection, self._file)
            return read_skipped(self._connection, self._file, None if info is None else info.skipped)

    def known(self, digests: Iterable[bytes]) -> frozenset[bytes]:
        """Those of the digests whose vectors are stored and undamaged."""
        found = set()
        with translate_errors(self._file):
            for digest in digests:
                row = self._connection.execute(
                    "SELECT digest, vector, checksum FROM vectors WHERE digest = ?", (digest,)
                ).fetchone()
                if row is not None and is_sound(*row):
                    found.add(digest)
        return frozenset(found)

    def add_vectors(self, digests: Sequence[bytes], vectors: Vectors) -> None:
        """Keep embeddings at once, so that an interrupted build loses none; the generation stays the same.

        Raises:
            ModelError: The encoder gave something that is no vector.
        """
        norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        # Written so that what is not a number fails too.
        if not (np.abs(norms - 1) < _UNIT).all():
            raise ModelError("the model gave a vector that is not finite or not of length 1. Choose another model.")
        rows = []
        for digest, vector in zip(digests, vectors / norms[:, np.newaxis], strict=True):
            data = pack_vector(vector)
            rows.append((digest, data, vector_checksum(digest, data)))
        with self._transaction():
            self._connection.executemany(
                "INSERT INTO vectors (digest, vector, checksum) VALUES (?, ?, ?) ON CONFLICT (digest) "
                "DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum",
                rows,
            )
            self._enter_places(digests)

    def adopt_vectors(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Take over digests and vectors of another database, those known already left as they are."""
        with self._transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO vectors (digest, vector, checksum) VALUES (?, ?, ?)",
                [(digest, data, vector_checksum(digest, data)) for digest, data in rows],
            )
            self._enter_places([digest for digest, _ in rows])

    def _enter_places(self, digests: Sequence[bytes]) -> None:
        """Every vector has a place; that of a vector which is known already stays as it is."""
        used = self._next_generation()
        query = (
            "SELECT id FROM vectors v WHERE digest = ? "
            "AND NOT EXISTS (SELECT 1 FROM vector_refs r WHERE r.vector = v.id)"
        )
        rows = (self._connection.execute(query, (digest,)).fetchone() for digest in digests)
        write_refs(self._connection, [VectorRef(row[0], 0, 0, used) for row in rows if row is not None])

    def require_intact(self) -> None:
        """Check the structure of the whole database, which reading single rows does not.

        Raises:
            DamagedIndexError: SQLite finds a fault.
        """
        with translate_errors(self._file):
            (verdict,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise damaged(self._file, f"the database ({verdict})")

    def note(self, seen: Sequence[UnchangedFile], left: Sequence[SkippedRow]) -> None:
        """Remember what was looked at; the generation stays the same."""
        with self._transaction():
            self._note(seen, left)
            info = self.info()
            if info is not None and info.skipped != len(left):
                write_info(self._connection, replace(info, skipped=len(left)))

    def stage(self) -> Staging:
        """Room for the documents of the next commit, empty."""
        return Staging(self._connection, self._file)

    def commit(
        self, change: ChangeSet, config: BuildConfig, *, seen: Sequence[UnchangedFile], left: Sequence[SkippedRow]
    ) -> Info:
        """Make the next generation; after a crash at any moment there is the old one or the new one.

        Raises:
            DamagedIndexError: A row to be replaced does not hold what was written.
            StorageError: The disk refused; the old generation stands.
        """
        with translate_errors(self._file):
            before = read_info(self._connection, self._file)
        with self._transaction():
            generation = self._next_generation()
            postings = LexicalWriter(self._connection, self._file)
            settled, came, gone = SegmentState(0, ()), array("q"), array("q")
            # Where much is written, all texts are counted again.
            texts: set[bytes] | None = None
            if change.mode is BuildMode.FULL:
                came = self._clear(change.kept, generation, postings)
            elif before is not None:
                settled = SegmentState(before.vectors, before.segments)
                gone, texts = self._remove(change, postings)
            inserter = Inserter(self._connection, postings, texts=texts)
            inserter.insert(change.entries)
            postings.flush()
            count(self._connection, texts)
            self._note(seen, left)
            settling = SegmentWriter(self._connection, self._file, generation=generation, dimension=config.dimension)
            settled = settling.update(settled, added=_ids(came + inserter.vectors), removed=_ids(gone))
            info = self._info(config, generation, settled, len(left))
            self._prune(info)
            write_info(self._connection, info)
        delete_others(self.folder, [segment.name for segment in info.segments])
        return info

    def rederive(self) -> None:
        """Make anew, from documents, passages and vectors, all that follows from them; nothing is read or embedded.

        Raises:
            DamagedIndexError: They themselves do not hold what was written.
        """
        documents, info = self.documents(), self.info()
        if info is None or len(documents) != info.files:
            raise damaged(self._file, "the number of documents")
        with translate_errors(self._file):
            self._connection.execute("REINDEX")
        change = ChangeSet(BuildMode.FULL, (), (), kept=frozenset(documents))
        self.commit(change, config_of(info), seen=(), left=self.skipped())

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translate_errors(self._file):
            disk.about_to("begin", self._file)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                disk.about_to("commit", self._file)
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite itself rolls back after some errors, such as a full disk.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _next_generation(self) -> int:
        with translate_errors(self._file):
            info = read_info(self._connection, self._file)
        return 1 if info is None else info.generation + 1

    def _clear(self, kept: frozenset[str], generation: int, postings: LexicalWriter) -> array[int]:
        """Empty everything but some documents, whose words are entered again; returns their passages' vectors."""
        for table in ("vector_refs", "free_ids"):
            self._connection.execute(f"DELETE FROM {table}")
        self._forget_broken_vectors()
        numbers = self._connection.execute("SELECT id FROM vectors").fetchall()
        write_refs(self._connection, (VectorRef(number, 0, 0, generation) for (number,) in numbers))
        postings.clear()
        kept_documents = [(one.id, one.passages) for one in self.documents().values() if one.path in kept]
        ids = ids_json([number for number, _ in kept_documents])
        for table, column in (("passages", "document"), ("documents", "id")):
            self._connection.execute(f"DELETE FROM {table} WHERE {column} NOT IN {AMONG}", (ids,))
        vectors = array("q")
        held = set()
        for passage in read_passages(self._connection, self._file, f"p.document IN {AMONG}", (ids,)):
            if passage.id in held:  # a damaged index can give out a row more than once
                continue
            held.add(passage.id)
            vectors.append(passage.vector)
            postings.add(passage.id, fields_of(passage.document.path, passage.document.title, passage))
        if len(held) != sum(passages for _, passages in kept_documents):
            raise damaged(self._file, "the number of passages of documents")
        gaps = [(number,) for number in range(1, max(held, default=0)) if number not in held]
        self._connection.executemany("INSERT INTO free_ids (passage) VALUES (?)", gaps)
        return vectors

    def _forget_broken_vectors(self) -> None:
        """A text that needs one has it again by now; what is left would be kept for undo, and found by every check."""
        rows = self._connection.execute("SELECT id, digest, vector, checksum FROM vectors")
        broken = ids_json([number for number, *row in rows if not is_sound(*row)])
        self._connection.execute(f"DELETE FROM vectors WHERE id IN {AMONG}", (broken,))

    def _remove(self, change: ChangeSet, postings: LexicalWriter) -> tuple[array[int], set[bytes]]:
        """Take documents out; returns the vectors of their passages, and the texts."""
        paths = change.removed | set(change.paths)
        rows = self._connection.execute("SELECT id, path, passages FROM documents").fetchall()
        documents = [(number, passages) for number, path, passages in rows if path in paths]
        chosen = (ids_json([number for number, _ in documents]),)
        passages = list(read_passages(self._connection, self._file, f"p.document IN {AMONG}", chosen))
        if len(passages) != sum(count for _, count in documents) or not change.removed <= {path for _, path, _ in rows}:
            raise damaged(self._file, "the number of passages of documents")
        for passage in passages:
            postings.remove(passage.id, fields_of(passage.document.path, passage.document.title, passage))
        self._connection.executemany(
            "INSERT INTO free_ids (passage) VALUES (?)", [(passage.id,) for passage in passages]
        )
        self._connection.execute(f"DELETE FROM passages WHERE document IN {AMONG}", chosen)
        self._connection.execute(f"DELETE FROM documents WHERE id IN {AMONG}", chosen)
        return array("q", [passage.vector for passage in passages]), {passage.text_digest for passage in passages}

    def _note(self, seen: Sequence[UnchangedFile], left: Sequence[SkippedRow]) -> None:
        documents = self.documents() if seen else {}
        for file in seen:
            old = documents[file.path]
            check = document_checksum(replace(old, size=file.size, mtime_ns=file.mtime_ns, checked_ns=file.checked_ns))
            self._connection.execute(
                "UPDATE documents SET size = ?, mtime_ns = ?, checked_ns = ?, checksum = ? WHERE id = ?",
                (file.size, file.mtime_ns, file.checked_ns, check, old.id),
            )
        write_skipped(self._connection, left)

    def _prune(self, info: Info) -> None:
        """Forget the vectors that were used longest ago; what a FAISS file holds stays as long as the file."""
        (spare,) = self._connection.execute("SELECT count(*) FROM vector_refs WHERE refcount = 0").fetchone()
        over = spare - max(SPARE_VECTORS, info.vectors)
        if over > 0:
            oldest = (
                "SELECT vector FROM vector_refs WHERE refcount = 0 AND segment = 0 "
                "ORDER BY unused_since, vector LIMIT ?"
            )
            gone = ids_json([number for (number,) in self._connection.execute(oldest, (over,))])
            self._connection.execute(f"DELETE FROM vector_refs WHERE vector IN {AMONG}", (gone,))
            self._connection.execute(f"DELETE FROM vectors WHERE id IN {AMONG}", (gone,))

    def _info(self, config: BuildConfig, generation: int, settled: SegmentState, skipped: int) -> Info:
        files, documents = count_documents(self._connection)
        (passages,) = self._connection.execute("SELECT count(*) FROM passages").fetchone()
        return Info(
            generation=generation,
            files=files,
            documents=documents,
            passages=passages,
            model=config.model,
            fingerprint=config.fingerprint,
            dimension=config.dimension,
            splitter=config.splitter,
            include=config.include,
            exclude=config.exclude,
            vectors=settled.vectors,
            segments=settled.segments,
            skipped=skipped,
            paths=config.paths,
        )


def _ids(numbers: array[int]) -> Ids:
    return np.frombuffer(numbers, dtype=np.int64) if numbers else np.empty(0, dtype=np.int64)
