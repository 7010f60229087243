"""Compare a folder with its index by stat values, and read only those files for which these are not conclusive."""

from __future__ import annotations

import json
import math
import shlex
import time
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, fields, replace
from pathlib import Path, PurePosixPath

from corpus import SETTINGS_FILE, FoundFile, digest, names_only_generated, outermost, read_file, walk
from corpus.errors import CorpusError, Unreadable
from index.protocol import Index
from index.storage.metadata import BuildConfig, Info, Selection, SkippedRow
from index.storage.rows import FileStat, StoredDocument
from index.update.report import Choice

# Some file systems (FAT) store times in steps of 2 s, so a file that was read this soon after its last change may have
# changed again with the same time.
_RACY_NS = 2_000_000_000
# The same for times that are not whole seconds, as those differ after a few milliseconds.
_PRECISE_RACY_NS = 100_000_000
# How many bytes of files that look changed are read to compare them: for a tenth to a third of a second, at 350 to
# 1,000 MB/s. Opening a file takes as long as reading `_OPEN_BYTES`.
MAX_READ_BYTES = 100_000_000
_OPEN_BYTES = 20_000


@dataclass(frozen=True, slots=True)
class Diff:
    """How a folder differs from its index."""

    added: tuple[FoundFile, ...]  # files that are not in the index
    suspect: tuple[FoundFile, ...]  # files whose size or time differs, or that may have changed since they were read
    removed: tuple[str, ...]  # indexed paths that are gone
    unchanged: tuple[FoundFile, ...]  # files with the same size and time, or with the same bytes
    kept: tuple[str, ...]  # indexed paths that cannot be read at the moment
    skipped: tuple[SkippedRow, ...]  # files and folders that are skipped, by path
    folders: tuple[str, ...]  # the folders that were listed, as in `corpus.discovery.walk.Walk`
    left_out: tuple[tuple[str, int], ...]  # generated files and folders, as in `Walk` too
    same: tuple[StoredDocument, ...] = ()  # documents whose files were read and are the same, with new stat values

    @property
    def is_current(self) -> bool:
        """Whether the index needs no update, by stat values."""
        return not (self.added or self.suspect or self.removed)


def apply_choice(previous: Selection | None, choice: Choice) -> Selection:
    """Return the chosen selection, with the values of the last update for fields that were not chosen."""
    defaults = previous or Selection()
    if isinstance(previous, BuildConfig) and choice.from_file is not None:
        dropped = set(previous.from_file).difference(choice.from_file)
        kept_fields = (field.name for field in fields(Selection) if field.name not in dropped)
        defaults = Selection(**{name: getattr(previous, name) for name in kept_fields})
    paths = defaults.paths if choice.paths is None else tuple(choice.paths)
    # More paths extend a limited collection; one of the whole root already includes them.
    is_new = previous is None and choice.paths is None
    return Selection(
        include=defaults.include if choice.include is None else tuple(filter(str.strip, choice.include)),
        exclude=defaults.exclude if choice.exclude is None else tuple(filter(str.strip, choice.exclude)),
        formats=defaults.formats if choice.formats is None else tuple(choice.formats),
        paths=outermost((*paths, *choice.more_paths)) if paths or is_new else (),
    )


def not_selected(info: Info, choice: Choice) -> tuple[str, ...]:
    """Return the names of the selection fields that an update with this choice would change."""
    chosen = apply_choice(info, choice)
    names = (field.name for field in fields(Selection))
    return tuple(name for name in names if getattr(chosen, name) != getattr(info, name))


def patterns_to_blame(root: Path, chosen: Choice | BuildConfig) -> str:
    """Describe the patterns that exclude all files of a folder; "" if it has none without patterns either."""
    patterns = {"include": chosen.include or (), "exclude": chosen.exclude or ()}
    limits = {"paths": chosen.paths or (), "formats": chosen.formats or ()}
    if walk(root, **patterns, **limits).files or not walk(root, **limits).files:
        return ""
    source = SETTINGS_FILE if (root / SETTINGS_FILE).exists() else "the settings"
    parts = [
        f"{name} = {json.dumps([*values], ensure_ascii=False)} in {source}"
        if name in (chosen.from_file or ())
        else " ".join(f"--{name} {shlex.quote(value)}" for value in values)
        for name, values in patterns.items()
        if values
    ]
    return " and ".join(parts)


def require_most_kept(documents: int, removed: int, choice: Choice) -> None:
    """Raise a CorpusError if a pattern for files that are left out by default would remove most of an index."""
    include = [*filter(str.strip, choice.include or ())]
    if 2 * removed > documents and "include" not in (choice.from_file or ()) and names_only_generated(include):
        options = " ".join(f"--include {shlex.quote(pattern)}" for pattern in include)
        raise CorpusError(
            f"with {options}, only what matches is indexed, and {removed:,} of {documents:,} files would be removed "
            f"from the index. To have both: qa index --include '*' {options}. "
            f"To remove them: qa index --allow-empty {options}."
        )


def find_changes(root: Path, snapshot: Index) -> Diff:
    """Return the changes that an update before a question would index; raises CorpusError for an unreadable folder.

    Of the files that look changed, 100 MB are read, since all times in a copied or cloned folder are new.
    """
    stats, skipped = snapshot.file_stats(), snapshot.skipped()
    diff = compare_folder(root, stats, skipped, snapshot.info, retry=False)
    if not (diff.added or diff.suspect):
        return diff
    with snapshot.newest() as newest:  # it has the stat values that were recorded since the snapshot was opened
        is_same = newest.info.generation == snapshot.info.generation
        if is_same and (skipped_since := newest.skipped()) != skipped:
            diff = compare_folder(root, stats, skipped_since, snapshot.info, retry=False)
        if not diff.suspect:
            return diff
        digests = {document.path: document.sha256 for document in snapshot.documents()}
        unchanged = {file.path: file for file in newest.documents() if digests.get(file.path) == file.sha256}
    return read_suspects(root, diff, unchanged, limit=MAX_READ_BYTES)


def read_suspects(root: Path, diff: Diff, documents: Mapping[str, StoredDocument], *, limit: float = math.inf) -> Diff:
    """Read the suspect files, up to a limit, and count those with the indexed bytes as unchanged.

    Args:
        root: The corpus root.
        diff: How it differs from the index by stat values.
        documents: The indexed documents, by path.
        limit: How many bytes to read, with some more per file for opening it; for other files, size and time decide.
    """
    suspect: list[FoundFile] = []
    unchanged: list[FoundFile] = []
    same: list[StoredDocument] = []
    for file in diff.suspect:
        document = documents.get(file.path)
        if _is_unchanged(file, document):
            unchanged.append(file)
        elif document is None or document.size != file.size or limit < file.size + _OPEN_BYTES:
            (unchanged if _matches_stat(file, document) else suspect).append(file)
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
    """Return the files that are not moved or copied from an indexed document, whose vectors could be reused.

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
        candidates = digests.get((PurePosixPath(file.path).name, file.size), set())
        limit -= (file.size + _OPEN_BYTES) * bool(candidates)
        if limit < 0 or not candidates or _digest(root, file.path) not in candidates:
            unknown.append(file)
    return unknown


def _digest(root: Path, path: str) -> str:
    """Return the digest of a file's bytes; "" if it cannot be read."""
    try:
        return digest(read_file(root, path))
    except Unreadable:
        return ""


def compare_folder(
    root: Path,
    documents: Mapping[str, StoredDocument | FileStat],
    skipped: Iterable[SkippedRow],
    selection: Selection,
    *,
    retry: bool,
) -> Diff:
    """Return how a folder differs from the indexed `documents`, by path, and the files that the last update skipped.

    With `retry`, files that the last update could not read are tried again even if they have not changed.
    """
    listing = walk(root, **{field.name: getattr(selection, field.name) for field in fields(Selection)})
    skip_again = {row.path: row for row in skipped if not (retry and row.unreadable)}
    added: list[FoundFile] = []
    suspect: list[FoundFile] = []
    unchanged: list[FoundFile] = []
    still_skipped: list[SkippedRow] = []
    for file in listing.files:
        document = documents.get(file.path)
        skip = skip_again.get(file.path)
        # The permissions of an unreadable file may have changed.
        if skip and _matches_stat(file, skip) and not (skip.unreadable and _changed_since_read(file, skip, 0)):
            still_skipped.append(skip)
        elif document is None:
            added.append(file)
        else:
            (unchanged if _is_unchanged(file, document) else suspect).append(file)
    missing = sorted(documents.keys() - {file.path for file in listing.files})
    unreadable = {entry.path.rstrip("/") for entry in listing.skipped if entry.unreadable}
    still_unread = [row.path for row in still_skipped if row.path in documents]
    now_skipped = (SkippedRow(entry.path, entry.reason, entry.unreadable) for entry in listing.skipped)
    return Diff(
        added=tuple(added),
        suspect=tuple(suspect),
        removed=tuple(path for path in missing if not _is_under(path, unreadable)),
        unchanged=tuple(unchanged),
        kept=(*still_unread, *(path for path in missing if _is_under(path, unreadable))),
        skipped=tuple(sorted((*now_skipped, *still_skipped), key=lambda row: row.path)),
        folders=listing.folders,
        left_out=listing.left_out,
    )


def _is_unchanged(file: FoundFile, recorded: StoredDocument | FileStat | None) -> bool:
    return recorded is not None and _matches_stat(file, recorded) and not _changed_since_read(file, recorded, _RACY_NS)


def _matches_stat(file: FoundFile, recorded: StoredDocument | FileStat | SkippedRow | None) -> bool:
    """Whether a file has the recorded size and time, and was read at a time far from that one."""
    if recorded is None or recorded.checked_ns is None or recorded.mtime_ns is None:
        return False
    same_stat = (file.size, file.mtime_ns) == (recorded.size, recorded.mtime_ns)
    racy_ns = _PRECISE_RACY_NS if recorded.mtime_ns % 1_000_000_000 else _RACY_NS
    return same_stat and abs(recorded.checked_ns - recorded.mtime_ns) > racy_ns


def _changed_since_read(file: FoundFile, recorded: StoredDocument | FileStat | SkippedRow, margin: int) -> bool:
    """Whether a file or its metadata changed after it was read, or at most `margin` nanoseconds before."""
    # A time in the future only shows that the clock was set back.
    return (recorded.checked_ns or 0) - margin < file.ctime_ns <= time.time_ns()


def _is_under(path: str, folders: Set[str]) -> bool:
    """Return whether a path or one of its parents is among `folders`; the root is ""."""
    while path and path not in folders:
        path = path.rpartition("/")[0]
    return path in folders
