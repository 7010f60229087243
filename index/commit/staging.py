"""Files that are read but not committed yet: in a temporary table, so that a build holds few of them in memory."""

from __future__ import annotations

import contextlib
import pickle
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from corpus.errors import StorageError
from index.commit.change import SplitFile


class Staging:
    """The files of the next commit, in the order in which they are added.

    Raises:
        StorageError: There is no space for temporary files, here or later.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self.paths: list[str] = []
        with self._translate_errors():
            # SQLite moves it to a file that is deleted as soon as it is open: a killed process leaves nothing, and
            # nobody else can write it.
            connection.execute("CREATE TEMP TABLE staged (file)")

    def add(self, file: SplitFile) -> None:
        """Append a file."""
        with self._translate_errors():
            self._connection.execute("INSERT INTO temp.staged VALUES (?)", (pickle.dumps(file),))
        self.paths.append(file.document.path)

    def __iter__(self) -> Iterator[SplitFile]:
        """Yield all files."""
        with self._translate_errors():
            for (file,) in self._connection.execute("SELECT file FROM temp.staged ORDER BY rowid"):
                yield pickle.loads(file)  # noqa: S301 - as `add` wrote it

    def clear(self) -> None:
        """Remove all files."""
        with self._translate_errors():
            self._connection.execute("DELETE FROM temp.staged")
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
