"""Compare a folder with its index by stat values; only where these leave it open, files are read."""

from __future__ import annotations

import json
import math
import shlex
import time
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, fields, replace
from pathlib import Path, PurePosixPath

from corpus import SETTINGS_FILE, FoundFile, digest, outermost, read_file, walk
from corpus.errors import Unreadable
from index.protocol import Index
from index.storage.metadata import BuildConfig, Info, Selection, SkippedRow
from index.storage.rows import FileStat, StoredDocument
from index.update.report import Choice

# Some file systems (FAT) store times to only 2 s, so a file read this soon after its last change may have changed again
# unnoticed.
_RACY_NS = 2_000_000_000
# The same where times are not in whole seconds: they then differ after a few milliseconds.
_PRECISE_RACY_NS = 100_000_000
# How much a comparison reads to find out whether files that look changed are: a tenth to a third of a second, at 350 to
# 1,000 MB/s. Opening a file takes as long as reading this many bytes.
MAX_READ_BYTES = 100_000_000
_OPEN_BYTES = 20_000


@dataclass(frozen=True, slots=True)
class Diff:
    """How a folder differs from its index."""

    added: tuple[FoundFile, ...]  # files that are not in the index
    suspect: tuple[FoundFile, ...]  # files whose size or time differs, or that may have changed since they were read
    removed: tuple[str, ...]  # indexed paths that are gone
    unchanged: tuple[FoundFile, ...]  # files with the same size and time, or that were read and are the same
    kept: tuple[str, ...]  # indexed paths that cannot be read at the moment
    skipped: tuple[SkippedRow, ...]  # files and folders that are skipped, by path
    folders: tuple[str, ...]  # the folders that were listed, as in `corpus.discovery.walk.Walk`
    left_out: tuple[tuple[str, int], ...]  # generated files and folders, as there
    same: tuple[StoredDocument, ...] = ()  # of the files that were read and are the same, with their stat values now

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


def patterns_to_blame(root: Path, chosen: Choice | BuildConfig) -> str:
    """Return in words the patterns that leave out all files of a folder; "" if there are none without them either."""
    patterns = {"include": chosen.include or (), "exclude": chosen.exclude or ()}
    limits = {"paths": chosen.paths or (), "formats": chosen.formats or ()}
    if walk(root, **patterns, **limits).files or not walk(root, **limits).files:
        return ""
    file = SETTINGS_FILE if (root / SETTINGS_FILE).exists() else "the settings"
    words = [
        f"{name} = {json.dumps([*lines], ensure_ascii=False)} in {file}"
        if name in (chosen.from_file or ())
        else " ".join(f"--{name} {shlex.quote(line)}" for line in lines)
        for name, lines in patterns.items()
        if lines
    ]
    return " and ".join(words)


def find_changes(root: Path, snapshot: Index) -> Diff:
    """Return the changes that an update before a question would index; raises CorpusError for an unreadable folder.

    Files that look changed are read, the first 100 MB of them, since a copied or cloned folder has only new times.
    """
    diff = compare(root, snapshot.file_stats(), snapshot.skipped(), snapshot.info, retry=False)
    if not diff.suspect:
        return diff
    digests = {document.path: document.sha256 for document in snapshot.documents()}
    with snapshot.newest() as newest:  # it has the stat values that were recorded since the snapshot was opened
        same = {file.path: file for file in newest.documents() if digests.get(file.path) == file.sha256}
    return read_suspects(root, diff, same, limit=MAX_READ_BYTES)


def read_suspects(root: Path, diff: Diff, documents: Mapping[str, StoredDocument], *, limit: float = math.inf) -> Diff:
    """Read the suspect files, as far as a limit in bytes allows, and count those with the indexed bytes as unchanged.

    Args:
        root: The corpus root.
        diff: How it differs from the index by stat values.
        documents: The indexed documents, by path.
        limit: Each file counts as some bytes more than it has, for opening it. Beyond it, size and time decide.
    """
    suspect: list[FoundFile] = []
    unchanged: list[FoundFile] = []
    same: list[StoredDocument] = []
    for file in diff.suspect:
        document = documents.get(file.path)
        if _is_unchanged(file, document):
            unchanged.append(file)
        elif document is None or document.size != file.size or limit < file.size + _OPEN_BYTES:
            (unchanged if _is_same(file, document) else suspect).append(file)
        else:
            limit -= file.size + _OPEN_BYTES
            checked_ns = time.time_ns()
            if _digest(root, file.path) == document.sha256:
                unchanged.append(file)
                same.append(replace(document, mtime_ns=file.mtime_ns, checked_ns=checked_ns))
            else:
                suspect.append(file)
    unchanged = sorted((*diff.unchanged, *unchanged), key=lambda file: file.path)
    return replace(diff, suspect=tuple(suspect), unchanged=tuple(unchanged), same=tuple(same))


def unknown_files(
    root: Path, files: Iterable[FoundFile], documents: Iterable[StoredDocument], *, limit: float
) -> list[FoundFile]:
    """Return the files that are no indexed document in another folder, whose passages and vectors are known.

    Args:
        root: The corpus root.
        files: Files that are not in the index.
        documents: The indexed documents.
        limit: How many bytes of moved files may be read, as for `read_suspects`; those beyond it count as unknown.
    """
    digests: dict[tuple[str, int], set[str]] = {}
    for document in documents:
        digests.setdefault((PurePosixPath(document.path).name, document.size), set()).add(document.sha256)
    unknown: list[FoundFile] = []
    for file in files:
        known = digests.get((PurePosixPath(file.path).name, file.size), set())
        limit -= (file.size + _OPEN_BYTES) * bool(known)
        if limit < 0 or not known or _digest(root, file.path) not in known:
            unknown.append(file)
    return unknown


def _digest(root: Path, path: str) -> str:
    """Return the digest of a file's bytes; "" if it cannot be read."""
    try:
        return digest(read_file(root, path))
    except Unreadable:
        return ""


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
        skip = skip_again.get(file.path)
        # A file that was unreadable may have got other permissions.
        if skip is not None and _is_same(file, skip) and not (skip.unreadable and _is_touched(file, skip, 0)):
            still_skipped.append(skip)
        elif document is None:
            added.append(file)
        else:
            (unchanged if _is_unchanged(file, document) else suspect).append(file)
    absent = sorted(documents.keys() - {file.path for file in found.files})
    hidden = {entry.path.rstrip("/") for entry in found.skipped if entry.unreadable}
    unread = [row.path for row in still_skipped if row.path in documents]
    now_skipped = (SkippedRow(entry.path, entry.reason, entry.unreadable) for entry in found.skipped)
    return Diff(
        added=tuple(added),
        suspect=tuple(suspect),
        removed=tuple(path for path in absent if not _is_under(path, hidden)),
        unchanged=tuple(unchanged),
        kept=(*unread, *(path for path in absent if _is_under(path, hidden))),
        skipped=tuple(sorted((*now_skipped, *still_skipped), key=lambda row: row.path)),
        folders=found.folders,
        left_out=found.left_out,
    )


def _is_unchanged(file: FoundFile, known: StoredDocument | FileStat | None) -> bool:
    return known is not None and _is_same(file, known) and not _is_touched(file, known, _RACY_NS)


def _is_same(file: FoundFile, known: StoredDocument | FileStat | SkippedRow | None) -> bool:
    """Whether a file has the known size and time, and that time was long past when it was read."""
    if known is None or known.checked_ns is None or known.mtime_ns is None:
        return False
    same_stat = (file.size, file.mtime_ns) == (known.size, known.mtime_ns)
    racy_ns = _PRECISE_RACY_NS if known.mtime_ns % 1_000_000_000 else _RACY_NS
    return same_stat and abs(known.checked_ns - known.mtime_ns) > racy_ns


def _is_touched(file: FoundFile, known: StoredDocument | FileStat | SkippedRow, margin: int) -> bool:
    """Whether something about a file changed after it was read, or at most `margin` nanoseconds before."""
    # A time to come only shows that the clock was set back.
    return (known.checked_ns or 0) - margin < file.ctime_ns <= time.time_ns()


def _is_under(path: str, folders: Set[str]) -> bool:
    """Return whether a path or a folder above it is among `folders`; the root is ""."""
    while path and path not in folders:
        path = path.rpartition("/")[0]
    return path in folders
