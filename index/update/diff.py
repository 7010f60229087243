"""Compare a folder with its index by what the file system says, without reading a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from corpus import FoundFile, walk
from index.snapshot import Snapshot
from index.storage.metadata import SkippedRow
from index.storage.rows import StoredDocument

# File systems keep times as coarsely as 2 s (FAT), so a file read this soon after its last change
# may have changed again without showing it.
_RACY_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Diff:
    """How a folder differs from its index.

    Attributes:
        added: Files the index does not know.
        suspect: Files whose size or time differs, or that changed too recently to tell.
        removed: Paths of the index that are gone.
        unchanged: Files that are as they were.
        kept: Paths of the index about which nothing can be said now.
        left: What is left out, and why.
        folders: Where it was looked, as in `corpus.discovery.walk.Walk`.
    """

    added: tuple[FoundFile, ...]
    suspect: tuple[FoundFile, ...]
    removed: tuple[str, ...]
    unchanged: tuple[FoundFile, ...]
    kept: tuple[str, ...]
    left: tuple[SkippedRow, ...]
    folders: tuple[str, ...]

    @property
    def is_current(self) -> bool:
        """Whether the index needs no update as far as can be seen."""
        return not (self.added or self.suspect or self.removed)


def find_changes(root: Path, snapshot: Snapshot) -> Diff:
    """What an update would look at; a stat for each file, nothing is read or written.

    Raises:
        CorpusError: The folder is missing or cannot be read.
    """
    info = snapshot.info
    documents = {document.path: document for document in snapshot.documents()}
    diff = compare(root, documents, snapshot.skipped(), include=info.include, exclude=info.exclude, paths=info.paths)
    # Trying again what the last update could not read is for the next update, not for every question.
    tried = {one.path: one for one in snapshot.skipped() if one.unreadable}
    return replace(
        diff,
        added=tuple(file for file in diff.added if not _is_as_left(file, tried)),
        suspect=tuple(file for file in diff.suspect if not _is_as_left(file, tried)),
    )


def compare(
    root: Path,
    documents: Mapping[str, StoredDocument],
    left: Iterable[SkippedRow],
    *,
    include: Sequence[str],
    exclude: Sequence[str],
    paths: Sequence[str],
) -> Diff:
    """Compare a folder with what the index holds.

    Args:
        root: The corpus root.
        documents: Of the index, by path.
        left: What was left out last time.
        include: Patterns of the files to take in, none for all.
        exclude: Patterns of the files to leave out.
        paths: Files and folders to look at, none for all.

    Raises:
        CorpusError: The folder is missing or cannot be read.
    """
    found = walk(root, include=include, exclude=exclude, paths=paths)
    judged = {one.path: one for one in left if not one.unreadable}
    added, suspect, unchanged, still_left = [], [], [], []
    for file in found.files:
        document = documents.get(file.path)
        if document is None:
            if _is_as_left(file, judged):
                still_left.append(judged[file.path])
            else:
                added.append(file)
        elif _is_same(file, document):
            unchanged.append(file)
        else:
            suspect.append(file)
    absent = sorted(documents.keys() - {file.path for file in found.files})
    hidden = frozenset(skip.path.rstrip("/") for skip in found.skipped if skip.unreadable)
    kept = tuple(path for path in absent if _lies_under(path, hidden))
    gone = sorted(set(absent).difference(kept))
    walked = (SkippedRow(skip.path, skip.reason, skip.unreadable) for skip in found.skipped)
    return Diff(
        added=tuple(added),
        suspect=tuple(suspect),
        removed=tuple(gone),
        unchanged=tuple(unchanged),
        kept=kept,
        left=tuple(sorted((*walked, *still_left), key=lambda one: one.path)),
        folders=found.folders,
    )


def _is_same(file: FoundFile, known: StoredDocument | SkippedRow) -> bool:
    if known.checked_ns is None or known.mtime_ns is None:
        return False
    same = (file.size, file.mtime_ns) == (known.size, known.mtime_ns)
    return same and abs(known.checked_ns - known.mtime_ns) > _RACY_NS


def _is_as_left(file: FoundFile, left: Mapping[str, SkippedRow]) -> bool:
    return file.path in left and _is_same(file, left[file.path])


def _lies_under(path: str, places: Set[str]) -> bool:
    """Whether a path or a folder above it is among some places, the root being ""."""
    while path and path not in places:
        path = path.rpartition("/")[0]
    return path in places
