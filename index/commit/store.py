"""The index opened for writing: stores vectors as they are embedded, and a generation in one transaction."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from corpus.errors import NoIndexError
from index.commit.change import SPARE_VECTORS, BuildMode, ChangeSet
from index.commit.insert import Inserter, fields_of
from index.commit.staging import Staging
from index.dense.faiss_segments import delete_other_segments
from index.dense.segment_writer import SegmentState, SegmentWriter
from index.dense.vector_refs import write_refs
from index.lexical.writer import LexicalWriter
from index.protocol import IndexWriter
from index.storage import disk
from index.storage.database import DATABASE, open_for_writing, translate_errors
from index.storage.duplicates import recount_duplicates
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
    require_structure,
)
from index.storage.vectors import has_valid_checksum, is_usable_vector, vector_checksum
from index.storage.wal import require_log_follows


class Store(IndexWriter):
    """The index in the folder's own files, opened for writing; the caller holds the writer lock.

    Raises:
        IncompatibleError: It has another format version.
        DamagedIndexError: It cannot be read.
        StorageError: A read or write failed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / DATABASE
        with suppress(NoIndexError):
            require_log_follows(self._file)
        self._connection = open_for_writing(self._file)
        self._staging = Staging(self._connection, self._file)

    def __exit__(self, *_: object) -> None:
        with translate_errors(self._file):
            self._connection.close()

    def info(self) -> Info | None:
        with translate_errors(self._file):
            return read_info(self._connection, self._file)

    def documents(self) -> dict[str, StoredDocument]:
        with translate_errors(self._file):
            return {document.path: document for document in read_documents(self._connection, self._file)}

    def skipped(self) -> tuple[SkippedRow, ...]:
        info = self.info()
        with translate_errors(self._file):
            return () if info is None else read_skipped(self._connection, self._file, info.skipped)

    def known_vectors(self, digests: Sequence[bytes], dimension: int) -> frozenset[bytes]:
        query = "SELECT digest, vector, checksum FROM vectors WHERE digest = ?"
        with translate_errors(self._file):
            rows = [self._connection.execute(query, (digest,)).fetchone() for digest in digests]
        return frozenset(row[0] for row in rows if row is not None and is_usable_vector(dimension, *row))

    def adopt_vectors(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        query = (
            "SELECT id FROM vectors v WHERE digest = ? "
            "AND NOT EXISTS (SELECT 1 FROM vector_refs r WHERE r.vector = v.id)"
        )
        with self._transaction():
            self._connection.executemany(
                "INSERT INTO vectors (digest, vector, checksum) VALUES (?, ?, ?) "
                "ON CONFLICT (digest) DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum",
                [(digest, data, vector_checksum(digest, data)) for digest, data in rows],
            )
            generation = self._next_generation()
            unreferenced = [self._connection.execute(query, (digest,)).fetchone() for digest, _ in rows]
            write_refs(self._connection, [(row[0], 0, 0, generation) for row in unreferenced if row is not None])

    def require_intact(self) -> None:
        with translate_errors(self._file):
            require_structure(self._connection, self._file)

    def update_stats(self, unchanged: Sequence[StoredDocument], skipped: Sequence[SkippedRow]) -> None:
        with self._transaction():
            self._update_stats(unchanged, skipped)
            info = self.info()
            if info is not None and info.skipped != len(skipped):
                write_info(self._connection, replace(info, skipped=len(skipped)))

    def commit(self, change: ChangeSet) -> Info:
        before = self.info()
        with self._transaction():
            generation = self._next_generation()
            lexical = LexicalWriter(self._connection, self._file)
            # An update recounts the duplicates only of texts that were added or removed.
            is_update = change.mode is BuildMode.INCREMENTAL and before is not None
            inserter = Inserter(self._connection, lexical, texts=set() if is_update else None)
            state: SegmentState = (0, ())
            removed = array("q")
            if change.mode is BuildMode.FULL:
                inserter.vectors = self._clear_all_but(change.kept, generation, lexical)
            elif before is not None:
                state = (before.vectors, before.segments)
                removed = self._remove(change, inserter, lexical)
            inserter.insert(self._staging)
            lexical.flush()
            recount_duplicates(self._connection, inserter.texts)
            self._update_stats(change.unchanged, change.skipped)
            writer = SegmentWriter(
                self._connection, self._file, generation=generation, dimension=change.config.dimension
            )
            state = writer.update(
                state, added=np.array(inserter.vectors, dtype=np.int64), removed=np.array(removed, dtype=np.int64)
            )
            info = self._new_info(change, generation, state)
            self._prune(info)
            write_info(self._connection, info)
        self._staging.clear()
        delete_other_segments(self.folder, [segment.name for segment in info.segments])
        return info

    def rebuild_derived(self) -> None:
        """Rebuild everything derived from documents, passages and vectors; no file is read, nothing is embedded."""
        documents, info = self.documents(), self.info()
        if info is None or len(documents) != info.files:
            raise damaged(self._file, "the number of documents is inconsistent")
        with translate_errors(self._file):
            self._connection.execute("REINDEX")
        self.commit(ChangeSet(BuildMode.FULL, info.config, kept=frozenset(documents), skipped=self.skipped()))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translate_errors(self._file):
            disk.announce("begin", self._file)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                disk.announce("commit", self._file)
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite itself rolls back after some errors, such as a full disk.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _clear_all_but(self, kept: frozenset[str], generation: int, lexical: LexicalWriter) -> array[int]:
        """Delete all but the kept documents, index these again, and return the vector ids of their passages."""
        for table in ("vector_refs", "free_ids"):
            self._connection.execute(f"DELETE FROM {table}")
        # The texts of damaged vectors have been embedded again by now.
        vector_rows = self._connection.execute("SELECT id, digest, vector, checksum FROM vectors")
        damaged_ids = ids_json([row_id for row_id, *row in vector_rows if not has_valid_checksum(*row)])
        self._connection.execute(f"DELETE FROM vectors WHERE id IN {AMONG}", (damaged_ids,))
        rows = self._connection.execute("SELECT id FROM vectors ORDER BY id").fetchall()
        if rows and rows[0] < (1,):
            raise damaged(self._file, "the id of a vector is not positive")
        write_refs(self._connection, ((row_id, 0, 0, generation) for (row_id,) in rows))
        lexical.clear()
        documents = [document for document in self.documents().values() if document.path in kept]
        document_ids = ids_json([document.id for document in documents])
        for table, column in (("passages", "document"), ("documents", "id")):
            self._connection.execute(f"DELETE FROM {table} WHERE {column} NOT IN {AMONG}", (document_ids,))
        vectors = array("q")
        passage_ids = set()
        for passage in read_passages(self._connection, self._file, f"p.document IN {AMONG}", (document_ids,)):
            if passage.id not in passage_ids:  # a damaged SQL index can return a row more than once
                passage_ids.add(passage.id)
                vectors.append(passage.vector)
                lexical.add(passage.id, fields_of(passage.document, passage))
        if len(passage_ids) != sum(document.passages for document in documents):
            raise damaged(self._file, "the number of passages of documents is inconsistent")
        free_ids = [(row_id,) for row_id in range(1, max(passage_ids, default=0)) if row_id not in passage_ids]
        self._connection.executemany("INSERT INTO free_ids (passage) VALUES (?)", free_ids)
        return vectors

    def _remove(self, change: ChangeSet, inserter: Inserter, lexical: LexicalWriter) -> array[int]:
        """Delete documents that are removed or staged, and return the vector ids of their passages."""
        paths = change.removed.union(self.staged)
        document_rows = self._connection.execute("SELECT id, path, passages FROM documents").fetchall()
        expected = {document_id: count for document_id, path, count in document_rows if path in paths}
        document_ids = (ids_json(tuple(expected)),)
        passages = list(read_passages(self._connection, self._file, f"p.document IN {AMONG}", document_ids))
        counted = Counter(passage.document.id for passage in passages)
        if any(counted[document_id] != count for document_id, count in expected.items()) or not change.removed <= {
            path for _, path, _ in document_rows
        }:
            raise damaged(self._file, "the number of passages of documents is inconsistent")
        for passage in passages:
            lexical.remove(passage.id, fields_of(passage.document, passage))
        if inserter.texts is not None:
            inserter.texts.update(passage.text_digest for passage in passages)
        free_ids = [(passage.id,) for passage in passages]
        self._connection.executemany("INSERT INTO free_ids (passage) VALUES (?)", free_ids)
        self._connection.execute(f"DELETE FROM passages WHERE document IN {AMONG}", document_ids)
        self._connection.execute(f"DELETE FROM documents WHERE id IN {AMONG}", document_ids)
        return array("q", [passage.vector for passage in passages])

    def _update_stats(self, unchanged: Sequence[StoredDocument], skipped: Sequence[SkippedRow]) -> None:
        self._connection.executemany(
            "UPDATE documents SET size = ?, mtime_ns = ?, checked_ns = ?, checksum = ? WHERE id = ?",
            [(file.size, file.mtime_ns, file.checked_ns, document_checksum(file), file.id) for file in unchanged],
        )
        write_skipped(self._connection, skipped)

    def _prune(self, info: Info) -> None:
        """Delete those vectors that have been unused the longest, but none in a FAISS file."""
        (unused,) = self._connection.execute("SELECT count(*) FROM vector_refs WHERE refcount = 0").fetchone()
        excess = unused - max(SPARE_VECTORS, info.vectors)
        if excess > 0:
            query = (
                "SELECT vector FROM vector_refs WHERE refcount = 0 AND segment = 0 "
                "ORDER BY unused_since, vector LIMIT ?"
            )
            vector_ids = ids_json([vector_id for (vector_id,) in self._connection.execute(query, (excess,))])
            self._connection.execute(f"DELETE FROM vector_refs WHERE vector IN {AMONG}", (vector_ids,))
            self._connection.execute(f"DELETE FROM vectors WHERE id IN {AMONG}", (vector_ids,))

    def _new_info(self, change: ChangeSet, generation: int, state: SegmentState) -> Info:
        files, documents = count_documents(self._connection)
        vectors, segments = state
        (passages,) = self._connection.execute("SELECT count(*) FROM passages").fetchone()
        return Info(
            **asdict(change.config),
            generation=generation,
            files=files,
            documents=documents,
            passages=passages,
            vectors=vectors,
            skipped=len(change.skipped),
            segments=segments,
        )
