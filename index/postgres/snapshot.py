"""A collection in PostgreSQL opened for reading: one generation, pinned for as long as it is open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import psycopg

from corpus.errors import NoIndexError
from index.dense.faiss_segments import Floats, Ids, Stored, cosines
from index.dense.filters import Scope
from index.dense.search import Candidate
from index.dense.vector_rows import PassageColumns
from index.encoder.protocol import Vectors
from index.postgres.address import StoreAddress
from index.postgres.connection import ReadingPool, Row, connect, storable, translate_errors
from index.postgres.keyword import KeywordSegment, PostgresKeywords
from index.postgres.rows import (
    DOCUMENT,
    LAST_GENERATION,
    LINK,
    PASSAGE,
    damage,
    documents_of,
    links_of,
    live,
    passages_of,
    require_all,
    unpack_generation,
    vector_text,
    vectors_of,
)
from index.postgres.schema import VERSION, only_collection, require_current, use
from index.protocol import Index
from index.storage.metadata import Info, SkippedRow
from index.storage.rows import Link, StoredDocument, StoredPassage

# Candidates that a search in the graph looks at, at least. It goes on where that finds too few.
EF_SEARCH = 400
# pgvector rounds the question to float16; its inner products differ from our cosines by less.
_ROUNDING = 2.5e-4
# How many more than wanted are scored, so that nothing left out can tie with the last place.
_BEYOND = 16
# A scope of so many passages is compared one by one: under a filter the graph finds .15 to .69 of what it should.
_COMPARED = 60_000


class PostgresSnapshot(Index):
    """One generation of a collection in PostgreSQL; several threads may use it, each with a connection of its own.

    Args:
        address: Of the collection; the only one of the database where it names none.
        folder: The index folder of the files, if this machine has them.

    Raises:
        NoIndexError: There is no such collection, or its first build was never finished.
        IncompatibleError: The server, pgvector or the tables have another version.
        DamagedIndexError: What was read is damaged.
        StorageError: The server cannot be reached, or refuses.
    """

    format = VERSION

    def __init__(self, address: StoreAddress, folder: Path | None = None) -> None:
        if not address.collection:
            with connect(address, reading=True) as connection, translate_errors(address.url_with_name):
                address = address.named(only_collection(connection, address.url_with_name))
        self.address = address
        self.folder = folder
        self._place = address.url_with_name
        self._pinned: tuple[Info, tuple[SkippedRow, ...]] | None = None
        self._last_scope: Scope | None = None
        self._pool = ReadingPool(address, self._pin)
        try:
            self._pool.rows("SELECT 1")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        # Which frees the generation.
        self._pool.close()

    def is_newest(self) -> bool:
        rows = self._pool.rows("SELECT max(generation) FROM generations")
        return bool(rows[0][0] == self.info.generation)

    def newest(self) -> PostgresSnapshot:
        return PostgresSnapshot(self.address, self.folder)

    def load(self) -> None:
        _ = self._keywords.segments

    def skipped(self) -> tuple[SkippedRow, ...]:
        return self._skipped

    def documents(self) -> tuple[StoredDocument, ...]:
        rows = self._pool.rows(f"SELECT {DOCUMENT} FROM documents d WHERE {self._live('d')}")
        found = sorted(documents_of(rows, self._place), key=lambda one: one.path)
        if len(found) != self.info.files:
            raise damage(self._place, "the number of documents is inconsistent")
        return tuple(found)

    def document(self, path: str) -> StoredDocument | None:
        query = f"SELECT {DOCUMENT} FROM documents d WHERE d.path = %s AND {self._live('d')}"
        return next(documents_of(self._pool.rows(query, (storable(path),)), self._place), None)

    def _dense(self, vector: Vectors, limit: int, scope: Scope | None) -> list[Candidate]:
        size = limit + _BEYOND
        while True:
            ids, stored = self._nearest(vector, size, scope)
            scores = dict(zip(ids, cosines(stored, vector).tolist(), strict=True))
            links = self._links("p.vector = ANY(%s)", ids)
            found = [Candidate(link, scores[link.vector]) for link in links if scope is None or scope.has(link)]
            found.sort(key=lambda one: (-one.score, one.key))
            # Nothing left out scores above the least, so nothing ties with the last place.
            bound = min(scores.values(), default=-1.0) + _ROUNDING
            if len(ids) < size or (len(found) >= limit and bound < found[limit - 1].score):
                return found[:limit]
            size *= 2

    def _nearest(self, vector: Vectors, size: int, scope: Scope | None) -> tuple[list[int], Stored]:
        """The vectors that are the nearest of a generation, or of a scope that is compared one by one."""
        dimension = self.info.dimension
        distance = f"v.vector::halfvec({dimension:d}) <#> %s::halfvec({dimension:d})"
        where = f"vector_dims(v.vector) = {dimension:d}"
        values: list[object] = [vector_text(vector), size]
        if scope is not None and len(scope.passages) <= _COMPARED:
            # No index has this sum, so that the planner cannot walk the graph instead.
            distance, where = f"({distance}) + 0", f"{where} AND v.id = ANY(%s)"
            values.insert(0, self._vectors_of(scope).tolist())
        query = f"SELECT v.id, v.digest, v.vector, v.checksum FROM vectors v WHERE {where} ORDER BY {distance} LIMIT %s"
        return vectors_of(self._pool.rows(query, values), dimension, self._place)

    def _vectors_of(self, scope: Scope) -> Ids:
        if scope.vectors is not None:
            return scope.vectors
        rows = self._pool.rows("SELECT DISTINCT vector FROM passages WHERE id = ANY(%s)", (scope.passages.tolist(),))
        return np.array(rows, dtype=np.int64).reshape(-1)

    def _keyword(self, terms: Mapping[str, float], limit: int, scope: Scope | None) -> Iterable[Candidate]:
        ids, scores = self._keywords.search(terms, limit, None if scope is None else scope.passages)
        links = {link.id: link for link in self._links("p.id = ANY(%s)", ids.tolist())}
        return map(Candidate, require_all(links, ids.tolist(), "passage", self._place), scores.tolist())

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return self._keywords.frequencies(terms)

    def scope(self, passages: frozenset[int]) -> Scope:
        links = self._links("p.id = ANY(%s)", sorted(passages))
        require_all({link.id: link for link in links}, sorted(passages), "passage", self._place)
        return _scope_with(links, frozenset(link.document for link in links), only=passages)

    def _scope_of(self, documents: frozenset[int]) -> Scope:
        scope = self._last_scope
        if scope is None or scope.documents != documents:
            scope = _scope_with(self._links("p.document = ANY(%s)", sorted(documents)), documents)
            self._last_scope = scope
        return scope

    def columns(self, documents: frozenset[int] | None = None) -> PassageColumns:
        links = self._links("true") if documents is None else self._links("p.document = ANY(%s)", sorted(documents))
        if documents is None and len(links) != self.info.passages:
            raise damage(self._place, "the number of passages is inconsistent")
        rows = np.array([(one.id, one.document, one.vector, one.start) for one in links], dtype=np.int64).reshape(-1, 4)
        order = np.lexsort((rows[:, 0], rows[:, 3], rows[:, 1]))
        return PassageColumns(*rows[order, :3].T)

    def passages(self, ids: Sequence[int]) -> list[StoredPassage]:
        found = {one.id: one for one in self._passages("p.id = ANY(%s)", list(ids))}
        return require_all(found, ids, "passage", self._place)

    def passages_of(self, path: str) -> tuple[StoredPassage, ...]:
        document = self.document(path)
        if document is None:
            return ()
        found = sorted(self._passages("p.document = %s", document.id), key=lambda one: (one.start, one.end))
        if len(found) != document.passages:
            raise damage(self._place, f"the passages of document {document.id} are inconsistent")
        return tuple(found)

    def find(self, key: str) -> StoredPassage | None:
        return next(iter(self._passages("p.key = %s", key)), None)

    def duplicates(self, passages: Sequence[StoredPassage]) -> dict[int, tuple[StoredPassage, ...]]:
        digests = list({one.text_digest for one in passages})
        links = self._links("p.text_digest = ANY(%s)", digests)
        known = {one.id: one for one in passages}
        others = self.passages([one.id for one in links if one.id not in known])
        same: defaultdict[bytes, list[StoredPassage]] = defaultdict(list)
        for one in sorted([*known.values(), *others], key=lambda one: (one.document.path, one.start)):
            same[one.text_digest].append(one)
        return {one.id: tuple(other for other in same[one.text_digest] if other.id != one.id) for one in passages}

    def size(self) -> int:
        query = (
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        return int(self._pool.rows(query)[0][0])

    def cosines(self, vectors: Sequence[int], vector: Vectors) -> Floats:
        return cosines(self.vectors(vectors), vector)

    def vectors(self, vectors: Sequence[int]) -> Stored:
        query = "SELECT id, digest, vector, checksum FROM vectors WHERE id = ANY(%s)"
        rows = self._pool.rows(query, (list(set(vectors)),)) if len(vectors) else []
        ids, stored = vectors_of(rows, self.info.dimension, self._place)
        places = require_all({number: i for i, number in enumerate(ids)}, vectors, "vector", self._place)
        return stored[places]

    def segments(self) -> dict[int, KeywordSegment]:
        """Return the segments of the keyword index, by number."""
        return self._keywords.segments

    def postings(self, segment: int) -> list[Row]:
        """Return all rows `(term, data, checksum)` of a segment."""
        return self._pool.rows("SELECT term, data, checksum FROM postings WHERE segment = %s", (segment,))

    def _pin(self, connection: psycopg.Connection) -> None:
        """Hold the generation on a new connection: a writer clears none that somebody holds."""
        number = use(connection, self.address.collection, self._place)
        require_current(connection, self._place)
        # Where pgvector is not loaded yet, these are remembered until it is.
        connection.execute(f"SET hnsw.ef_search = {EF_SEARCH}; SET hnsw.iterative_scan = 'relaxed_order'".encode())
        while True:
            row = None if self._pinned else connection.execute(LAST_GENERATION.encode(), binary=True).fetchone()
            if row is None and not self._pinned:
                raise NoIndexError(f"the first index in {self._place} was never finished. Run `qa index` again.")
            found = self._pinned or unpack_generation(row or (), self._place)
            generation = found[0].generation
            connection.execute("SELECT pg_advisory_lock_shared(%s::oid::int, %s)", (number, generation))
            # Only what was cleared before the lock was there can be gone.
            cleared = connection.execute("SELECT value FROM meta WHERE key = 'cleared'").fetchone()
            if cleared is not None and cleared[0] <= generation:
                self._pinned = found
                self.info, self._skipped = found
                return
            if self._pinned:
                raise NoIndexError(f"the connection to {self._place} was lost, and its index has changed. Ask again.")
            connection.execute("SELECT pg_advisory_unlock_all()")

    def _live(self, alias: str) -> str:
        return live(alias, self.info.generation)

    def _links(self, condition: str, *values: object) -> list[Link]:
        query = f"SELECT {LINK} FROM passages p WHERE {condition} AND {self._live('p')}"
        return list(links_of(self._pool.rows(query, values), self._place))

    def _passages(self, condition: str, value: object) -> list[StoredPassage]:
        query = (
            f"SELECT {PASSAGE}, {DOCUMENT} FROM passages p JOIN documents d ON d.id = p.document "
            f"WHERE {condition} AND {self._live('p')}"
        )
        return list(passages_of(self._pool.rows(query, (value,)), self._place))

    @cached_property
    def _keywords(self) -> PostgresKeywords:
        return PostgresKeywords(self._pool.rows, self.info.generation, self.info.passages, self._place)


def _scope_with(links: Sequence[Link], documents: frozenset[int], only: frozenset[int] | None = None) -> Scope:
    passages = np.array(sorted(link.id for link in links), dtype=np.int64)
    return Scope(documents, passages, np.unique([link.vector for link in links]).astype(np.int64), only)
