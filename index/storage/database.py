"""The SQLite file: its tables, opening it for writing and reading, and translating its errors."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import math
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from corpus.errors import DamagedIndexError, IncompatibleError, LockedError, NoIndexError, StorageError
from index.storage.locking import describe_writer
from index.storage.regular import require_regular

DATABASE = "index.db"
APPLICATION_ID = 0x71614958  # "qaIX", in the SQLite header
FORMAT_VERSION = 9
REPAIR = "Run `qa check --repair`, or `qa index --full` to rebuild it."

# Rows with vectors fill pages of this size with little waste.
PAGE_SIZE = 8192

_BUSY_SECONDS = 5.0
# Page cache limits, in KiB.
_WRITER_CACHE = 64 * 1024
_READER_CACHE = 32 * 1024

# Every column is described in ../FORMAT.md.
_TABLES = """
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL  -- JSON
) WITHOUT ROWID;

CREATE TABLE documents (  -- one row for each file
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    checked_ns INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    title TEXT NOT NULL,
    passages INTEGER NOT NULL,  -- number of its passages
    records INTEGER NOT NULL,  -- number of its records; 0: the file is one document
    metadata TEXT NOT NULL,  -- JSON: names and values that the file states about itself
    checksum BLOB NOT NULL
);
CREATE INDEX documents_records ON documents (records) WHERE records > 0;

CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: FAISS files refer to vectors by it
    digest BLOB NOT NULL UNIQUE,
    vector BLOB NOT NULL,  -- float16, little-endian
    checksum INTEGER NOT NULL
);

CREATE TABLE vector_refs (  -- one row for each vector
    vector INTEGER PRIMARY KEY REFERENCES vectors (id),
    segment INTEGER NOT NULL,  -- number of the FAISS file that holds it, or 0
    refcount INTEGER NOT NULL,  -- number of passages that refer to it
    unused_since INTEGER NOT NULL,  -- generation whose commit left it without a passage, else 0
    checksum INTEGER NOT NULL
);
CREATE INDEX vector_refs_unused ON vector_refs (unused_since, vector) WHERE refcount = 0;

CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES documents (id),
    vector INTEGER NOT NULL REFERENCES vectors (id),
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    link_checksum INTEGER NOT NULL,  -- over the six before
    body INTEGER NOT NULL,
    line_first INTEGER,  -- of the file; NULL where it has no lines
    line_last INTEGER,
    page INTEGER,
    anchor TEXT,  -- target of links
    title TEXT,  -- of its record, where that is not the title of the file
    heading TEXT NOT NULL,  -- JSON
    context TEXT NOT NULL,  -- what the encoder reads before the text
    text TEXT NOT NULL,
    text_digest BLOB NOT NULL,
    checksum BLOB NOT NULL
);
CREATE INDEX passages_document ON passages (document);
CREATE INDEX passages_text ON passages (text_digest);
CREATE INDEX passages_vector ON passages (vector);

CREATE TABLE duplicates (  -- texts that several passages have
    text_digest BLOB PRIMARY KEY,
    passages INTEGER NOT NULL,  -- how many
    checksum INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE free_ids (  -- ids of deleted passages, to be reused
    passage INTEGER PRIMARY KEY
);

CREATE TABLE skipped (
    path TEXT NOT NULL,
    reason TEXT NOT NULL,
    unreadable INTEGER NOT NULL,
    size INTEGER,
    mtime_ns INTEGER,
    checked_ns INTEGER,
    checksum BLOB NOT NULL
);

CREATE TABLE posting_lists (
    id INTEGER PRIMARY KEY,  -- block * 8192 + hash
    data BLOB NOT NULL,  -- the posting lists of all terms of the block with this hash
    checksum INTEGER NOT NULL
);

CREATE TABLE blocks (
    block INTEGER PRIMARY KEY,
    lengths BLOB NOT NULL,  -- words of each passage as uint16, little-endian; 0 where there is none
    hashes BLOB NOT NULL,  -- a bit for each hash that has a row in posting_lists
    checksum INTEGER NOT NULL
);
"""


def checksum(*fields: object) -> bytes:
    """Return 8 bytes of BLAKE2b over the fields, each prefixed with its length so that no two inputs look alike."""
    digest = hashlib.blake2b(digest_size=8)
    for field in fields:
        data = field if isinstance(field, bytes) else str(field).encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


@contextlib.contextmanager
def translate_errors(file: Path) -> Iterator[None]:
    """Raise SQLite errors as errors of `corpus.errors`."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a bug in this package, not a problem with the file
    except sqlite3.Error as error:
        raise _translated_error(error, file) from error
    # Raised for an SQLite message that quotes undecodable bytes, and by arithmetic on a number in a damaged row.
    except (UnicodeDecodeError, OverflowError) as error:
        raise DamagedIndexError(f"{file} is damaged: {error}. {REPAIR}") from error


def _translated_error(error: sqlite3.Error, file: Path) -> DamagedIndexError | LockedError | StorageError:
    # Errors that Python itself raises, for instance about undecodable text, have no SQLite name.
    name: str = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return LockedError(f"{file} is in use by another process. Wait for it to end.")
    system_errors = ("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_NOMEM")
    if name.startswith(system_errors) and name != "SQLITE_IOERR_SHORT_READ":
        reason = _refusal_reason(file) or error
        if reason is error and name == "SQLITE_FULL":
            return StorageError(f"the disk with {file} is full. Free space.")
        return StorageError(f"the system refused to read or write {file}: {reason}. Check space and permissions.")
    return DamagedIndexError(f"{file} is damaged: {error}. {REPAIR}")


def _refusal_reason(file: Path) -> str | None:
    """Return why the system refuses to open a file, as SQLite leaves that out.

    The file is not opened: closing it would release the locks of this process's connections to it.
    """
    try:
        file.stat()
    except OSError as error:
        return error.strerror
    return None if os.access(file, os.R_OK) else os.strerror(errno.EACCES)


def open_for_writing(file: Path) -> sqlite3.Connection:
    """Open or create the database; the caller holds the writer lock.

    Raises:
        IncompatibleError: It has another format version, or was written by another program.
        DamagedIndexError: It cannot be read.
        StorageError: A read or write failed.
    """
    _require_regular(file, links=1)
    with (
        translate_errors(file),
        _closed_on_error(sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)) as connection,
    ):
        connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE}")
        connection.execute("PRAGMA temp_store = FILE")
        _harden(connection)
        if _is_blank(connection):
            connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            connection.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT_VERSION};"
                f"{_TABLES} COMMIT;"
            )
        _require_format(connection, file)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection


def open_for_reading(file: Path) -> sqlite3.Connection:
    """Open the database read-only, in a transaction that pins its current state.

    Raises:
        NoIndexError: There is no index.
        IncompatibleError: It has another format version, or was written by another program.
        DamagedIndexError: It cannot be read.
        StorageError: It is a link, or no file.
    """
    _require_regular(file, links=math.inf)  # a hard-linked copy, as backups have, may be read
    if not file.is_file():
        raise NoIndexError(f"there is no index in {file.parent}. Run `qa index` on the folder of documents.")
    with translate_errors(file), _closed_on_error(_connect_reading(file)) as connection:
        if _is_blank(connection):
            raise unfinished(file)
        _require_format(connection, file)
        return connection


def _require_regular(file: Path, *, links: float) -> None:
    """Refuse links and the like in place of the database, or of the files beside it, into which readers write too."""
    require_regular(file, links=links)
    for suffix in ("-wal", "-shm", "-journal"):
        require_regular(file.with_name(file.name + suffix), links=1)


def unfinished(file: Path) -> NoIndexError:
    """Return the error for a database without a generation: its first build is running, or was interrupted."""
    if writer := describe_writer(file.parent):
        return NoIndexError(f"the index in {file.parent} is being built by {writer}. Try again when it is done.")
    return NoIndexError(f"the index in {file.parent} was never finished. Run `qa index` again.")


def open_without_log(file: Path) -> sqlite3.Connection:
    """Open the database file while ignoring its write-ahead log; raises `sqlite3.Error` if that fails."""
    return _open_read_only(file, "immutable=1")


def log_size(file: Path) -> int:
    """Return the bytes of the write-ahead log; 0 if there is none."""
    try:
        return file.with_name(file.name + "-wal").stat().st_size
    except OSError:
        return 0


def _connect_reading(file: Path) -> sqlite3.Connection:
    try:
        return _open_read_only(file, "mode=ro")
    except sqlite3.OperationalError as error:
        # In a read-only folder SQLite cannot create the shared-memory file that a WAL database needs.
        # Without a log, the database file is complete and nobody can write to it.
        is_refused = error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY"))
        # Only the transaction that creates the tables has a journal, and a reader cannot roll it back.
        if is_refused and file.with_name(file.name + "-journal").exists():
            raise unfinished(file) from error
        if not is_refused or log_size(file):
            raise
        return open_without_log(file)


def _open_read_only(file: Path, option: str) -> sqlite3.Connection:
    # Several threads may share a connection: SQLite is built in serialised mode, and we only read. Statements are not
    # cached: since Python 3.12, two threads may get the same one and mix up their parameters.
    uri = f"{file.resolve().as_uri()}?{option}"
    connection = sqlite3.connect(
        uri,
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=0,
    )
    with _closed_on_error(connection):
        connection.execute(f"PRAGMA cache_size = -{_READER_CACHE}")
        _harden(connection)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection


@contextlib.contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _harden(connection: sqlite3.Connection) -> None:
    """Check pages as they are read, and keep the schema from calling functions: the file is untrusted."""
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA trusted_schema = OFF")


def _is_blank(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not tables


def _require_format(connection: sqlite3.Connection, file: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise IncompatibleError(f"{file} was not written by this tool, or is damaged. Run `qa index --full`.")
    if version > FORMAT_VERSION:
        raise NewerFormatError(
            f"{file} has format {version}; this version reads up to {FORMAT_VERSION}. Upgrade the tool."
        )
    if version != FORMAT_VERSION:
        raise IncompatibleError(f"{file} has the old format {version}. Rebuild it with `qa index --full`.")


class NewerFormatError(IncompatibleError):
    """The index was written by a later version of the tool, and is left untouched."""
