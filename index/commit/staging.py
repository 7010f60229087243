"""Files that are read but not committed yet: in a temporary table, so that a build holds few of them in memory."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import astuple, fields
from pathlib import Path

from corpus.errors import StorageError
from corpus.types import Passage
from index.commit.change import SplitFile
from index.storage.rows import StoredDocument

_FIELDS = [field.name for field in fields(Passage)]


class Staging:
    """The files of the next commit, in order; raises StorageError where there is no space for temporary files."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self.paths: list[str] = []
        with self._translate_errors():
            # SQLite moves it to a file that is deleted as soon as it is open, so a killed process leaves nothing.
            connection.execute("CREATE TEMP TABLE staged (document, passages, digests)")

    def add(self, file: SplitFile) -> None:
        """Append a file."""
        with self._translate_errors():
            passages = [{name: getattr(one, name) for name in _FIELDS} for one in file.passages]
            digests = [digest.hex() for digest in file.digests]
            row = (json.dumps(astuple(file.document)), json.dumps(passages), json.dumps(digests))
            self._connection.execute("INSERT INTO temp.staged VALUES (?, ?, ?)", row)
        self.paths.append(file.document.path)

    def __iter__(self) -> Iterator[SplitFile]:
        """Yield all files."""
        with self._translate_errors():
            for row in self._connection.execute("SELECT * FROM temp.staged ORDER BY rowid"):
                document, passages, digests = map(json.loads, row)
                found = (
                    Passage(**one | {"heading": tuple(one["heading"]), "lines": one["lines"] and tuple(one["lines"])})
                    for one in passages
                )
                yield SplitFile(StoredDocument(*document), tuple(found), tuple(map(bytes.fromhex, digests)))

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
