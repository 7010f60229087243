"""`qa status`: what is indexed, and what has changed since."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corpus import INDEX_FOLDER, SkippedFile
from corpus.errors import CorpusError, UsageError
from index import Index, Info, find_changes, open_index, open_store, store_of
from qa.collection.settings import settings_difference
from qa.locate import index_command

MAX_EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an index and its place, the paths of files that differ from it, and the command that updates it.

    `settings` says how the settings differ from the index or, if `is_invalid`, what to correct; `problem` says why the
    files could not be compared; both may be "". `skipped` are the files that the last build skipped.
    """

    place: str
    info: Info
    format: int
    bytes: int
    skipped: tuple[SkippedFile, ...]
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    problem: str = ""
    command: str = ""
    settings: str = ""
    is_invalid: bool = False

    @property
    def changes(self) -> int:
        """How many files differ."""
        return len(self.added) + len(self.changed) + len(self.removed)

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:
        """The first ten of these files, as pairs of a kind of change and a path."""
        groups = (("added", self.added), ("changed", self.changed), ("removed", self.removed))
        return tuple((kind, path) for kind, paths in groups for path in paths)[:MAX_EXAMPLES]

    def as_json(self) -> dict[str, Any]:
        """Return the object that `qa status --json` prints."""
        return {
            "version": 1,
            "index": self.place,
            "files": self.info.files,
            "documents": self.info.documents,
            "passages": self.info.passages,
            "model": self.info.model,
            "generation": self.info.generation,
            "format": self.format,
            "bytes": self.bytes,
            "include": list(self.info.include),
            "exclude": list(self.info.exclude),
            "paths": list(self.info.paths),
            "settings": self.settings or None,
            "changes": {
                "added": len(self.added),
                "changed": len(self.changed),
                "removed": len(self.removed),
                "examples": [{"change": kind, "path": path} for kind, path in self.examples],
                "problem": self.problem or None,
            },
            "skipped": [{"path": file.path, "reason": file.reason} for file in self.skipped],
        }


def status(root: Path) -> Status:
    """Return the state of an index, compared with its files."""
    folder = root / INDEX_FOLDER
    with open_index(folder) as snapshot:
        state = replace(_stored_status(snapshot, store_of(folder) or str(folder)), command=index_command(root))
        try:
            diff = find_changes(root, snapshot)
            added, changed = (tuple(file.path for file in files) for files in (diff.added, diff.suspect))
            state = replace(state, added=added, changed=changed, removed=diff.removed)
        except CorpusError as error:
            state = replace(state, problem=str(error))
    try:
        return replace(state, settings=settings_difference(root, state.info))
    except UsageError as error:
        # Without the folder, which clients of a server do not learn.
        return replace(state, settings=str(error).replace(f"{root}{os.sep}", ""), is_invalid=True)


def store_status(url: str) -> Status:
    """Return the state of a collection in PostgreSQL, whose files are not here."""
    with open_store(url) as snapshot:
        return replace(_stored_status(snapshot, url), problem="its files were not compared")


def _stored_status(snapshot: Index, place: str) -> Status:
    """Return the status that an index has stored."""
    skipped = tuple(SkippedFile(file.path, file.reason, file.unreadable) for file in snapshot.skipped())
    return Status(place, snapshot.info, snapshot.format, snapshot.size(), skipped)
