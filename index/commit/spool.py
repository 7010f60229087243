"""Entries set aside on disk between reading and commit, so that a build holds few of them in memory."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import fields as names_of
from pathlib import Path
from types import TracebackType
from typing import Any

from corpus.errors import StorageError
from corpus.types import Passage
from index.commit.change import Entry
from index.storage import disk

_ENTRY = tuple(field.name for field in names_of(Entry))
_PASSAGE = tuple(field.name for field in names_of(Passage))


class Spool:
    """Entries in the order they were added, in a file that has no name and vanishes with the process.

    Args:
        folder: The index folder.

    Raises:
        StorageError: The disk refused, here or later.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._refusal: StorageError | None = None
        self.paths: list[str] = []
        try:
            descriptor = disk.create_unnamed(folder)
            self._file = open(descriptor, "w+", encoding="utf-8")  # noqa: PTH123, SIM115 - a descriptor, closed on exit
        except OSError as error:
            raise self._refused(error) from error

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What is still to be written is of no use to anyone.
        with contextlib.suppress(OSError):
            self._file.close()

    def add(self, entry: Entry) -> None:
        """Set an entry aside."""
        self._require_whole()
        fields = {name: getattr(entry, name) for name in _ENTRY}
        fields["passages"] = [{name: getattr(passage, name) for name in _PASSAGE} for passage in entry.passages]
        fields["digests"] = [digest.hex() for digest in entry.digests]
        try:
            disk.about_to("write", self._folder)
            # ASCII, because names of files may hold what UTF-8 cannot.
            self._file.write(json.dumps(fields) + "\n")
        except OSError as error:
            raise self._refused(error) from error
        self.paths.append(entry.path)

    def __iter__(self) -> Iterator[Entry]:
        """All entries."""
        self._require_whole()
        try:
            self._file.seek(0)
            for line in self._file:
                yield _entry(json.loads(line))
        except OSError as error:
            raise self._refused(error) from error

    def _require_whole(self) -> None:
        # What the system refused once is gone from the buffer, so the rest would come back with a gap.
        if self._refusal is not None:
            raise self._refusal

    def _refused(self, error: OSError) -> StorageError:
        reason = error.strerror or error
        self._refusal = StorageError(f"cannot keep what was read in {self._folder}: {reason}. Free space.")
        return self._refusal


def _entry(fields: dict[str, Any]) -> Entry:
    fields["passages"] = tuple(
        Passage(**(passage | {"heading": tuple(passage["heading"]), "lines": tuple(passage["lines"])}))
        for passage in fields["passages"]
    )
    fields["digests"] = tuple(bytes.fromhex(digest) for digest in fields["digests"])
    return Entry(**fields)
