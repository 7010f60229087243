"""Compare a folder with its index by stat values, without reading files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, fields
from pathlib import Path

from corpus import FoundFile, outermost, walk
from index.protocol import Index
from index.storage.metadata import BuildConfig, Info, Selection, SkippedRow
from index.storage.rows import FileStat, StoredDocument
from index.update.report import Choice

# Some file systems (FAT) store times to only 2 s, so a file read this soon after its last change may have changed again
# unnoticed.
_RACY_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Diff:
    """How a folder differs from its index."""

    added: tuple[FoundFile, ...]  # files that are not in the index
    suspect: tuple[FoundFile, ...]  # files whose size or time differs, or that changed too recently to tell
    removed: tuple[str, ...]  # indexed paths that are gone
    unchanged: tuple[FoundFile, ...]  # files with the same size and time
    kept: tuple[str, ...]  # indexed paths that cannot be read at the moment
    skipped: tuple[SkippedRow, ...]  # files and folders that are skipped, by path
    folders: tuple[str, ...]  # the folders that were listed, as in `corpus.discovery.walk.Walk`
    left_out: tuple[tuple[str, int], ...]  # generated files and folders, as there

    @property
    def is_current(self) -> bool:
        """Whether the index needs no update, as far as stat tells."""
        return not (self.added or self.suspect or self.removed)


def select(before: Selection | None, choice: Choice) -> Selection:
    """Return the chosen selection, with the last update's values for everything that was not chosen."""
    last = before or Selection()
    if isinstance(before, BuildConfig) and choice.from_file is not None:
        gone = set(before.from_file).difference(choice.from_file)
        kept_fields = (field.name for field in fields(Selection) if field.name not in gone)
        last = Selection(**{name: getattr(before, name) for name in kept_fields})
    kept = last.paths if choice.paths is None else tuple(choice.paths)
    # More paths widen a limited collection; one of the whole root already includes them.
    is_new = before is None and choice.paths is None
    return Selection(
        include=last.include if choice.include is None else tuple(filter(str.strip, choice.include)),
        exclude=last.exclude if choice.exclude is None else tuple(filter(str.strip, choice.exclude)),
        formats=last.formats if choice.formats is None else tuple(choice.formats),
        paths=outermost((*kept, *choice.more_paths)) if kept or is_new else (),
    )


def not_selected(info: Info, choice: Choice) -> tuple[str, ...]:
    """Return the names of the selection fields that an update with this choice would change."""
    chosen = select(info, choice)
    names = (field.name for field in fields(Selection))
    return tuple(name for name in names if getattr(chosen, name) != getattr(info, name))


def find_changes(root: Path, snapshot: Index) -> Diff:
    """Return the changes that an update before a question would index; raises CorpusError for an unreadable folder."""
    return compare(root, snapshot.file_stats(), snapshot.skipped(), snapshot.info, retry=False)


def compare(
    root: Path,
    documents: Mapping[str, StoredDocument | FileStat],
    skipped: Iterable[SkippedRow],
    selection: Selection,
    *,
    retry: bool,
) -> Diff:
    """Return how a folder differs from the indexed `documents`, by path, and from the files skipped by the last update.

    With `retry`, files that the last update could not read are tried again even if they have not changed.
    """
    found = walk(root, **{field.name: getattr(selection, field.name) for field in fields(Selection)})
    skip_again = {row.path: row for row in skipped if not (retry and row.unreadable)}
    added: list[FoundFile] = []
    suspect: list[FoundFile] = []
    unchanged: list[FoundFile] = []
    still_skipped: list[SkippedRow] = []
    for file in found.files:
        document = documents.get(file.path)
        if _is_unchanged(file, skip_again.get(file.path)):
            still_skipped.append(skip_again[file.path])
        elif document is None:
            added.append(file)
        else:
            (unchanged if _is_unchanged(file, document) else suspect).append(file)
    absent = sorted(documents.keys() - {file.path for file in found.files})
    hidden = {one.path.rstrip("/") for one in found.skipped if one.unreadable}
    unread = [one.path for one in still_skipped if one.path in documents]
    now_skipped = (SkippedRow(one.path, one.reason, one.unreadable) for one in found.skipped)
    return Diff(
        added=tuple(added),
        suspect=tuple(suspect),
        removed=tuple(path for path in absent if not _is_under(path, hidden)),
        unchanged=tuple(unchanged),
        kept=(*unread, *(path for path in absent if _is_under(path, hidden))),
        skipped=tuple(sorted((*now_skipped, *still_skipped), key=lambda one: one.path)),
        folders=found.folders,
        left_out=found.left_out,
    )


def _is_unchanged(file: FoundFile, known: StoredDocument | FileStat | SkippedRow | None) -> bool:
    if known is None or known.checked_ns is None or known.mtime_ns is None:
        return False
    same_stat = (file.size, file.mtime_ns) == (known.size, known.mtime_ns)
    return same_stat and abs(known.checked_ns - known.mtime_ns) > _RACY_NS


def _is_under(path: str, folders: Set[str]) -> bool:
    """Return whether a path or a folder above it is among `folders`; the root is ""."""
    while path and path not in folders:
        path = path.rpartition("/")[0]
    return path in folders
