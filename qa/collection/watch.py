"""Watch a folder and index changes as they happen."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from threading import Event

from corpus import INDEX_FOLDER
from corpus.errors import CorpusError, LockedError, NoIndexError, StorageError, UsageError
from index import (
    BuildReport,
    Device,
    Diff,
    Encoder,
    Info,
    ProgressCallback,
    Request,
    find_changes,
    load_encoder,
    not_selected,
    open_index,
    record_same,
    require_same_encoder,
    update_index,
    wait_for_writer,
)
from qa.collection.build import (
    LOCK_RETRY_SECONDS,
    OnEmpty,
    OnLocked,
    build_index,
    has_documents,
    model_of,
    require_root,
)
from qa.collection.file_events import raw_events, require_watchfiles
from qa.collection.settings import read_settings
from qa.locate import folder_gone_error, has_index, index_command

# A failed update is retried after this long, if nothing changes before.
_RETRY_SECONDS = 10.0
# How often to poll all files if there are no file system events.
_POLL_SECONDS = 1.0
# After comparing files, rest this many times as long as that took, so that it takes a tenth of the time at most.
_REST_FACTOR = 9.0
# Rest no longer than this because of indexing, or a large change would delay the next one by minutes.
_MAX_REST_SECONDS = 5.0


_log = logging.getLogger(__name__)


class EventKind(StrEnum):
    """What happened to a file."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class FileEvent:
    """What happened to a file (relative to the root, with forward slashes), and why it could not be indexed, or ""."""

    path: str
    kind: EventKind
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Update:
    """An update of the index, at a local time; if it failed, `report` is None and `problem` says why.

    `events` are in order of path; the first update, which may be large, has none.
    """

    at: datetime
    events: tuple[FileEvent, ...]
    report: BuildReport | None
    problem: str = ""


def watch(
    path: str | os.PathLike[str],
    *,
    stop: Event | None = None,
    every: float | None = None,
    progress: ProgressCallback | None = None,
    device: Device = Device.AUTO,
) -> Iterator[Update]:
    """Update an index now, and again whenever files in its folder change.

    Yields the first update, even if it did nothing, and then each that changed something or failed. Several changes at
    once are one update. The index is locked only while it is written, and other writers are waited for. A temporary
    failure, such as a full disk, is reported once and tried again.

    Args:
        path: The folder of documents.
        stop: Ends the watching within a second when set from another thread.
        every: Poll all files at this interval in seconds, for file systems without events, such as many network drives;
            less often if that would take more than a tenth of the time. None to use events.
        progress: Called during the first update.
        device: Where the index's model embeds passages.

    Raises:
        UsageError: watchfiles is not installed, or `qa.toml` is not valid.
        CorpusError: The folder is missing or was deleted.
        NoIndexError: The index was deleted.
        DamagedIndexError: The index is damaged.
        IncompatibleError: It has another format version, or its model changed.
        ModelError: The model cannot be loaded.
        StorageError: The first update could not be written.
    """
    require_watchfiles()
    root = Path(os.path.realpath(require_root(path)))
    wait_for_writer(root / INDEX_FOLDER)
    watcher = _Watcher(root, stop or Event(), every, device)
    # Files may come later, but an index must not lose all of its documents because a disk is not mounted.
    on_empty = OnEmpty.FAIL if has_documents(root) else OnEmpty.ALLOW
    report = build_index(root, progress=progress, encoder=watcher.encoder, on_locked=OnLocked.WAIT, on_empty=on_empty)
    yield Update(datetime.now().astimezone(), (), report)
    yield from watcher.run()


@dataclass(frozen=True, slots=True)
class _WatchState:
    """An index compared with its folder: the digests of its documents by path, and why files were skipped."""

    diff: Diff
    info: Info
    digests: dict[str, str]
    skipped: dict[str, str]


class _Watcher:
    """Watches a folder, and keeps state between updates."""

    def __init__(self, root: Path, stop: Event, every: float | None, device: Device) -> None:
        self._root = root
        self._stop = stop
        self._every = every
        self._device = device
        self.encoder = load_encoder(model_of(root), device=device)
        self._folders: tuple[str, ...] = ("",)
        self._problem = ""
        self._retry_at = float("inf")
        # How long the last attempt of an update compared files.
        self._comparing_seconds = 0.0

    def run(self) -> Iterator[Update]:
        """Update until stopped."""
        with suppress(StorageError, UsageError):  # the first update reports it
            self._compare_files()
        while not self._stop.is_set():
            for _ in self._events() if self._every is None else self._poll(self._every):
                update = self._update()
                if update is not None:
                    yield update
                self._stop.wait(_rest_seconds(self._comparing_seconds, update))

    def _events(self) -> Iterator[None]:
        """Yield when files may have changed, until the folders to watch change."""
        folders = self._folders
        watched = {self._root / folder for folder in folders}
        present = {folder for folder in watched if os.path.isdir(folder)}  # noqa: PTH112 - names may be too long
        is_first = True  # files may have changed before watching began
        try:
            for events in raw_events(present, self._stop):
                self._require_present()
                if not (is_first or events or time.monotonic() >= self._retry_at):
                    continue
                is_first = False
                yield
                # A folder that was replaced may be new just before its parent is watched, which then has no event.
                is_back = any(os.path.isdir(folder) for folder in watched - present)  # noqa: PTH112 - see above
                has_appeared = any(path in watched for path, appeared in events if appeared)
                if self._folders != folders or is_back or has_appeared:
                    return
        except OSError as error:
            self._require_present()
            _log.warning("no file system events (%s); polling all files every %g s instead", error, _POLL_SECONDS)
            self._every = _POLL_SECONDS

    def _poll(self, every: float) -> Iterator[None]:
        """Yield every `every` seconds; after a failure, when it is time to try again."""
        while True:
            self._require_present()
            if not time.monotonic() < self._retry_at < float("inf"):
                yield
            if self._stop.wait(every):
                return

    def _require_present(self) -> None:
        if not self._root.is_dir():
            raise folder_gone_error(self._root)
        if not has_index(self._root):
            raise NoIndexError(
                f"the index of {self._root} no longer exists: deleted or unmounted. "
                f"Build it again with: {index_command(self._root)}"
            )

    def _compare_files(self) -> _WatchState:
        started = time.monotonic()
        try:
            with open_index(self._root / INDEX_FOLDER) as snapshot:
                digests = {document.path: document.sha256 for document in snapshot.documents()}
                skipped = {file.path: file.reason for file in snapshot.skipped()}
                state = _WatchState(find_changes(self._root, snapshot), snapshot.info, digests, skipped)
        except (NoIndexError, CorpusError):
            self._require_present()
            raise
        finally:
            self._comparing_seconds += time.monotonic() - started
        self._folders = state.diff.folders
        return state

    def _update(self) -> Update | None:
        """Index what changed; return None if nothing did, or if it fails as before."""
        self._retry_at = float("inf")
        try:
            update = self._index_changes()
        except (UsageError, StorageError) as error:
            self._require_present()
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            if str(error) == self._problem:
                return None
            self._problem = str(error)
            return Update(datetime.now().astimezone(), (), None, self._problem)
        self._problem = ""
        return update

    def _index_changes(self) -> Update | None:
        while not self._stop.is_set():
            # Before comparing: the other writer may be changing the model.
            wait_for_writer(self._root / INDEX_FOLDER)
            self._comparing_seconds = 0.0
            state = self._compare_files()
            if state.diff.same:
                with suppress(LockedError):
                    record_same(self._root, state.diff.same)
            info, settings = state.info, read_settings(self._root)
            choice = settings.choice()
            if state.diff.is_current and not not_selected(info, choice):
                return None
            with suppress(LockedError):
                report = update_index(Request(self._root, self._encoder_for(info), choice, retry=False))
                events = tuple(_events_between(state, self._compare_files(), report))
                return Update(datetime.now().astimezone(), events, report) if events else None
            self._stop.wait(LOCK_RETRY_SECONDS)
        return None

    def _encoder_for(self, info: Info) -> Encoder:
        """Return the loaded encoder, unless another process rebuilt the index with another model."""
        if self.encoder.fingerprint != info.fingerprint:
            self.encoder = load_encoder(info.model, device=self._device)
        require_same_encoder(info, self.encoder)
        return self.encoder


def _rest_seconds(comparing: float, update: Update | None) -> float:
    """Return how many seconds to rest after `comparing` files for some seconds, and after any update."""
    indexing = 0.0 if update is None or update.report is None else update.report.seconds
    return _REST_FACTOR * comparing + min(_REST_FACTOR * indexing, _MAX_REST_SECONDS)


def _events_between(old_state: _WatchState, new_state: _WatchState, report: BuildReport) -> Iterator[FileEvent]:
    attempted = {file.path for file in (*old_state.diff.added, *old_state.diff.suspect)}
    skipped = {file.path: file.reason for file in report.skipped if file.path in attempted}
    for path in sorted(old_state.digests.keys() | new_state.digests.keys() | skipped.keys()):
        reason = skipped.get(path, "")
        old, new = old_state.digests.get(path), new_state.digests.get(path)
        if old == new and reason != old_state.skipped.get(path, ""):
            yield FileEvent(path, EventKind.SKIPPED, reason)
        elif old != new:
            kind = EventKind.ADDED if old is None else EventKind.REMOVED if new is None else EventKind.CHANGED
            yield FileEvent(path, kind, reason)
