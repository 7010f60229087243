"""One generation of a collection, pinned while it is read, so that no writer deletes its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import psycopg

from corpus.errors import NoIndexError
from index.postgres.address import StoreAddress
from index.postgres.connection import ReadingPool, Row, connect, translate_errors
from index.postgres.rows import LAST_GENERATION, live, unpack_generation
from index.postgres.schema import VERSION, only_collection, require_current, use
from index.protocol import Index
from index.storage.metadata import Info, SkippedRow

# Least number of candidates that a graph search visits; it continues if it finds too few. In a graph with
# ef_construction 128, this finds as much as 400 with pgvector's default of 64, in two thirds of the time.
EF_SEARCH = 200
# Plans never depend on the parameters, and JIT compilation takes longer than any question.
_SETTINGS = (
    f"SET hnsw.ef_search = {EF_SEARCH}; SET hnsw.iterative_scan = 'relaxed_order'; "
    "SET plan_cache_mode = 'force_generic_plan'; SET jit = off"
)


class PinnedGeneration(Index):
    """The generation of a collection that was the newest on opening, read over as many connections as threads need.

    Args:
        address: The collection's address; if it names no collection, the only one in the database.
        folder: The index folder of the files, if this machine has them.

    Raises:
        NoIndexError: There is no such collection, or its first build was never finished.
        IncompatibleError: The server, pgvector or the tables have the wrong version.
        DamagedIndexError: The rows read are damaged.
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
        self._pool = ReadingPool(address, self._pin)
        try:
            self._pool.rows("SELECT 1")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        # This also releases the generation.
        self._pool.close()

    def skipped(self) -> tuple[SkippedRow, ...]:
        return self._skipped

    def is_newest(self) -> bool:
        rows = self._pool.rows("SELECT max(generation) FROM generations")
        return bool(rows[0][0] == self.info.generation)

    def newest(self) -> Self:
        return type(self)(self.address, self.folder)

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a query, whose first column is never NULL.

        The same statement reads how far generations have been deleted: if writers cannot see which one is being read,
        as on a standby or behind a pooler, its rows may be gone, and the rest must not be taken for all of them.
        """
        deleted = "SELECT (SELECT value FROM meta WHERE key = 'deleted') AS upto"
        rows = self._pool.rows(f"SELECT d.upto, q.* FROM ({deleted}) d LEFT JOIN ({query}) q ON true", values)
        if (rows[0][0] or 0) > self.info.generation:
            raise NoIndexError(f"the index in {self._place} has changed, and the opened version is gone. Ask again.")
        return [row[1:] for row in rows if row[1] is not None]

    def _live(self, alias: str) -> str:
        return live(alias, self.info.generation)

    def _pin(self, connection: psycopg.Connection) -> None:
        """Hold the generation on a new connection, so that no writer deletes it."""
        number = use(connection, self.address.collection, self._place)
        require_current(connection, self._place)
        # If pgvector is not loaded yet, PostgreSQL keeps its settings until it is.
        connection.execute(_SETTINGS.encode())
        while True:
            row = None if self._pinned else connection.execute(LAST_GENERATION.encode(), binary=True).fetchone()
            if row is None and not self._pinned:
                raise NoIndexError(f"the first index in {self._place} was never finished. Run `qa index` again.")
            found = self._pinned or unpack_generation(row or (), self._place)
            generation = found[0].generation
            connection.execute("SELECT pg_advisory_lock_shared(%s::oid::int, %s)", (number, generation))
            # Rows can be gone only if they were cleared before the lock was taken.
            cleared = connection.execute("SELECT value FROM meta WHERE key = 'cleared'").fetchone()
            if cleared is not None and cleared[0] <= generation:
                self._pinned = found
                self.info, self._skipped = found
                return
            if self._pinned:
                raise NoIndexError(f"the connection to {self._place} was lost, and its index has changed. Ask again.")
            connection.execute("SELECT pg_advisory_unlock_all()")
