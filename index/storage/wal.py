"""The write-ahead log of SQLite: whether it belongs to the database file."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from corpus.errors import DamagedIndexError
from index.storage.database import has_log, open_for_reading, open_without_log, translate_errors
from index.storage.metadata import read_info
from index.storage.rows import damaged


def require_log_follows(file: Path) -> None:
    """Refuse a log that is older than its database, as a restored backup may leave it: SQLite would mix the two.

    Raises:
        DamagedIndexError: The log is older, or nothing can be read.
        NoIndexError: There is no index.
        IncompatibleError: It has another format version.
    """
    if not has_log(file):
        return
    # In this order: as long as the first is open, no writer moves what it does not see into the file.
    with contextlib.closing(open_for_reading(file)) as connection:
        with translate_errors(file):
            now = read_info(connection, file)
        before = None
        # Before the log is part of it, the file need not be readable by itself.
        with (
            contextlib.suppress(sqlite3.Error, DamagedIndexError),
            contextlib.closing(open_without_log(file)) as alone,
        ):
            before = read_info(alone, file)
    if before is not None and (now is None or now.generation < before.generation):
        raise damaged(file.with_name(file.name + "-wal"), "the log is older than its database")
