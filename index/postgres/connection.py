"""Connections to a PostgreSQL server, and the translation of its errors."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from threading import BoundedSemaphore, Lock
from typing import Any

from corpus.errors import DamagedIndexError, IncompatibleError, LockedError, QAError, StorageError, UsageError
from index.postgres.address import StoreAddress

try:
    import psycopg
    from psycopg import errors
except ImportError as error:
    raise UsageError("a store in PostgreSQL needs: pip install 'qa-passages[postgres]'") from error

# Connections in a pool; each is used by one thread at a time.
_MAX_CONNECTIONS = 16
_CONNECT_SECONDS = 10
# Time limit for one statement of a reader.
_STATEMENT_MS = 60_000
# Pauses in seconds before a query is retried after its connection was lost.
_PAUSES = (0.2, 1.0)
# Begins escape sequences: for NUL, which PostgreSQL cannot store in texts, and for itself.
_ESCAPE = "\U0010ffff"

Row = tuple[Any, ...]


def connect(address: StoreAddress, *, reading: bool) -> psycopg.Connection:
    """Connect to a server in autocommit mode.

    Raises:
        StorageError: The server cannot be reached, or refuses the login.
    """
    options = f"-c statement_timeout={_STATEMENT_MS if reading else 0} -c default_transaction_read_only=" + (
        "on" if reading else "off"
    )
    with translate_errors(address.url_with_name):
        return psycopg.connect(
            address.url,
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            application_name="qa",
            options=f"{options} -c client_encoding=UTF8",
            require_auth="!password",  # never send a password in plain text
            keepalives_idle=30,
            tcp_user_timeout=30_000,
        )


def close(connection: psycopg.Connection) -> None:
    """Release a connection's locks, as the server would do so only some time later, and close it."""
    with contextlib.suppress(psycopg.Error):
        connection.execute("SELECT pg_advisory_unlock_all()")
    connection.close()


def fetch_number(connection: psycopg.Connection, query: str, *values: object) -> int:
    """Return the number in the first row of a query's result, or 0 if it has none."""
    row = connection.execute(query, values).fetchone()
    return 0 if row is None else int(row[0])


@contextlib.contextmanager
def translate_errors(place: str) -> Iterator[None]:
    """Raise PostgreSQL errors as errors of `corpus.errors`; `place` is the address for their messages."""
    try:
        yield
    except psycopg.Error as error:
        raise _translate(error, place) from error


_BY_CODE: dict[str, tuple[type[QAError], str]] = {
    "53100": (StorageError, "its disk is full. Free space there; this generation was not published"),
    "53200": (StorageError, "it is out of memory"),
    "42501": (StorageError, "this account may not do that. Have the owner grant it, or use another account"),
    "25006": (StorageError, "this account or server is read-only. Write with another account, or to the primary"),
    "57014": (StorageError, "it took too long"),
    "55P03": (LockedError, "its tables are locked by another process"),
    "XX001": (DamagedIndexError, "its files are damaged. Restore a back-up, or run `qa index --full`"),
    "XX002": (DamagedIndexError, "one of its SQL indexes is damaged. Run REINDEX there"),
    "0A000": (IncompatibleError, "it lacks a feature that is needed"),
}


def _translate(error: psycopg.Error, place: str) -> QAError:
    message = (error.diag.message_primary or str(error) or type(error).__name__).strip().splitlines()[0]
    # Without the address in front, as we name that.
    reason = message.rpartition(" failed: ")[2].removeprefix("FATAL:").strip().rstrip(".")
    if error.sqlstate in _BY_CODE:
        kind, meaning = _BY_CODE[error.sqlstate]
        return kind(f"{place}: {meaning} ({reason}).")
    if any(words in str(error) for words in ("authentication failed", "no password supplied", "no pg_hba.conf entry")):
        return StorageError(f"{place} refused the login: {reason}. Put the password into ~/.pgpass or PGPASSWORD.")
    if "does not exist" in reason and error.sqlstate is None:
        return StorageError(f"{place}: {reason}. Create it, or correct the address.")
    if isinstance(error, psycopg.OperationalError):
        return StorageError(f"cannot reach {place}: {reason}. Is the server running? Then run the command again.")
    return DamagedIndexError(f"{place}: {reason}. Run `qa check --store`, or `qa index --full`.")


def _is_lost(error: psycopg.Error) -> bool:
    codes = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.IdleSessionTimeout)
    return isinstance(error, codes) or (isinstance(error, psycopg.OperationalError) and error.sqlstate is None)


class ReadingPool:
    """Connections for reading, opened as threads need them and passed to `prepare` before their first use."""

    def __init__(self, address: StoreAddress, prepare: Callable[[psycopg.Connection], None]) -> None:
        self._address = address
        self._prepare = prepare
        self._idle: list[psycopg.Connection] = []
        self._lock = Lock()
        self._free = BoundedSemaphore(_MAX_CONNECTIONS)
        self._closed = False
        self._process = os.getpid()

    def close(self) -> None:
        """Close all connections; may be called twice."""
        self._closed = True
        self._close_idle()

    def fetch(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a query; if its connection is lost, it is retried on another."""
        pauses = iter(_PAUSES)
        while True:
            try:
                with self._connection() as connection:
                    return connection.execute(query, values, binary=True).fetchall()
            except psycopg.Error as error:
                pause = next(pauses, None)
                if pause is None or not _is_lost(error):
                    raise _translate(error, self._address.url_with_name) from error
            # The other connections were probably lost too, as when the server restarts.
            self._close_idle()
            time.sleep(pause)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[psycopg.Connection]:
        if self._closed:
            raise UsageError("this index is closed; open it again.")
        with self._free:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                connection = connect(self._address, reading=True)
                with _close_on_error(connection):
                    self._prepare(connection)
            with _close_on_error(connection):
                yield connection
            with self._lock:
                if not self._closed:
                    self._idle.append(connection)
                    return
            close(connection)

    def _close_idle(self) -> None:
        # After a fork they belong to the parent, and one of its threads may have held the lock.
        if os.getpid() != self._process:
            return
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            close(connection)


@contextlib.contextmanager
def _close_on_error(connection: psycopg.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def escape(value: object) -> object:
    """Escape NUL in a value, as PostgreSQL cannot store it in texts."""
    if isinstance(value, str) and ("\0" in value or _ESCAPE in value):
        return value.replace(_ESCAPE, _ESCAPE + "1").replace("\0", _ESCAPE + "0")
    return value


def unescape_row(row: Row) -> Row:
    """Undo `escape` in all values of a row."""
    if any(isinstance(value, str) and _ESCAPE in value for value in row):
        return tuple(_unescape(value) if isinstance(value, str) else value for value in row)
    return row


def _unescape(text: str) -> str:
    return text.replace(_ESCAPE + "0", "\0").replace(_ESCAPE + "1", _ESCAPE)
