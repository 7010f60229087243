"""A collection in PostgreSQL opened for writing: stores vectors as they are embedded, then one generation."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from corpus.errors import DamagedIndexError, LockedError, NoIndexError, QAError, StorageError
from index.commit.change import BuildMode, ChangeSet
from index.commit.staging import Staging
from index.postgres.address import StoreAddress
from index.postgres.connection import Row, close, connect, translate_errors
from index.postgres.generation_writer import WRITER_LOCK, GenerationWriter, delete_old, discard_all, discard_unpublished
from index.postgres.rows import (
    LAST_GENERATION,
    documents_of,
    pack_generation,
    select_documents,
    unpack_generation,
    vector_bytes,
    vector_text,
)
from index.postgres.schema import migrate
from index.postgres.verify import verify_collection
from index.protocol import IndexWriter
from index.storage.locking import WAIT
from index.storage.metadata import Info, SkippedRow
from index.storage.rows import StoredDocument, document_checksum
from index.storage.vectors import is_usable_vector, vector_checksum

_LOG = logging.getLogger(__name__)

# The server takes a moment to notice that a writer was killed.
_LOCK_PAUSES = (0.05, 0.1, 0.2, 0.4)


class PostgresStore(IndexWriter):
    """The only writer of a collection, which it creates if there is none.

    Embeddings are committed as they are made. The rows of a generation are committed together, invisible to readers.
    Then a single row publishes it, and rows that no reader holds are deleted. If a writer crashes before, the next one
    deletes the unpublished rows.

    Raises:
        LockedError: Another process is writing this collection.
        IncompatibleError: The server, pgvector or the tables have the wrong version.
        StorageError: The server cannot be reached, or refuses.
    """

    def __init__(self, address: StoreAddress) -> None:
        self.address = address
        self._place = address.url_with_name
        self._connection = connect(address, reading=False)
        # Files are staged in a temporary SQLite file, as with the embedded store.
        self._temporary = sqlite3.connect("", isolation_level=None)
        self._staging = Staging(self._temporary, Path(address.collection))
        try:
            with translate_errors(self._place):
                self._number = migrate(self._connection, address.collection, self._place)
                self._require_rights()
                self._lock()
                with self._connection.transaction():
                    discard_unpublished(self._connection)
        except BaseException:
            self._temporary.close()
            self._connection.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._temporary.close()
        close(self._connection)

    def info(self) -> Info | None:
        published = self._published()
        return None if published is None else published[0]

    def skipped(self) -> tuple[SkippedRow, ...]:
        published = self._published()
        return () if published is None else published[1]

    def documents(self) -> dict[str, StoredDocument]:
        info = self.info()
        if info is None:
            return {}
        documents = documents_of(self._fetch(select_documents(info.generation)), info.files, self._place)
        return {document.path: document for document in documents}

    def known_vectors(self, digests: Sequence[bytes], dimension: int) -> frozenset[bytes]:
        query = "SELECT digest, vector, checksum FROM vectors WHERE digest = ANY(%s)"
        rows = self._fetch(query, list(digests)) if digests else ()
        return frozenset(row[0] for row in rows if is_usable_vector(dimension, row[0], vector_bytes(row[1]), row[2]))

    def adopt_vectors(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        insert = (
            "INSERT INTO vectors (digest, vector, checksum) VALUES (%s, %s::halfvec, %s) ON CONFLICT (digest) "
            "DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum"
        )
        mark_spare = (
            "INSERT INTO spare_vectors SELECT id, %s FROM unnest(%s::bigint[]) id "
            "WHERE NOT EXISTS (SELECT FROM passages p WHERE p.vector = id) ON CONFLICT DO NOTHING"
        )
        values = [(digest, vector_text(data), vector_checksum(digest, data)) for digest, data in rows]
        with self._transaction(), self._connection.cursor() as cursor:
            cursor.executemany(insert, values)
            added = cursor.execute("SELECT id FROM vectors WHERE digest = ANY(%s)", ([digest for digest, _ in rows],))
            ids = [vector_id for (vector_id,) in added.fetchall()]
            cursor.execute(mark_spare, (self._next_generation(), ids))

    def require_intact(self) -> None:
        # If anything is damaged, everything but the vectors is deleted.
        try:
            problems = verify_collection(self.address).problems
        except NoIndexError:
            return
        except DamagedIndexError as error:
            problems = (str(error),)
        if problems:
            _LOG.warning("rebuilding the index: %s.", problems[0].rpartition(". ")[0])
            with self._transaction():
                discard_all(self._connection)

    def update_stats(self, unchanged: Sequence[StoredDocument], skipped: Sequence[SkippedRow]) -> None:
        info = self.info()
        with self._transaction():
            self._update_stats(unchanged)
            if info is not None:
                self._publish(replace(info, skipped=len(skipped)), skipped)

    def commit(self, change: ChangeSet) -> Info:
        documents, previous = self.documents(), self.info()
        writer = GenerationWriter(self._connection, self._place, self._next_generation())
        removed = change.removed if change.mode is BuildMode.INCREMENTAL else frozenset(documents) - change.kept
        with self._transaction():
            writer.remove([documents[path].id for path in removed.union(self.staged) if path in documents])
            writer.insert(self._staging)
            self._update_stats(change.unchanged)
            writer.finish(change.config.dimension)
            info = writer.info(change, previous)
        with self._transaction():
            self._publish(info, change.skipped)
            writer.mark_published()
        self._staging.clear()
        try:
            with translate_errors(self._place):
                delete_old(self._connection, self._number, info.generation)
        except QAError as error:  # the generation is published, and the next commit tries again
            _LOG.warning("old generations are not deleted yet: %s", error)
        return info

    def _update_stats(self, unchanged: Sequence[StoredDocument]) -> None:
        query = "UPDATE documents SET size = %s, mtime_ns = %s, checked_ns = %s, checksum = %s WHERE id = %s"
        with self._connection.cursor() as cursor:
            cursor.executemany(
                query,
                [(file.size, file.mtime_ns, file.checked_ns, document_checksum(file), file.id) for file in unchanged],
            )

    def _publish(self, info: Info, skipped: Sequence[SkippedRow]) -> None:
        self._connection.execute(
            "INSERT INTO generations (generation, info, skipped, checksum) VALUES (%s, %s, %s, %s) "
            "ON CONFLICT (generation) DO UPDATE "
            "SET info = excluded.info, skipped = excluded.skipped, checksum = excluded.checksum",
            (info.generation, *pack_generation(info, skipped)),
        )

    def _published(self) -> tuple[Info, tuple[SkippedRow, ...]] | None:
        rows = self._fetch(LAST_GENERATION)
        return unpack_generation(rows[0], self._place) if rows else None

    def _fetch(self, query: str, *values: object) -> list[Row]:
        with translate_errors(self._place):
            return self._connection.execute(query, values, binary=True).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translate_errors(self._place), self._connection.transaction():
            yield

    def _require_rights(self) -> None:
        """Check for write access before anything is embedded in vain."""
        if not self._fetch("SELECT has_table_privilege('generations', 'INSERT')")[0][0]:
            raise StorageError(f"{self._place}: this account may only read. Use the one that created the collection.")

    def _lock(self) -> None:
        """Take the writer lock, which the server releases when the connection ends."""
        query = "SELECT pg_try_advisory_lock(%s::oid::int, %s)"
        for pause in _LOCK_PAUSES:
            if self._fetch(query, self._number, WRITER_LOCK)[0][0]:
                return
            time.sleep(pause)
        raise LockedError(f"{self._place} is being written by another process or thread. {WAIT}")
