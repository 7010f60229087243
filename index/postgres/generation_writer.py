"""The rows of one generation: written unseen, and deleted again when no reader holds it any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, replace
from itertools import islice
from typing import cast

import numpy as np
import psycopg

from index.commit.change import ChangeSet, SplitFile
from index.commit.insert import fields_of, passage_keys, passage_row
from index.postgres.connection import storable
from index.postgres.keyword_writer import KeywordWriter
from index.postgres.rows import DOCUMENT, live
from index.postgres.schema import NEVER
from index.storage.metadata import Info
from index.storage.rows import document_checksum

WRITER_LOCK = 0  # beside the collection's number, where readers have the generation that they hold, from 1
# From so many vectors on they are searched in a graph, which takes time to build; fewer are all compared.
GRAPH_FROM = 20_000
# So many vectors without a passage are kept for undo, or as many as are in use.
_SPARE = 10_000
# So long a generation that was replaced is kept for readers on a standby.
STANDBY_SECONDS = 900
# Files that are written at once.
_FILES = 64
_DOCUMENT_COLUMNS = "added, " + DOCUMENT.replace("d.", "")
_PASSAGE_COLUMNS = (
    "added, id, key, document, vector, start, stop, link_checksum, body, line_first, line_last, page, anchor, title, "
    "heading, context, text, text_digest, checksum"
)
_VERSIONED = ("documents", "passages", "segments")


class GenerationWriter:
    """Writes the rows of a generation inside the caller's transaction, without publishing it."""

    def __init__(self, connection: psycopg.Connection, place: str, generation: int) -> None:
        self._connection = connection
        self._place = place
        self._generation = generation
        self._touched: set[int] = set()  # vectors of passages that were added or removed

    def remove(self, documents: Sequence[int]) -> None:
        """End the life of documents, by row id, and of their passages."""
        _set(self._connection, "writing", self._generation)
        self._run("UPDATE documents SET removed = %s WHERE id = ANY(%s)", self._generation, list(documents))
        gone = self._connection.execute(
            b"WITH gone AS (UPDATE passages SET removed = %s WHERE document = ANY(%s) RETURNING id, vector), "
            b"noted AS (INSERT INTO dead SELECT id, %s FROM gone) SELECT DISTINCT vector FROM gone",
            (self._generation, list(documents), self._generation),
        )
        self._touched.update(number for (number,) in gone)

    def insert(self, files: Iterable[SplitFile]) -> None:
        """Insert files whose vectors are stored; ids are never used again."""
        self._keywords = KeywordWriter(self._connection, self._place, self._generation)
        self._document, self._passage = (_get(self._connection, f"next_{one}") for one in ("document", "passage"))
        several = iter(files)
        while chunk := list(islice(several, _FILES)):
            self._insert(chunk)
        _set(self._connection, "next_document", self._document)
        _set(self._connection, "next_passage", self._passage)

    def _insert(self, files: Sequence[SplitFile]) -> None:
        vectors = self._vectors([digest for file in files for digest in file.digests])
        documents: list[tuple[object, ...]] = []
        passages: list[tuple[object, ...]] = []
        for file in files:
            document = replace(file.document, id=self._document)
            documents.append((self._generation, *astuple(document), document_checksum(document)))
            keys = passage_keys(document.path, file.passages)
            for one, key, digest in zip(file.passages, keys, file.digests, strict=True):
                row = passage_row(self._passage, key, document, one, vectors[digest])
                passages.append((self._generation, *row))
                self._keywords.add(self._passage, fields_of(document, one))
                self._passage += 1
            self._document += 1
        self._copy(f"documents ({_DOCUMENT_COLUMNS})", documents)
        self._copy(f"passages ({_PASSAGE_COLUMNS})", passages)
        self._touched.update(vectors.values())
        self._run("DELETE FROM spare_vectors WHERE vector = ANY(%s)", sorted(set(vectors.values())))

    def finish(self, dimension: int) -> None:
        """Write the keyword index, and the graph of vectors where they are many."""
        self._keywords.finish()
        (count,) = self._one("SELECT count(*) FROM vectors")
        if count >= GRAPH_FROM:
            # In the default of 64 MB a large graph is built on disk.
            self._run("SET LOCAL maintenance_work_mem = '512MB'")
            self._run(
                f"CREATE INDEX IF NOT EXISTS vectors_graph_{dimension:d} ON vectors USING hnsw "
                f"((vector::halfvec({dimension:d})) halfvec_ip_ops) WITH (ef_construction = 128) "
                f"WHERE vector_dims(vector) = {dimension:d}"
            )

    def info(self, change: ChangeSet, before: Info | None) -> Info:
        """Return the metadata of the generation as it is now, after that of the one before."""
        counts = "count(*), coalesce(sum(greatest(records, 1)), 0), coalesce(sum(passages), 0)"
        here = live("d", self._generation)
        files, documents, passages = self._one(f"SELECT {counts} FROM documents d WHERE {here}")
        used = "SELECT count(DISTINCT vector) FROM passages p WHERE vector = ANY(%s) AND "
        touched = sorted(self._touched)
        (then,) = self._one(used + live("p", self._generation - 1), touched)
        (now,) = self._one(used + live("p", self._generation), touched)
        return Info(
            **asdict(change.config),
            generation=self._generation,
            files=files,
            documents=documents,
            passages=passages,
            vectors=(0 if before is None else before.vectors) + now - then,
            skipped=len(change.skipped),
            segments=(),
        )

    def published(self) -> None:
        """Note, in the transaction that publishes the generation, that nothing is unpublished any more."""
        self._run("DELETE FROM meta WHERE key = 'writing'")

    def _vectors(self, digests: Sequence[bytes]) -> dict[bytes, int]:
        rows = self._connection.execute(b"SELECT digest, id FROM vectors WHERE digest = ANY(%s)", (list(digests),))
        return cast("dict[bytes, int]", dict(rows.fetchall()))

    def _copy(self, into: str, rows: Iterable[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row([storable(value) for value in row])

    def _run(self, query: str, *values: object) -> None:
        self._connection.execute(query.encode(), values)

    def _one(self, query: str, *values: object) -> tuple[int, ...]:
        row = self._connection.execute(query.encode(), values).fetchone()
        return tuple(int(value) for value in row or ())


def discard_unpublished(connection: psycopg.Connection) -> None:
    """Delete what a writer that died had not published, inside the caller's transaction."""
    if connection.execute("SELECT 1 FROM meta WHERE key = 'writing'").fetchone() is None:
        return
    row = connection.execute("SELECT coalesce(max(generation), 0) FROM generations").fetchone()
    last = 0 if row is None else int(row[0])
    segments = connection.execute(f"SELECT segment FROM segments WHERE added > {last:d}".encode()).fetchall()
    connection.execute(b"DELETE FROM postings WHERE segment = ANY(%s)", ([number for (number,) in segments],))
    for table in _VERSIONED:
        connection.execute(f"DELETE FROM {table} WHERE added > {last:d}".encode())
        query = f"UPDATE {table} SET removed = {NEVER} WHERE removed > {last:d} AND removed < {NEVER}"
        connection.execute(query.encode())
    connection.execute(f"DELETE FROM dead WHERE removed > {last:d}".encode())
    # Vectors that the deleted passages had are in no list: they are spare again.
    connection.execute(
        f"INSERT INTO spare_vectors SELECT id, {last:d} FROM "
        "(SELECT id FROM vectors EXCEPT SELECT vector FROM passages) v ON CONFLICT DO NOTHING".encode()
    )
    connection.execute("DELETE FROM meta WHERE key = 'writing'")


def discard_all(connection: psycopg.Connection) -> None:
    """Delete everything but vectors, for a build that writes it anew, inside the caller's transaction."""
    connection.execute("TRUNCATE documents, passages, segments, postings, dead, generations")
    connection.execute("INSERT INTO spare_vectors SELECT id, 0 FROM vectors ON CONFLICT DO NOTHING")


def clear(connection: psycopg.Connection, collection: int, generation: int) -> None:
    """Delete rows that neither this generation nor any that a reader holds has.

    A reader takes its lock and then looks whether its generation was cleared. So those that do not see what is cleared
    here had their lock before, and are seen when the locks are read again.
    """
    oldest = min(_oldest_held(connection, collection, generation), _oldest_on_standbys(connection, generation))
    _set(connection, "cleared", oldest)
    oldest = _oldest_held(connection, collection, oldest)
    with connection.transaction():
        _set(connection, "deleted", oldest)
        for query in _CLEAR:
            connection.execute(query.format(oldest=oldest, now=generation).encode())
        for segment, passages in _cleared_segments(connection, oldest):
            connection.execute(b"DELETE FROM postings WHERE segment = %s", (segment,))
            connection.execute(b"DELETE FROM segments WHERE segment = %s", (segment,))
            ids = np.frombuffer(passages, dtype="<i8").tolist()
            connection.execute(b"DELETE FROM dead WHERE passage = ANY(%s) AND removed <= %s", (ids, oldest))
        _prune_vectors(connection)


_CLEAR = (
    "DELETE FROM documents WHERE removed <= {oldest}",
    "WITH gone AS (DELETE FROM passages WHERE removed <= {oldest} RETURNING id, vector) "
    "INSERT INTO spare_vectors SELECT DISTINCT vector, {now} FROM gone WHERE NOT EXISTS (SELECT 1 FROM passages p "
    "WHERE p.vector = gone.vector AND p.removed > {oldest}) ON CONFLICT DO NOTHING",
    "DELETE FROM generations WHERE generation < {oldest}",
)


def _cleared_segments(connection: psycopg.Connection, oldest: int) -> Iterator[tuple[int, bytes]]:
    query = f"SELECT segment, passages FROM segments WHERE removed <= {oldest:d}"
    yield from connection.execute(query.encode(), binary=True).fetchall()


def _prune_vectors(connection: psycopg.Connection) -> None:
    """Delete the vectors that were unused for longest."""
    spare, stored = (
        sum(number for (number,) in connection.execute(f"SELECT count(*) FROM {table}".encode()))
        for table in ("spare_vectors", "vectors")
    )
    over = spare - max(_SPARE, stored - spare)
    if over > 0:
        oldest = b"SELECT vector FROM spare_vectors ORDER BY since, vector LIMIT %s"
        ids = [number for (number,) in connection.execute(oldest, (over,))]
        connection.execute(b"DELETE FROM vectors WHERE id = ANY(%s)", (ids,))
        connection.execute(b"DELETE FROM spare_vectors WHERE vector = ANY(%s)", (ids,))


def _oldest_held(connection: psycopg.Connection, collection: int, newest: int) -> int:
    query = (
        b"SELECT coalesce(min(objid::bigint), %s) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 "
        b"AND objid > 0 AND classid = %s::oid "
        b"AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    row = connection.execute(query, (newest, collection)).fetchone()
    return newest if row is None else min(newest, int(row[0]))


def _oldest_on_standbys(connection: psycopg.Connection, newest: int) -> int:
    """The generation that was replaced first in the last minutes, where there is a standby: its locks are not seen."""
    query = (
        b"SELECT coalesce(min(generation) - 1, %s) FROM generations WHERE published > now() - %s * interval '1 second' "
        b"AND EXISTS (SELECT FROM pg_stat_replication)"
    )
    row = connection.execute(query, (newest, STANDBY_SECONDS)).fetchone()
    return newest if row is None else min(newest, int(row[0]))


def _get(connection: psycopg.Connection, key: str) -> int:
    row = connection.execute(b"SELECT value FROM meta WHERE key = %s", (key,)).fetchone()
    return 0 if row is None else int(row[0])


def _set(connection: psycopg.Connection, key: str, value: int) -> None:
    query = b"INSERT INTO meta VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    connection.execute(query, (key, value))
