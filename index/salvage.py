"""What a database that cannot be used any more still yields: its embeddings, row by row."""

# ruff: noqa: S608 - statements are put together from parts in this module; values are bound

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.errors import StorageError

from . import disk
from .schema import DATABASE
from .vector_rows import vector_checksum

_ASIDE = DATABASE + ".damaged"
# Behind the database itself: SQLite drops a log whose database is gone.
_COMPANIONS = ("", "-wal", "-shm")

# Row numbers asked for at once; where that fails, halves of them.
_SPAN = 1024
# Nothing a damaged file says makes this run for hours or fill the memory: queries that may fail, rows asked for by
# themselves, queries in all, and bytes in a value, of which a vector of 32,768 dimensions has as many.
_MOST_FAILURES = 200_000
_MOST_SINGLE = 10_000_000
_MOST_SPANS = 1_000_000
_LONGEST_VALUE = 1 << 16

Row = tuple[bytes, bytes]


def set_aside(folder: Path) -> None:
    """Make room for a new database; the old one stays until its embeddings were taken over.

    Raises:
        StorageError: The disk refused.
    """
    try:
        for companion in _COMPANIONS:
            disk.delete_all(folder / (_ASIDE + companion))
        _move(folder, _COMPANIONS)
    except OSError as error:
        raise _refused(folder / DATABASE, "set aside", error) from error


def resume(folder: Path) -> None:
    """Finish what `set_aside` began, if its process was killed: the log follows its database.

    Raises:
        StorageError: The disk refused.
    """
    if (folder / _ASIDE).exists() and not (folder / DATABASE).exists():
        try:
            _move(folder, _COMPANIONS[1:])
        except OSError as error:
            raise _refused(folder / DATABASE, "set aside", error) from error


def _move(folder: Path, companions: tuple[str, ...]) -> None:
    for companion in companions:
        path = folder / (DATABASE + companion)
        if path.exists():
            disk.rename(path, folder / (_ASIDE + companion))
    disk.sync_folder(folder)


def vectors_left(folder: Path) -> Iterator[Row]:
    """Digests and vectors of the database that was set aside, as far as they can be read and hold.

    Raises:
        StorageError: The system refused to open it; what it holds is not known to be lost.
    """
    file = folder / _ASIDE
    if not file.exists():
        return
    with _skipping(file), contextlib.closing(_connect(file)) as connection:
        # Without a schema all is lost; and what only looks like the table may be a query without end.
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'vectors'").fetchone():
            return
        pending: list[tuple[int, int]] = []
        failures = single = 0
        for start in range(1, _last(connection, file) + 1, _SPAN):
            pending.append((start, start + _SPAN - 1))
            while pending:
                low, high = pending.pop()
                rows: list[Row] | None = None
                with _skipping(file):
                    rows = _rows(connection, low, high)
                if rows is not None:
                    yield from rows
                    missing = high - low + 1 - len(rows)
                    if low < high and missing and single < _MOST_SINGLE:
                        single += high - low + 1
                        yield from _one_by_one(connection, file, low, high)
                    continue
                failures += 1
                if failures > _MOST_FAILURES:
                    return
                if low < high:
                    middle = (low + high) // 2
                    pending += [(middle + 1, high), (low, middle)]


def model_left(folder: Path) -> str | None:
    """The model that a database which cannot be used says it was built with, if it still says so."""
    model = _said(folder, "model")
    return model if isinstance(model, str) else None


def patterns_left(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The patterns to take in and to leave out that such a database says it was built with, if it still says so."""
    found = [_said(folder, key) for key in ("include", "exclude")]
    if not all(isinstance(lines, list) and all(isinstance(line, str) for line in lines) for lines in found):
        return None
    return tuple(found[0]), tuple(found[1])


def _said(folder: Path, key: str) -> Any:
    file = folder / DATABASE
    bad = (sqlite3.Error, ValueError, TypeError, RecursionError)
    with contextlib.suppress(*bad), contextlib.closing(_connect(file)) as connection:
        (value,) = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return json.loads(value)
    return None


def discard(folder: Path) -> None:
    """Delete the database that was set aside; what the disk refuses to delete is there the next time."""
    with contextlib.suppress(OSError):
        for companion in _COMPANIONS:
            disk.delete_all(folder / (_ASIDE + companion))


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
    # A file shorter than it says, or one whose schema has a fault, is read as far as it goes.
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    return connection


def _last(connection: sqlite3.Connection, file: Path) -> int:
    """A row number that none exceeds, as far as it can be told."""
    for query in ("SELECT max(id) FROM vectors", "SELECT max(seq) FROM sqlite_sequence WHERE name = 'vectors'"):
        with _skipping(file):
            (number,) = connection.execute(query).fetchone()
            if isinstance(number, int):
                return min(number, _SPAN * _MOST_SPANS)
    return min(file.stat().st_size, _SPAN * _MOST_SPANS)


def _rows(connection: sqlite3.Connection, low: int, high: int) -> list[Row] | None:
    """Rows that hold what was written, of those with these numbers; None where a damaged tree gives too many."""
    # One number is sought otherwise than a range: it is found where rows beside it are out of order.
    condition = "id BETWEEN ? AND ?" if low < high else "id = ?"
    most = high - low + 1
    query = f"SELECT digest, vector, checksum FROM vectors WHERE {condition}"
    found = connection.execute(query, (low, high)[:most]).fetchmany(most + 1)
    if len(found) > most:
        return None
    return [
        (digest, data)
        for digest, data, check in found
        if isinstance(digest, bytes) and isinstance(data, bytes) and vector_checksum(digest, data) == check
    ]


def _one_by_one(connection: sqlite3.Connection, file: Path, low: int, high: int) -> Iterator[Row]:
    """The same: a range ends at a row whose number was damaged, though the rows behind it can be found."""
    for number in range(low, high + 1):
        with _skipping(file):
            yield from _rows(connection, number, number) or ()


@contextlib.contextmanager
def _skipping(file: Path) -> Iterator[None]:
    """Pass over what cannot be read, but not over a system that refuses for now."""
    try:
        yield
    except sqlite3.Error as error:
        name: str = getattr(error, "sqlite_errorname", "")
        unreadable = name.startswith(("SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_CORRUPTFS"))
        refused = ("SQLITE_IOERR", "SQLITE_FULL", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_READONLY", "SQLITE_NOMEM")
        if name.startswith(refused) and not unreadable:
            raise _refused(file, "read", error) from error


def _refused(file: Path, what: str, error: Exception) -> StorageError:
    reason = getattr(error, "strerror", None) or error
    return StorageError(
        f"cannot {what} {file}: {reason}. Check space and permissions; the embeddings in it are lost if it is deleted."
    )
