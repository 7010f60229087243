"""Connections to a PostgreSQL server, and what its errors mean."""

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

# Of one process; each serves one thread at a time.
_MOST = 16
_CONNECT_SECONDS = 10
# Of one statement of a reader.
_STATEMENT_MS = 60_000
# A read is tried again where the connection was lost.
_RETRIES = (0.0, 0.2, 1.0)
# Strings that PostgreSQL cannot store have this in place of NUL, and so has it itself.
_ESCAPE = "\U0010ffff"

Row = tuple[Any, ...]


def connect(address: StoreAddress, *, reading: bool) -> psycopg.Connection:
    """Connect to a server, without a transaction around each statement.

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
            require_auth="!password",  # no server that a folder names gets a password in plain text
            keepalives_idle=30,
            tcp_user_timeout=30_000,
        )


def close(connection: psycopg.Connection) -> None:
    """Close a connection, its locks first: the server would free them some time after."""
    with contextlib.suppress(psycopg.Error):
        connection.execute("SELECT pg_advisory_unlock_all()")
    connection.close()


@contextlib.contextmanager
def translate_errors(place: str) -> Iterator[None]:
    """Raise the errors of PostgreSQL as those of `corpus.errors`."""
    try:
        yield
    except psycopg.Error as error:
        raise _translated(error, place) from error


_BY_CODE: dict[str, tuple[type[QAError], str]] = {
    "53100": (StorageError, "its disk is full. Free space there; nothing of this generation was published"),
    "53200": (StorageError, "it is out of memory"),
    "42501": (StorageError, "this account may not do that. Have its owner grant it, or use another account"),
    "25006": (StorageError, "this account or server only reads. Write with another account, or to the primary"),
    "57014": (StorageError, "it took too long"),
    "55P03": (LockedError, "its tables are locked by another process"),
    "XX001": (DamagedIndexError, "its files are damaged. Restore a back-up, or run `qa index --full`"),
    "XX002": (DamagedIndexError, "an index of it is damaged. Run REINDEX there"),
    "0A000": (IncompatibleError, "it lacks a feature that is needed"),
}


def _translated(error: psycopg.Error, place: str) -> QAError:
    said = (error.diag.message_primary or str(error) or type(error).__name__).strip().splitlines()[0]
    # Behind the address, which is named anyway.
    reason = said.rpartition(" failed: ")[2].removeprefix("FATAL:").strip().rstrip(".")
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


def is_lost(error: psycopg.Error) -> bool:
    """Return whether a connection was lost, so that reading can be tried again on another."""
    codes = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.IdleSessionTimeout)
    return isinstance(error, codes) or (isinstance(error, psycopg.OperationalError) and error.sqlstate is None)


class ReadingPool:
    """Connections for reading, opened as threads need them; each is prepared by `prepare` before it is used."""

    def __init__(self, address: StoreAddress, prepare: Callable[[psycopg.Connection], None]) -> None:
        self._address = address
        self._prepare = prepare
        self._idle: list[psycopg.Connection] = []
        self._lock = Lock()
        self._free = BoundedSemaphore(_MOST)
        self._closed = False
        self._process = os.getpid()

    def close(self) -> None:
        """Close them; twice is fine."""
        self._closed = True
        self._forget_idle()

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a query; where the connection is lost it is asked again on another."""
        for i, pause in enumerate(_RETRIES):
            if pause:
                time.sleep(pause)
            try:
                with self._connection() as connection:
                    return connection.execute(query, values, binary=True).fetchall()
            except psycopg.Error as error:
                if not is_lost(error) or i + 1 == len(_RETRIES):
                    raise _translated(error, self._address.url_with_name) from error
                # The others were lost with it, as when the server was started again.
                self._forget_idle()
        raise StorageError(f"cannot reach {self._address.url_with_name}")  # not reached: the last try returns or raises

    @contextlib.contextmanager
    def _connection(self) -> Iterator[psycopg.Connection]:
        if self._closed:
            raise UsageError("this index is closed; open it again.")
        with self._free:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                connection = connect(self._address, reading=True)
                with _closed_on_error(connection):
                    self._prepare(connection)
            with _closed_on_error(connection):
                yield connection
            with self._lock:
                if not self._closed:
                    self._idle.append(connection)
                    return
            close(connection)

    def _forget_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        # Behind a fork they are the parent's still, who talks to the server.
        for connection in idle if os.getpid() == self._process else ():
            close(connection)


@contextlib.contextmanager
def _closed_on_error(connection: psycopg.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def storable(value: object) -> object:
    """Return a value as PostgreSQL can store it: it has no NUL in texts."""
    if isinstance(value, str) and ("\0" in value or _ESCAPE in value):
        return value.replace(_ESCAPE, _ESCAPE + "1").replace("\0", _ESCAPE + "0")
    return value


def restored(row: Row) -> Row:
    """Return a row as it was before `storable`."""
    if any(isinstance(value, str) and _ESCAPE in value for value in row):
        return tuple(_unescaped(value) if isinstance(value, str) else value for value in row)
    return row


def _unescaped(text: str) -> str:
    return text.replace(_ESCAPE + "0", "\0").replace(_ESCAPE + "1", _ESCAPE)
