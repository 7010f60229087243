"""A collection in PostgreSQL opened for reading: one generation, pinned so that no writer deletes its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpus.errors import NoIndexError
from index.dense.exact_segments import Floats, cosines
from index.dense.scope import Scope
from index.dense.search import Candidate
from index.postgres.address import StoreAddress
from index.postgres.connection import ReadingPool, Row, connect, escape, translate_errors, unescape_row
from index.postgres.keyword import KeywordSegment, PostgresKeywords
from index.postgres.rows import (
    LAST_GENERATION,
    LINK,
    PASSAGE,
    documents_of,
    ids_text,
    live_condition,
    select_documents,
    unpack_generation,
    vector_text,
    vectors_of,
)
from index.postgres.schema import VERSION, only_collection, require_current, use_collection
from index.protocol import Index
from index.storage.metadata import Info, SkippedRow
from index.storage.rows import (
    DOCUMENT,
    FILE_STAT,
    FileStat,
    Link,
    StoredDocument,
    StoredPassage,
    damaged,
    parse_document,
    parse_file_stats,
    parse_links,
    parse_passages,
    require_all,
)
from index.storage.vectors import Stored, Vectors

# `index.postgres.connection`, imported first, says what to install if it is missing.
if TYPE_CHECKING:
    import psycopg

# pgvector rounds the question to float16; its inner products differ from our cosines by less than this.
_ROUNDING = 2.5e-4
# Candidates scored beyond those wanted, so that no other passage can tie with the last result.
_EXTRA = 16
# Scopes of up to this many passages are searched exhaustively, as the graph's recall under a filter is .15 to .69.
_MAX_COMPARED = 60_000
# Minimum number of candidates in a graph search, which continues if it finds too few. In a graph with ef_construction
# 128, this has the same recall as 400 with pgvector's default of 64, in two thirds of the time.
# Plans never depend on the parameters, and JIT compilation takes longer than any question.
_SETTINGS = (
    "SET hnsw.ef_search = 200; SET hnsw.iterative_scan = 'relaxed_order'; "
    "SET plan_cache_mode = 'force_generic_plan'; SET jit = off"
)
_VECTOR = "v.id, v.digest, v.vector, v.checksum"
_WIDTH = _VECTOR.count(",") + 1


class PostgresSnapshot(Index):
    """The newest generation of a collection when it was opened, read over as many connections as threads need.

    No writer deletes its rows before it is closed.

    Args:
        address: The collection's address; without the name of a collection, the only one in the database.
        folder: The index folder of the files, if this machine has them.

    Raises:
        NoIndexError: There is no such collection, or its first build was never finished.
        IncompatibleError: The server, pgvector or the tables have the wrong version.
        DamagedIndexError: A row that was read is damaged.
        StorageError: The server cannot be reached, or refuses.
    """

    format = VERSION
    # Vectors of the last keyword search's results: a hybrid ranking compares them with the question next.
    _last_vectors: tuple[dict[int, int], Stored] | None = None
    _published = ""  # when its generation was, by the server's clock

    def __init__(self, address: StoreAddress, folder: Path | None = None) -> None:
        if not address.collection:
            with connect(address, reading=True) as connection, translate_errors(address.url_with_name):
                address = address.named(only_collection(connection, address.url_with_name))
        self.address = address
        self.folder = folder
        self._place = address.url_with_name
        self._pinned: tuple[Info, tuple[SkippedRow, ...]] | None = None
        self._pool = ReadingPool(address, self._pin)
        try:
            self._pool.fetch("SELECT 1")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        # This also releases the generation.
        self._pool.close()

    def skipped(self) -> tuple[SkippedRow, ...]:
        return self._skipped

    def is_newest(self) -> bool:
        # A collection that was deleted and built again has the same numbers.
        query = "SELECT generation, published::text FROM generations ORDER BY generation DESC LIMIT 1"
        return self._pool.fetch(query) == [(self.info.generation, self._published)]

    def newest(self) -> PostgresSnapshot:
        return PostgresSnapshot(self.address, self.folder)

    def load(self) -> None:
        _ = self._keywords.segments

    def documents(self) -> tuple[StoredDocument, ...]:
        rows = self._fetch(select_documents(self.info.generation))
        return documents_of(rows, self.info.files, self._place)

    def file_stats(self) -> dict[str, FileStat]:
        rows = self._fetch(f"SELECT {FILE_STAT} FROM documents d WHERE {self._live('d')}")
        return parse_file_stats(map(unescape_row, rows), self.info.files, self._place)

    def document(self, path: str) -> StoredDocument | None:
        rows = self._fetch(f"{select_documents(self.info.generation)} AND d.path = %s", (escape(path),))
        return next((parse_document(unescape_row(row), self._place) for row in rows), None)

    def _dense(self, vector: Vectors, limit: int, scope: Scope | None) -> list[Candidate]:
        size = limit + _EXTRA
        while True:
            links, ids, stored = self._nearest(vector, size, scope)
            scores = dict(zip(ids, cosines(stored, vector).tolist(), strict=True))
            candidates = [
                Candidate(link, scores[link.vector]) for link in links if scope is None or scope.contains(link)
            ]
            candidates.sort(key=lambda candidate: (-candidate.score, candidate.key))
            # No other vector scores above this bound, so none can tie with a last result that does.
            bound = min(scores.values(), default=-1.0) + _ROUNDING
            if len(ids) < size or (len(candidates) >= limit and bound < candidates[limit - 1].score):
                return candidates[:limit]
            size *= 2

    def _nearest(self, vector: Vectors, size: int, scope: Scope | None) -> tuple[list[Link], list[int], Stored]:
        """Return the passages of the nearest vectors, and the vectors; small scopes are searched exhaustively."""
        dimension = self.info.dimension
        distance = f"v.vector::halfvec({dimension:d}) <#> %s::halfvec({dimension:d})"
        where = f"vector_dims(v.vector) = {dimension:d}"
        values = [vector_text(vector)]
        if scope is not None and scope.vectors is not None and len(scope.passages) <= _MAX_COMPARED:
            # The graph does not index this sum, so the planner cannot use it.
            distance, where = f"({distance}) + 0", f"{where} AND v.id = ANY(%s::bigint[])"
            values.insert(0, ids_text(scope.vectors))
        rows = self._fetch(
            f"WITH v AS MATERIALIZED (SELECT {_VECTOR} FROM vectors v WHERE {where} ORDER BY {distance} "
            f"LIMIT {size:d}) SELECT {_VECTOR}, {LINK} FROM v LEFT JOIN passages p ON p.vector = v.id AND "
            f"{self._live('p')}",
            values,
        )
        links = parse_links((row[_WIDTH:] for row in rows if row[_WIDTH] is not None), self._place)
        return (list(links), *self._vectors_in(rows))

    def _vectors_in(self, rows: Sequence[Row]) -> tuple[list[int], Stored]:
        """Return the distinct vectors in rows of a vector and a link."""
        distinct = {row[0]: row[:_WIDTH] for row in rows}
        return vectors_of(list(distinct.values()), self.info.dimension, self._place)

    def _keyword(self, terms: Mapping[str, float], limit: int, scope: Scope | None) -> Iterable[Candidate]:
        ids, scores = self._keywords.search(terms, limit, None if scope is None else scope.passages)
        rows = self._fetch(
            f"WITH p AS MATERIALIZED (SELECT {LINK} FROM passages p WHERE p.id = ANY(%s::bigint[]) AND "
            f"{self._live('p')}) SELECT {_VECTOR}, {LINK} FROM p JOIN vectors v ON v.id = p.vector",
            (ids_text(ids),),
        )
        links = {link.id: link for link in parse_links((row[_WIDTH:] for row in rows), self._place)}
        vector_ids, stored = self._vectors_in(rows)
        self._last_vectors = {vector_id: i for i, vector_id in enumerate(vector_ids)}, stored
        return map(Candidate, require_all(links, ids.tolist(), "passage", self._place), scores.tolist())

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return self._keywords.frequencies(terms)

    def find(self, key: str) -> StoredPassage | None:
        passage = next(self._passages("p.key = %s", key), None)
        # No SQL index has this sum, so the server reads the table itself: only that proves that there is none.
        if passage is None and next(self._passages("p.key || '' = %s", key), None) is not None:
            raise damaged(self._place, f"passage {key} cannot be found by its key")
        return passage

    def _links_with_texts_of(self, passages: Sequence[StoredPassage]) -> list[Link]:
        return self._links("p.text_digest = ANY(%s)", list({passage.text_digest for passage in passages}))

    def size(self) -> int:
        query = (
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        return int(self._fetch(query)[0][0])

    def cosines(self, vectors: Sequence[int], vector: Vectors) -> Floats:
        return cosines(self.vectors(vectors), vector)

    def vectors(self, vectors: Sequence[int]) -> Stored:
        cached = self._last_vectors
        if cached is None or any(vector_id not in cached[0] for vector_id in vectors):
            rows = self._fetch(
                f"SELECT {_VECTOR} FROM vectors v WHERE id = ANY(%s::bigint[])", (ids_text(set(vectors)),)
            )
            ids, stored = vectors_of(rows, self.info.dimension, self._place)
            cached = {vector_id: i for i, vector_id in enumerate(ids)}, stored
        positions = np.array(require_all(cached[0], vectors, "vector", self._place), dtype=np.int64)
        selected: Stored = cached[1][positions]
        return selected

    def segments(self) -> dict[int, KeywordSegment]:
        """Return the segments of the keyword index, by number."""
        return self._keywords.segments

    def postings(self, segment: int) -> list[Row]:
        """Return all rows `(term, data, checksum)` of a segment."""
        return self._fetch("SELECT term, data, checksum FROM postings WHERE segment = %s", (segment,))

    def _passages_ending(self, document: int, ranges: Sequence[tuple[int, int]]) -> Iterator[StoredPassage]:
        condition = " OR ".join(["p.stop BETWEEN %s AND %s"] * len(ranges))
        return self._passages(f"p.document = %s AND ({condition})", document, *chain.from_iterable(ranges))

    def _id_condition(self, column: str, ids: Collection[int]) -> tuple[str, str]:
        return f"p.{column} = ANY(%s::bigint[])", ids_text(ids)

    def _links(self, condition: str, *values: object) -> list[Link]:
        query = f"SELECT {LINK} FROM passages p WHERE {condition} AND {self._live('p')}"
        return list(parse_links(self._fetch(query, values), self._place))

    def _passages(self, condition: str, *values: object) -> Iterator[StoredPassage]:
        query = (
            f"SELECT {PASSAGE}, {DOCUMENT} FROM passages p JOIN documents d ON d.id = p.document "
            f"WHERE {condition} AND {self._live('p')}"
        )
        return parse_passages(map(unescape_row, self._fetch(query, values)), self._place)

    @cached_property
    def _keywords(self) -> PostgresKeywords:
        return PostgresKeywords(self._fetch, self.info.generation, self.info.passages, self._place)

    def _fetch(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a query, whose first column is never NULL.

        The same statement reads which generations have been deleted. If writers cannot see which one is being read, as
        on a standby or behind a pooler, some of its rows may be gone, and the remaining ones are not the full result.
        """
        deleted = "SELECT (SELECT value FROM meta WHERE key = 'deleted') AS upto"
        rows = self._pool.fetch(f"SELECT d.upto, q.* FROM ({deleted}) d LEFT JOIN ({query}) q ON true", values)
        if (rows[0][0] or 0) > self.info.generation:
            raise NoIndexError(f"the index in {self._place} has changed, and the opened version is gone. Ask again.")
        return [row[1:] for row in rows if row[1] is not None]

    def _live(self, alias: str) -> str:
        return live_condition(alias, self.info.generation)

    def _pin(self, connection: psycopg.Connection) -> None:
        """Lock the generation on a new connection, so that no writer deletes it."""
        number = use_collection(connection, self.address.collection, self._place)
        require_current(connection, self._place)
        # PostgreSQL keeps the settings of pgvector until that is loaded.
        connection.execute(_SETTINGS)
        while True:
            row = None if self._pinned else connection.execute(LAST_GENERATION, binary=True).fetchone()
            if row is None and not self._pinned:
                raise NoIndexError(f"the first index in {self._place} was never finished. Run `qa index` again.")
            pinned = self._pinned or unpack_generation(row or (), self._place)
            self._published = row[-1] if row else self._published
            generation = pinned[0].generation
            connection.execute("SELECT pg_advisory_lock_shared(%s::oid::int, %s)", (number, generation))
            # Rows can only be gone if they were deleted before the lock was taken.
            cleared = connection.execute("SELECT value FROM meta WHERE key = 'cleared'").fetchone()
            if cleared is not None and cleared[0] <= generation:
                self._pinned = pinned
                self.info, self._skipped = pinned
                return
            if self._pinned:
                raise NoIndexError(f"the connection to {self._place} was lost, and its index has changed. Ask again.")
            connection.execute("SELECT pg_advisory_unlock_all()")
