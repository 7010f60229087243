"""Documents that are read but not committed yet: in temporary tables, so that a build holds few of them in memory."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from corpus.errors import StorageError
from corpus.types import Passage
from index.commit.change import Entry

# SQLite moves temporary tables to a file that is deleted as soon as it is open, so a killed process leaves nothing.
_TABLES = """
DROP TABLE IF EXISTS temp.staged_documents;
DROP TABLE IF EXISTS temp.staged_passages;
CREATE TEMP TABLE staged_documents (
    path, sha256, size, mtime_ns, checked_ns, media_type, title, records, passages
);
CREATE TEMP TABLE staged_passages (
    start, "end", text, body, title, heading, context, line_first, line_last, page, digest
);
"""


class Staging:
    """Entries of the next commit, in the order in which they are added.

    Args:
        connection: Open for writing, in no transaction.
        file: The database, for error messages.

    Attributes:
        paths: Of the entries.

    Raises:
        StorageError: The disk is full, here or later.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self.paths: list[str] = []
        with _translate_errors(file):
            connection.executescript(_TABLES)

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        with _translate_errors(self._file):
            self._connection.execute(
                "INSERT INTO temp.staged_documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(entry.path, entry.sha256, entry.size, entry.mtime_ns, entry.checked_ns, entry.media_type),
                    *(entry.title, entry.records, len(entry.passages)),
                ),
            )
            self._connection.executemany(
                "INSERT INTO temp.staged_passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [_row_of(*pair) for pair in zip(entry.passages, entry.digests, strict=True)],
            )
        self.paths.append(entry.path)

    def __iter__(self) -> Iterator[Entry]:
        """All entries."""
        with _translate_errors(self._file):
            passages = self._connection.execute("SELECT * FROM temp.staged_passages ORDER BY rowid")
            documents = self._connection.execute("SELECT * FROM temp.staged_documents ORDER BY rowid")
            for path, sha256, size, mtime_ns, checked_ns, media_type, title, records, count in documents:
                rows = list(islice(passages, count))
                found = tuple(
                    Passage(start, end, text, body, title, tuple(json.loads(heading)), context, (first, last), page)
                    for start, end, text, body, title, heading, context, first, last, page, _ in rows
                )
                digests = tuple(row[-1] for row in rows)
                yield Entry(path, sha256, size, mtime_ns, checked_ns, media_type, title, found, digests, records)


@contextlib.contextmanager
def _translate_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(
            f"cannot keep what was read for {file}: {error}. Free space where temporary files go ($TMPDIR or /var/tmp)."
        ) from error


def _row_of(passage: Passage, digest: bytes) -> tuple[object, ...]:
    heading = json.dumps(passage.heading, ensure_ascii=False)
    fields = (passage.start, passage.end, passage.text, passage.body, passage.title, heading, passage.context)
    return (*fields, *passage.lines, passage.page, digest)
