"""Keep an index in step with its folder: what changes is brought in a moment later."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from threading import Event

from corpus import INDEX_FOLDER, SETTINGS_FILE, affects_walk
from corpus.errors import CorpusError, LockedError, NoIndexError, StorageError, UsageError
from index import (
    BuildReport,
    Diff,
    Encoder,
    Info,
    ProgressCallback,
    Request,
    Snapshot,
    find_changes,
    load_encoder,
    require_same_encoder,
    update_index,
    wait_for_writer,
)
from qa.collection.build import OnLocked, build_index, existing, model_of
from qa.collection.file_events import Heard, events, require_watchfiles
from qa.collection.settings import PROJECT_FILE
from qa.collection.settings import read as read_settings
from qa.locate import command_for, has_index

# What failed is tried again so much later, if nothing changes before.
_RETRY_SECONDS = 10.0
# Where the system does not tell of changes; and to rest so many times longer than a look took.
_EVERY_SECONDS = 1.0
_REST = 9.0
# Of so many changes at once some will concern the index.
_MOST_LOOKED_AT = 100

_log = logging.getLogger(__name__)


class Kind(StrEnum):
    """What became of a file."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Change:
    """A file of which something else is in the index than before.

    Attributes:
        path: Relative to the corpus root, with forward slashes.
        kind: What became of it.
        reason: Why it could not be taken in, or "".
    """

    path: str
    kind: Kind
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Update:
    """One bringing up to date.

    Attributes:
        at: When it was finished, in local time.
        changes: Of the index, by path; () for the first, which may be large.
        report: What was done, or None where it failed.
        problem: Why it failed, or "".
    """

    at: datetime
    changes: tuple[Change, ...]
    report: BuildReport | None
    problem: str = ""


def watch(
    path: str | os.PathLike[str],
    *,
    stop: Event | None = None,
    every: float | None = None,
    progress: ProgressCallback | None = None,
    encoder: Encoder | None = None,
) -> Iterator[Update]:
    """Bring an index up to date, then again whenever files of its folder change.

    Several changes at once are one update. The index is locked only while it is written; where another process
    writes it, that is waited for. What fails for now, such as a full disk, is told and tried again.

    Args:
        path: The folder of documents.
        stop: Ends it, within a second, when it is set from another thread; without it, only an error does.
        every: Look at all files every so many seconds, where the system does not tell of changes, as on many network
            drives; less often where that would take more than a tenth of the time. None to be told.
        progress: Told how far the first update is.
        encoder: Embeds the passages, in place of the index's model.

    Yields:
        What the first update did, even if that was nothing, and then each one that changed something or failed.

    Raises:
        UsageError: watchfiles is not installed, or `qa.toml` cannot be used.
        CorpusError: The folder is missing or was deleted.
        NoIndexError: The index was deleted.
        DamagedIndexError: The index does not hold what was written.
        IncompatibleError: It has another format version, or its model is not what it was.
        ModelError: The model is not to be had.
        StorageError: The disk refused the first update.
    """
    require_watchfiles()
    root = Path(os.path.realpath(existing(path)))
    wait_for_writer(root / INDEX_FOLDER)
    stop = Event() if stop is None else stop
    keeper = _Keeper(root, encoder, stop, every)
    report = build_index(root, progress=progress, encoder=keeper.encoder, on_locked=OnLocked.WAIT)
    yield Update(datetime.now().astimezone(), (), report)
    with suppress(StorageError, UsageError):  # the first round says it
        keeper.look()
    while not stop.is_set():
        yield from keeper.follow() if keeper.every is None else keeper.patrol(keeper.every)


@dataclass(frozen=True, slots=True)
class _State:
    """An index beside its folder; by path the digests of its documents, and why files were skipped."""

    diff: Diff
    info: Info
    digests: dict[str, str]
    skipped: dict[str, str]


class _Keeper:
    """What is known between two updates."""

    def __init__(self, root: Path, encoder: Encoder | None, stop: Event, every: float | None) -> None:
        self.every = every
        self._root = root
        self._stop = stop
        self._own = encoder is not None
        self.encoder = encoder or load_encoder(model_of(root))
        self._folders: tuple[str, ...] = ("",)
        self._selection: tuple[tuple[str, ...], ...] = ((), (), ())
        self._problem = ""
        self._retry_at = float("inf")

    def look(self) -> _State:
        """How the folder differs from the index, and what that holds."""
        try:
            with Snapshot(self._root / INDEX_FOLDER) as snapshot:
                digests = {document.path: document.sha256 for document in snapshot.documents()}
                skipped = {one.path: one.reason for one in snapshot.skipped()}
                state = _State(find_changes(self._root, snapshot), snapshot.info, digests, skipped)
        except (NoIndexError, CorpusError):
            self._require_there()
            raise
        self._folders = state.diff.folders
        return state

    def follow(self) -> Iterator[Update]:
        """Bring in what changes, until other folders are to be watched."""
        folders = self._folders
        watched = {self._root / folder for folder in folders}
        # What changed before the watching began is looked for once.
        due = True
        try:
            for heard in events(watched, self._stop):
                self._require_there()
                if not (due or time.monotonic() >= self._retry_at or self._concerned(heard)):
                    continue
                due = False
                found = self._update()
                if found is not None:
                    yield found
                if self._folders != folders or any(path in watched for path, appeared in heard if appeared):
                    return
        except OSError as error:
            self._require_there()
            _log.warning(
                "the system does not tell what changes (%s), so all files are looked at again and again", error
            )
            self.every = _EVERY_SECONDS

    def patrol(self, every: float) -> Iterator[Update]:
        """Bring in what changes, without being told."""
        pause = 0.0
        while not self._stop.wait(pause):
            self._require_there()
            started = time.monotonic()
            if started < self._retry_at < float("inf"):
                pause = every
                continue
            found = self._update()
            pause = max(every, _REST * (time.monotonic() - started))
            if found is not None:
                yield found

    def _require_there(self) -> None:
        if not self._root.is_dir():
            raise CorpusError(f"{self._root} is gone: deleted, renamed or not mounted any more.")
        if not has_index(self._root):
            raise NoIndexError(
                f"the index of {self._root} is gone: deleted, or the folder is not mounted any more. "
                f"Build it anew with: {command_for(self._root)}"
            )

    def _concerned(self, heard: Collection[Heard]) -> bool:
        if len(heard) > _MOST_LOOKED_AT:
            return True
        include, exclude, scope = self._selection
        paths = [os.path.relpath(path, self._root) for path, _ in heard]
        return any(
            path in (SETTINGS_FILE, PROJECT_FILE)
            or path == os.curdir
            or affects_walk(self._root, Path(path).as_posix(), include=include, exclude=exclude, paths=scope)
            for path in paths
        )

    def _update(self) -> Update | None:
        """Bring in what changed; None where nothing did."""
        self._retry_at = float("inf")
        found = None
        try:
            while True:
                # What is looked at below must be what is changed: the other one may be changing the model.
                wait_for_writer(self._root / INDEX_FOLDER)
                with suppress(LockedError):
                    found = self._bring_in()
                    break
        except (UsageError, StorageError) as error:
            self._require_there()
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            if str(error) == self._problem:
                return None
            self._problem = str(error)
            return Update(datetime.now().astimezone(), (), None, self._problem)
        self._problem = ""
        return found

    def _bring_in(self) -> Update | None:
        before = self.look()
        settings = read_settings(self._root)
        wanted = (settings.include, settings.exclude, settings.paths)
        now = (before.info.include, before.info.exclude, before.info.paths)
        self._selection = tuple(old if new is None else new for new, old in zip(wanted, now, strict=True))
        if before.diff.is_current and self._selection == now:
            return None
        encoder = self._encoder_for(before.info)
        report = update_index(Request(self._root, encoder, *wanted))
        changes = tuple(_changes(before, self.look(), report))
        return Update(datetime.now().astimezone(), changes, report) if changes else None

    def _encoder_for(self, info: Info) -> Encoder:
        """The one that is loaded, unless the index was built anew with another model meanwhile."""
        if not self._own and self.encoder.fingerprint != info.fingerprint:
            self.encoder = load_encoder(info.model)
        require_same_encoder(info, self.encoder)
        return self.encoder


def _changes(before: _State, after: _State, report: BuildReport) -> Iterator[Change]:
    tried = {file.path for file in (*before.diff.added, *before.diff.suspect)}
    skipped = {one.path: one.reason for one in report.skipped if one.path in tried}
    for path in sorted(before.digests.keys() | after.digests.keys() | skipped.keys()):
        reason = skipped.get(path, "")
        old, new = before.digests.get(path), after.digests.get(path)
        if old == new and reason != before.skipped.get(path, ""):
            yield Change(path, Kind.SKIPPED, reason)
        elif old != new:
            yield Change(path, Kind.ADDED if old is None else Kind.REMOVED if new is None else Kind.CHANGED, reason)
