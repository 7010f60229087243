"""Check that SQLite's write-ahead log belongs to its database file."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from corpus.errors import DamagedIndexError
from index.storage.database import log_size, open_for_reading, open_without_log, translate_errors
from index.storage.metadata import read_info
from index.storage.rows import damaged


def require_log_follows(file: Path) -> None:
    """Refuse a log that is older than its database, as after restoring a backup: SQLite would mix the two.

    Raises:
        DamagedIndexError: The log is older, or the database cannot be read.
        NoIndexError: There is no index.
        IncompatibleError: It has another format version.
    """
    if not log_size(file):
        return
    # In this order: while the first connection is open, no writer merges newer log entries into the file.
    with contextlib.closing(open_for_reading(file)) as connection:
        with translate_errors(file):
            with_log = read_info(connection, file)
        without_log = None
        # Until the log is merged, the file alone need not be readable.
        with (
            contextlib.suppress(sqlite3.Error, DamagedIndexError),
            contextlib.closing(open_without_log(file)) as database,
        ):
            without_log = read_info(database, file)
    if without_log is not None and (with_log is None or with_log.generation < without_log.generation):
        raise damaged(file.with_name(file.name + "-wal"), "the log is older than its database")
