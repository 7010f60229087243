"""Files read but not yet committed, kept in a temporary table so that a build holds only a few in memory."""

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
    """The files of the next commit, in order; raises StorageError if there is no space for temporary files."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self.paths: list[str] = []
        with self._translate_errors():
            # SQLite spills it to a file that it unlinks on opening, so a killed process leaves nothing behind.
            connection.execute("CREATE TEMP TABLE staged (document, passages, digests)")

    def add(self, file: SplitFile) -> None:
        """Append a file."""
        with self._translate_errors():
            passages = [{name: getattr(passage, name) for name in _FIELDS} for passage in file.passages]
            digests = [digest.hex() for digest in file.digests]
            row = (json.dumps(astuple(file.document)), json.dumps(passages), json.dumps(digests))
            self._connection.execute("INSERT INTO temp.staged VALUES (?, ?, ?)", row)
        self.paths.append(file.document.path)

    def __iter__(self) -> Iterator[SplitFile]:
        """Yield all files."""
        with self._translate_errors():
            for row in self._connection.execute("SELECT * FROM temp.staged ORDER BY rowid"):
                document, values, digests = map(json.loads, row)
                passages = (
                    Passage(**one | {"heading": tuple(one["heading"]), "lines": one["lines"] and tuple(one["lines"])})
                    for one in values
                )
                yield SplitFile(StoredDocument(*document), tuple(passages), tuple(map(bytes.fromhex, digests)))

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
                f"cannot write temporary data for {self._file}: {error}. "
                "Free space where temporary files go ($TMPDIR or /var/tmp)."
            ) from error
