"""What a database that cannot be used any more still yields: its embeddings, row by row."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from corpus.errors import StorageError

from .schema import DATABASE
from .vector_rows import vector_checksum

_ASIDE = DATABASE + ".damaged"
# Behind the database itself: SQLite drops a log whose database is gone.
_COMPANIONS = ("", "-wal", "-shm")


def set_aside(folder: Path) -> None:
    """Make room for a new database; the old one stays until its embeddings were taken over.

    Raises:
        StorageError: The disk refused.
    """
    try:
        discard(folder)
        for companion in _COMPANIONS:
            path = folder / (DATABASE + companion)
            if path.exists():
                path.replace(folder / (_ASIDE + companion))
    except OSError as error:
        raise StorageError(f"cannot set {folder / DATABASE} aside: {error.strerror or error}") from error


def vectors_left(folder: Path) -> Iterator[tuple[bytes, bytes]]:
    """Digests and vectors of the database that was set aside, as far as they can be read and hold."""
    file = folder / _ASIDE
    if not file.exists():
        return
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT digest, vector, checksum FROM vectors")
        while (row := rows.fetchone()) is not None:
            digest, data, check = row
            if isinstance(digest, bytes) and isinstance(data, bytes) and vector_checksum(digest, data) == check:
                yield digest, data


def discard(folder: Path) -> None:
    """Delete the database that was set aside."""
    for companion in _COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            (folder / (_ASIDE + companion)).unlink()
