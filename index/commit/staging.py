"""Files that are read but not committed: in a temporary table, so that a build has only a few in memory."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from corpus.errors import StorageError
from corpus.types import Passage
from index.commit.change import SplitFile
from index.storage.rows import StoredDocument

_PASSAGE_FIELDS = [field.name for field in fields(Passage)]


class Staging:
    """The files of the next commit, in order; raises StorageError if there is no space for temporary files."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self.paths: list[str] = []
        with self._translate_errors():
            # SQLite spills it to a file without a name, so a killed process leaves nothing behind.
            connection.execute("CREATE TEMP TABLE staged (file)")

    def add(self, file: SplitFile) -> None:
        """Append a file."""
        with self._translate_errors():
            passages = [[getattr(passage, name) for name in _PASSAGE_FIELDS] for passage in file.passages]
            content = astuple(file.document), passages, [digest.hex() for digest in file.digests]
            self._connection.execute("INSERT INTO temp.staged VALUES (?)", (json.dumps(content),))
        self.paths.append(file.document.path)

    def __iter__(self) -> Iterator[SplitFile]:
        """Yield all files."""
        with self._translate_errors():
            for (content,) in self._connection.execute("SELECT file FROM temp.staged ORDER BY rowid"):
                document, passages, digests = json.loads(content)
                yield SplitFile(
                    StoredDocument(*document), tuple(map(_parse_passage, passages)), tuple(map(bytes.fromhex, digests))
                )

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


def _parse_passage(values: list[Any]) -> Passage:
    """Return a passage from its JSON values, which have lists instead of tuples."""
    values = [tuple(value) if isinstance(value, list) else value for value in values]
    return Passage(*values)
