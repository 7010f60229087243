"""Files that are read but not committed yet: in temporary tables, so that a build holds few of them in memory."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import astuple
from itertools import islice
from pathlib import Path

from corpus.errors import StorageError
from corpus.types import Passage
from index.commit.change import SplitFile
from index.storage.rows import StoredDocument

# SQLite moves temporary tables to a file that is deleted as soon as it is open, so a killed process leaves nothing.
_TABLES = """
CREATE TEMP TABLE staged_files (
    id, path, sha256, size, mtime_ns, checked_ns, media_type, title, passages, records
);
CREATE TEMP TABLE staged_passages (
    start, "end", text, body, title, heading, context, line_first, line_last, page, digest
);
"""


class Staging:
    """The files of the next commit, in the order in which they are added.

    Args:
        connection: Open for writing, in no transaction.
        file: The database, for error messages.

    Attributes:
        paths: Of the files.

    Raises:
        StorageError: There is no space for temporary files, here or later.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self.paths: list[str] = []
        with self._translate_errors():
            connection.executescript(_TABLES)

    def add(self, file: SplitFile) -> None:
        """Append a file."""
        with self._translate_errors():
            self._connection.execute(
                "INSERT INTO temp.staged_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(file.document)
            )
            self._connection.executemany(
                "INSERT INTO temp.staged_passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [_row_of(*pair) for pair in zip(file.passages, file.digests, strict=True)],
            )
        self.paths.append(file.document.path)

    def __iter__(self) -> Iterator[SplitFile]:
        """Yield all files."""
        with self._translate_errors():
            passages = self._connection.execute("SELECT * FROM temp.staged_passages ORDER BY rowid")
            files = self._connection.execute("SELECT * FROM temp.staged_files ORDER BY rowid")
            for document in (StoredDocument(*row) for row in files):
                rows = list(islice(passages, document.passages))
                found = tuple(
                    Passage(start, end, text, body, title, tuple(json.loads(heading)), context, (first, last), page)
                    for start, end, text, body, title, heading, context, first, last, page, _ in rows
                )
                yield SplitFile(document, found, tuple(row[-1] for row in rows))

    def clear(self) -> None:
        """Remove all files."""
        with self._translate_errors():
            for table in ("staged_files", "staged_passages"):
                self._connection.execute(f"DELETE FROM temp.{table}")  # noqa: S608 - a name from above
        self.paths = []

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StorageError(
                f"cannot keep what was read for {self._file}: {error}. "
                "Free space where temporary files go ($TMPDIR or /var/tmp)."
            ) from error


def _row_of(passage: Passage, digest: bytes) -> tuple[object, ...]:
    heading = json.dumps(passage.heading, ensure_ascii=False)
    fields = (passage.start, passage.end, passage.text, passage.body, passage.title, heading, passage.context)
    return (*fields, *passage.lines, passage.page, digest)
