"""`qa status`: what is indexed, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus import INDEX_FOLDER
from corpus.errors import CorpusError
from index import FORMAT_VERSION, Diff, Info, Snapshot, find_changes
from qa.locate import command_for

MAX_EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an index, and the paths of files that differ from it.

    Attributes:
        bytes: Size of all files in the index folder.
        changed: Files whose size or time differs, or that changed too recently to tell.
        problem: Why the files could not be compared, or "".
        command: Updates the index.
    """

    folder: Path
    info: Info
    bytes: int
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    problem: str
    command: str

    @property
    def changes(self) -> int:
        """How many files differ, as far as stat can tell."""
        return len(self.added) + len(self.changed) + len(self.removed)

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:
        """The first ten of these files, each behind what happened to it."""
        groups = (("added", self.added), ("changed", self.changed), ("removed", self.removed))
        return tuple((kind, path) for kind, paths in groups for path in paths)[:MAX_EXAMPLES]

    def as_json(self) -> dict[str, Any]:
        """Return the object that `qa status --json` prints."""
        return {
            "version": 1,
            "index": str(self.folder),
            "documents": self.info.documents,
            "passages": self.info.passages,
            "model": self.info.model,
            "generation": self.info.generation,
            "format": FORMAT_VERSION,
            "bytes": self.bytes,
            "changes": {
                "added": len(self.added),
                "changed": len(self.changed),
                "removed": len(self.removed),
                "examples": [{"change": kind, "path": path} for kind, path in self.examples],
                "problem": self.problem or None,
            },
        }


def status(root: Path) -> Status:
    """Return the state of an index; its files are compared by stat.

    Raises:
        NoIndexError: There is none.
        DamagedIndexError: It is damaged.
        IncompatibleError: It has another format version.
    """
    folder = root / INDEX_FOLDER
    diff: Diff | None = None
    problem = ""
    with Snapshot(folder) as snapshot:
        info = snapshot.info
        try:
            diff = find_changes(root, snapshot)
        except CorpusError as error:
            problem = str(error)
    return Status(
        folder=folder,
        info=info,
        bytes=size_of(folder.iterdir()),
        added=() if diff is None else tuple(file.path for file in diff.added),
        changed=() if diff is None else tuple(file.path for file in diff.suspect),
        removed=() if diff is None else diff.removed,
        problem=problem,
        command=command_for(root),
    )


def size_of(files: Iterable[Path]) -> int:
    """Return the bytes of some files; one that vanishes meanwhile counts 0."""
    total = 0
    for file in files:
        with suppress(OSError):
            total += file.stat().st_size
    return total
