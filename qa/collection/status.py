"""`qa status`: what an index holds, and what has changed since it was written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus import INDEX_FOLDER
from corpus.errors import CorpusError
from index import FORMAT_VERSION, Snapshot, find_changes
from qa.locate import command_for

EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an index.

    Attributes:
        folder: The index folder.
        documents: Documents in it: a file counts as many as it has records, or one.
        passages: Passages in it.
        model: The encoder as the user named it.
        generation: Counts commits, from 1.
        format: Version of the format on disk.
        bytes: Size of all its files.
        added: Files that the index does not know.
        suspect: Files whose size or time differs from the indexed state, or that changed too recently to tell.
        removed: Files of the index that are gone.
        examples: Up to ten of these, each with what it is.
        problem: Why the files could not be compared, or "".
        command: Brings the index up to date.
    """

    folder: Path
    documents: int
    passages: int
    model: str
    generation: int
    format: int
    bytes: int
    added: int
    suspect: int
    removed: int
    examples: tuple[tuple[str, str], ...]
    problem: str
    command: str

    @property
    def drift(self) -> int:
        """How many files differ, as far as stat can tell."""
        return self.added + self.suspect + self.removed

    def as_json(self) -> dict[str, Any]:
        """The object that `qa status --json` prints."""
        return {
            "version": 1,
            "index": str(self.folder),
            "documents": self.documents,
            "passages": self.passages,
            "model": self.model,
            "generation": self.generation,
            "format": self.format,
            "bytes": self.bytes,
            "changes": {
                "added": self.added,
                "changed": self.suspect,
                "removed": self.removed,
                "examples": [{"change": kind, "path": path} for kind, path in self.examples],
                "problem": self.problem or None,
            },
        }


def status(root: Path) -> Status:
    """Look at an index and, by stat, at its files.

    Raises:
        NoIndexError: There is none.
        DamagedIndexError: It does not hold what was written.
        IncompatibleError: It has another format version.
    """
    folder = root / INDEX_FOLDER
    added: list[str] = []
    suspect: list[str] = []
    removed: list[str] = []
    problem = ""
    with Snapshot(folder) as snapshot:
        info = snapshot.info
        try:
            diff = find_changes(root, snapshot)
        except CorpusError as error:
            problem = str(error)
        else:
            added.extend(file.path for file in diff.added)
            suspect.extend(file.path for file in diff.suspect)
            removed.extend(diff.removed)
    groups = (("new", added), ("changed", suspect), ("gone", removed))
    return Status(
        folder=folder,
        documents=info.documents,
        passages=info.passages,
        model=info.model,
        generation=info.generation,
        format=FORMAT_VERSION,
        bytes=size_of(folder),
        added=len(added),
        suspect=len(suspect),
        removed=len(removed),
        examples=tuple((kind, path) for kind, paths in groups for path in paths)[:EXAMPLES],
        problem=problem,
        command=command_for(root),
    )


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder; what vanishes meanwhile counts nothing."""
    total = 0
    for file in folder.iterdir():
        try:
            total += file.stat().st_size
        except OSError:
            continue
    return total
