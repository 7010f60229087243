"""Write the rows of a generation before it is published, and delete those that no reader needs any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, replace
from itertools import count, islice

import numpy as np
import psycopg

from index.commit.change import SPARE_VECTORS, ChangeSet, SplitFile
from index.commit.insert import fields_of, passage_rows
from index.postgres.connection import Row, escape, fetch_number
from index.postgres.keyword_writer import KeywordWriter
from index.postgres.rows import PASSAGE, live_condition
from index.postgres.schema import NEVER
from index.storage.metadata import Info
from index.storage.rows import DOCUMENT, document_checksum

WRITER_LOCK = 0  # second key of the advisory lock; readers use the number of their generation, from 1
# With fewer vectors, all are compared; from this number on, a graph is searched, which takes time to build.
GRAPH_FROM = 20_000
# How long a replaced generation is kept for readers on a standby.
STANDBY_SECONDS = 900
# Files that are written at once.
_BATCH_FILES = 64
_DOCUMENT_COLUMNS = "added, " + DOCUMENT.replace("d.", "")
_PASSAGE_COLUMNS = "added, " + PASSAGE.replace("p.", "")
_VERSIONED = ("documents", "passages", "segments")


class GenerationWriter:
    """Writes the rows of a generation inside the caller's transaction, without publishing them."""

    def __init__(self, connection: psycopg.Connection, place: str, generation: int) -> None:
        self._connection = connection
        self._place = place
        self._generation = generation
        self._changed_vectors: set[int] = set()  # of passages that were added or removed

    def remove(self, documents: Sequence[int]) -> None:
        """Mark documents, by row id, and their passages as removed in this generation."""
        _set_meta(self._connection, "writing", self._generation)
        self._execute("UPDATE documents SET removed = %s WHERE id = ANY(%s)", self._generation, list(documents))
        removed_vectors = self._execute(
            "WITH gone AS (UPDATE passages SET removed = %s WHERE document = ANY(%s) RETURNING id, vector), "
            "noted AS (INSERT INTO dead SELECT id, %s FROM gone) SELECT DISTINCT vector FROM gone",
            self._generation,
            list(documents),
            self._generation,
        )
        self._changed_vectors.update(vector_id for (vector_id,) in removed_vectors)

    def insert(self, files: Iterable[SplitFile]) -> None:
        """Insert files whose vectors are already stored; row ids are never reused."""
        self._keywords = KeywordWriter(self._connection, self._place, self._generation)
        next_id = "SELECT value FROM meta WHERE key = %s"
        self._next_document = fetch_number(self._connection, next_id, "next_document")
        self._next_passage = fetch_number(self._connection, next_id, "next_passage")
        remaining = iter(files)
        while batch := list(islice(remaining, _BATCH_FILES)):
            self._insert(batch)
        _set_meta(self._connection, "next_document", self._next_document)
        _set_meta(self._connection, "next_passage", self._next_passage)

    def _insert(self, files: Sequence[SplitFile]) -> None:
        vector_ids = self._vector_ids([digest for file in files for digest in file.digests])
        documents: list[tuple[object, ...]] = []
        passages: list[tuple[object, ...]] = []
        for file in files:
            document = replace(file.document, id=self._next_document)
            documents.append((self._generation, *astuple(document), document_checksum(document)))
            file_vectors = [vector_ids[digest] for digest in file.digests]
            rows = passage_rows(document, file.passages, count(self._next_passage), file_vectors)
            for row, passage in zip(rows, file.passages, strict=True):
                passages.append((self._generation, *row))
                self._keywords.add(row[0], fields_of(document, passage))
            self._next_passage += len(file.passages)
            self._next_document += 1
        self._copy(f"documents ({_DOCUMENT_COLUMNS})", documents)
        self._copy(f"passages ({_PASSAGE_COLUMNS})", passages)
        self._changed_vectors.update(vector_ids.values())
        self._execute("DELETE FROM spare_vectors WHERE vector = ANY(%s)", sorted(set(vector_ids.values())))

    def finish(self, dimension: int) -> None:
        """Write the keyword index, and build the graph if there are enough vectors."""
        self._keywords.finish()
        if fetch_number(self._connection, "SELECT count(*) FROM vectors") >= GRAPH_FROM:
            # With the default of 64 MB, large graphs would be built on disk.
            self._execute("SET LOCAL maintenance_work_mem = '512MB'")
            self._execute(
                f"CREATE INDEX IF NOT EXISTS vectors_graph_{dimension:d} ON vectors USING hnsw "
                f"((vector::halfvec({dimension:d})) halfvec_ip_ops) WITH (ef_construction = 128) "
                f"WHERE vector_dims(vector) = {dimension:d}"
            )

    def info(self, change: ChangeSet, previous: Info | None) -> Info:
        """Return the metadata of the written generation, given that of the previous one."""
        counts = "count(*), coalesce(sum(greatest(records, 1)), 0), coalesce(sum(passages), 0)"
        condition = live_condition("d", self._generation)
        ((files, documents, passages),) = self._execute(f"SELECT {counts} FROM documents d WHERE {condition}")
        count_used = "SELECT count(DISTINCT vector) FROM passages p WHERE vector = ANY(%s) AND "
        used_before, used_now = (
            fetch_number(self._connection, count_used + live_condition("p", generation), sorted(self._changed_vectors))
            for generation in (self._generation - 1, self._generation)
        )
        return Info(
            **asdict(change.config),
            generation=self._generation,
            files=files,
            documents=int(documents),
            passages=int(passages),
            vectors=(0 if previous is None else previous.vectors) + used_now - used_before,
            skipped=len(change.skipped),
            segments=(),
        )

    def mark_published(self) -> None:
        """Record that no unpublished rows remain, in the transaction that publishes the generation."""
        self._execute("DELETE FROM meta WHERE key = 'writing'")

    def _vector_ids(self, digests: Sequence[bytes]) -> dict[bytes, int]:
        return dict(self._execute("SELECT digest, id FROM vectors WHERE digest = ANY(%s)", list(digests)))

    def _copy(self, into: str, rows: Iterable[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
            for row in rows:
                copy.write_row([escape(value) for value in row])

    def _execute(self, query: str, *values: object) -> psycopg.Cursor[Row]:
        return self._connection.execute(query, values)


def discard_unpublished(connection: psycopg.Connection) -> None:
    """Delete the rows that a crashed writer did not publish, inside the caller's transaction."""
    if connection.execute("SELECT 1 FROM meta WHERE key = 'writing'").fetchone() is None:
        return
    last = fetch_number(connection, "SELECT coalesce(max(generation), 0) FROM generations")
    segments = connection.execute(f"SELECT segment FROM segments WHERE added > {last:d}").fetchall()
    connection.execute("DELETE FROM postings WHERE segment = ANY(%s)", ([segment for (segment,) in segments],))
    for table in _VERSIONED:
        connection.execute(f"DELETE FROM {table} WHERE added > {last:d}")
        connection.execute(f"UPDATE {table} SET removed = {NEVER} WHERE removed > {last:d} AND removed < {NEVER}")
    connection.execute(f"DELETE FROM dead WHERE removed > {last:d}")
    # Vectors that only the deleted passages used are spare again.
    connection.execute(
        f"INSERT INTO spare_vectors SELECT id, {last:d} FROM "
        "(SELECT id FROM vectors EXCEPT SELECT vector FROM passages) v ON CONFLICT DO NOTHING"
    )
    connection.execute("DELETE FROM meta WHERE key = 'writing'")


def discard_all(connection: psycopg.Connection) -> None:
    """Delete everything but vectors inside the caller's transaction, for a full build."""
    connection.execute("TRUNCATE documents, passages, segments, postings, dead, generations")
    connection.execute("INSERT INTO spare_vectors SELECT id, 0 FROM vectors ON CONFLICT DO NOTHING")
    # Generations are numbered from 1 again, and readers take lower numbers than these for deleted ones.
    for key in ("cleared", "deleted"):
        _set_meta(connection, key, 0)


def delete_old(connection: psycopg.Connection, collection: int, generation: int) -> None:
    """Delete the rows that belong neither to this generation nor to one that a reader holds.

    A reader takes its lock, and then checks the mark for deleted generations that is set here. So a reader that does
    not see it already has its lock, and is found when the locks are read again.
    """
    oldest = min(_oldest_held(connection, collection, generation), _oldest_on_standbys(connection, generation))
    _set_meta(connection, "cleared", oldest)
    oldest = _oldest_held(connection, collection, oldest)
    with connection.transaction():
        _set_meta(connection, "deleted", oldest)
        for query in _DELETIONS:
            connection.execute(query.format(oldest=oldest, now=generation))
        removed = f"SELECT segment, passages FROM segments WHERE removed <= {oldest:d}"
        for segment, passages in connection.execute(removed, binary=True).fetchall():
            connection.execute("DELETE FROM postings WHERE segment = %s", (segment,))
            connection.execute("DELETE FROM segments WHERE segment = %s", (segment,))
            ids = np.frombuffer(passages, dtype="<i8").tolist()
            connection.execute("DELETE FROM dead WHERE passage = ANY(%s) AND removed <= %s", (ids, oldest))
        _prune_vectors(connection)


_DELETIONS = (
    "DELETE FROM documents WHERE removed <= {oldest}",
    "WITH gone AS (DELETE FROM passages WHERE removed <= {oldest} RETURNING id, vector) "
    "INSERT INTO spare_vectors SELECT DISTINCT vector, {now} FROM gone WHERE NOT EXISTS (SELECT 1 FROM passages p "
    "WHERE p.vector = gone.vector AND p.removed > {oldest}) ON CONFLICT DO NOTHING",
    "DELETE FROM generations WHERE generation < {oldest}",
)


def _prune_vectors(connection: psycopg.Connection) -> None:
    """Delete the vectors that have been unused the longest."""
    spare = fetch_number(connection, "SELECT count(*) FROM spare_vectors")
    stored = fetch_number(connection, "SELECT count(*) FROM vectors")
    excess = spare - max(SPARE_VECTORS, stored - spare)
    if excess > 0:
        oldest = "SELECT vector FROM spare_vectors ORDER BY since, vector LIMIT %s"
        ids = [vector_id for (vector_id,) in connection.execute(oldest, (excess,))]
        connection.execute("DELETE FROM vectors WHERE id = ANY(%s)", (ids,))
        connection.execute("DELETE FROM spare_vectors WHERE vector = ANY(%s)", (ids,))


def _oldest_held(connection: psycopg.Connection, collection: int, newest: int) -> int:
    query = (
        "SELECT coalesce(min(objid::bigint), %s) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 "
        "AND objid > 0 AND classid = %s::oid "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return min(newest, fetch_number(connection, query, newest, collection))


def _oldest_on_standbys(connection: psycopg.Connection, newest: int) -> int:
    """Return the oldest generation of the last minutes, if there is a standby, whose locks are not visible here."""
    query = (
        "SELECT coalesce(min(generation) - 1, %s) FROM generations WHERE published > now() - %s * interval '1 second' "
        "AND EXISTS (SELECT FROM pg_stat_replication)"
    )
    return min(newest, fetch_number(connection, query, newest, STANDBY_SECONDS))


def _set_meta(connection: psycopg.Connection, key: str, value: int) -> None:
    query = "INSERT INTO meta VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    connection.execute(query, (key, value))
