"""Open a collection for questions, after indexing what changed if that is quick."""

# ruff: noqa: PLC0415 - what writes an index is imported on demand: few questions find anything to write

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from corpus import INDEX_FOLDER, FoundFile, splitter_version
from corpus.errors import CorpusError, LockedError, NoIndexError, StorageError, UsageError
from index import (
    BuildReport,
    Device,
    Diff,
    Index,
    Info,
    ProgressCallback,
    Request,
    find_changes,
    load_encoder,
    require_same_encoder,
    unknown_files,
    wait_for_writer,
)
from qa.collection.settings import not_applied
from qa.locate import command_for, folder_gone
from qa.retrieval.retriever import Retriever

# The largest change that a question indexes before it is answered: a second or two of embedding.
MAX_REFRESH_FILES = 64
MAX_REFRESH_BYTES = 2_000_000
# The most bytes of files moved from another folder, which only need to be read.
MAX_MOVED_BYTES = 20_000_000
# How long a question waits for another process that writes the index, most likely to index the same changes.
_WAIT_SECONDS = 3.0
# Before another attempt; the lock of a collection in PostgreSQL cannot be waited for.
_PAUSE_SECONDS = 0.1


class Refresh(Enum):
    """What happens to an index before it is opened."""

    NONE = "nothing"
    SMALL = "small changes to its files are indexed, larger ones are noted"
    FULL = "it is built or updated, however much there is to do"


@dataclass(frozen=True, slots=True)
class OpenedCollection:
    """A collection ready for questions.

    `report` says what was indexed before, `note` tells the user of the state of the index, and `waited` is for how many
    seconds another process that was writing it was waited for.
    """

    retriever: Retriever
    report: BuildReport | None = None
    note: str = ""
    waited: float = 0.0


def open_collection(
    root: Path,
    opening: Callable[..., Retriever] = Retriever.open,
    *,
    refresh: Refresh = Refresh.SMALL,
    progress: ProgressCallback | None = None,
    device: Device = Device.AUTO,
) -> OpenedCollection:
    """Open a collection for questions; an index that cannot be written now is opened as it is, with a note.

    Args:
        root: Its folder.
        opening: `Retriever.open`, perhaps with some arguments bound.
        refresh: What is done first.
        progress: Called with the bytes read so far.
        device: Where the model embeds passages.
    """
    if refresh is Refresh.FULL:
        return _build_and_open(root, opening, progress, device)
    retriever = opening(root)
    if refresh is Refresh.NONE:
        return OpenedCollection(retriever)
    return refresh_if_small(retriever, progress=progress, device=device)


def _build_and_open(
    root: Path, opening: Callable[..., Retriever], progress: ProgressCallback | None, device: Device
) -> OpenedCollection:
    from qa.collection.build import build_index, existing_root, model_of

    root = existing_root(root)
    encoder = load_encoder(model_of(root), device=device)
    try:
        report = build_index(root, progress=progress, encoder=encoder)
    except (LockedError, StorageError) as error:
        try:
            return OpenedCollection(opening(root, encoder=encoder), note=_not_updated(error))
        except NoIndexError:
            raise error from None
    return OpenedCollection(opening(root, encoder=encoder), report)


def refresh_if_small(
    retriever: Retriever,
    *,
    progress: ProgressCallback | None = None,
    device: Device = Device.AUTO,
    patient: bool = True,
) -> OpenedCollection:
    """Index changes since the last build if they are small, and reload.

    With `patient`, another process that writes the index is waited for, as it may be indexing these changes.
    """
    started = time.monotonic()
    until = 0.0
    while True:
        began = time.monotonic()
        try:
            return replace(_refresh(retriever, progress, device), waited=began - started)
        except LockedError as error:
            until = until or time.monotonic() + (_WAIT_SECONDS if patient else 0)
            if time.monotonic() >= until:
                retriever.reload()
                return OpenedCollection(retriever, note=_not_updated(error), waited=began - started)
        time.sleep(_PAUSE_SECONDS)
        wait_for_writer(retriever.root / INDEX_FOLDER, until=until)


def _refresh(retriever: Retriever, progress: ProgressCallback | None, device: Device) -> OpenedCollection:
    """Make one attempt of `refresh_if_small`; a LockedError if another process is writing the index."""
    root = retriever.root
    try:
        with retriever.reading() as snapshot:
            info, diff = snapshot.info, find_changes(root, snapshot)
            reason = _reason_to_wait(root, diff, snapshot)
        note = _settings_note(root, info)
    except CorpusError as error:
        gone = not root.exists()
        return OpenedCollection(retriever, note=str(folder_gone(root)) if gone else _not_updated(error))
    if diff.same:
        from index import record_same

        with suppress(LockedError, StorageError):  # then they are read again at the next question
            record_same(root, diff.same)
    if diff.is_current:
        return OpenedCollection(retriever, note=note)
    if retriever.reload():  # another process has indexed something meanwhile
        return _refresh(retriever, progress, device)
    if not reason and info.splitter != splitter_version():
        reason = "this version of qa splits documents differently, so all files need to be read again"
    if reason:
        note = f"{reason}. Answering from the index as it is; to update it, run: {command_for(root)}"
        return OpenedCollection(retriever, note=note)
    from index import update_index

    try:
        encoder = load_encoder(info.model, device=device)
        require_same_encoder(info, encoder)
        report = update_index(Request(root=root, encoder=encoder, retry=False, progress=progress))
    except (StorageError, CorpusError) as error:
        return OpenedCollection(retriever, note=_not_updated(error))
    retriever.reload()
    return OpenedCollection(retriever, report, note)


def _settings_note(root: Path, info: Info) -> str:
    """Return a note on how the settings differ from the index, or ""."""
    try:
        note = not_applied(root, info)
    except UsageError:
        return ""  # reported when they are read for a question
    return f"{note}. Answering from the index as it is; to update it, run: {command_for(root)}" if note else ""


def _reason_to_wait(root: Path, diff: Diff, snapshot: Index) -> str:
    """Return why a change is too large to index before an answer, or ""; files in another folder are no new ones."""
    documents = snapshot.info.documents
    if documents and not (diff.added or diff.suspect or diff.unchanged or diff.kept):
        return f"all {documents:,} documents are missing (is the folder mounted?)"
    files = [*diff.added, *diff.suspect]
    if _are_many(files):
        files = [*unknown_files(root, diff.added, snapshot.documents(), limit=MAX_MOVED_BYTES), *diff.suspect]
    if not _are_many(files):
        return ""
    what = "file is" if len(files) == 1 else "files are"
    size = sum(file.size for file in files)
    return f"{len(files):,} new or changed {what} not indexed yet ({size / 1e6:,.1f} MB)"


def _are_many(files: Sequence[FoundFile]) -> bool:
    return len(files) > MAX_REFRESH_FILES or sum(file.size for file in files) > MAX_REFRESH_BYTES


def _not_updated(error: Exception) -> str:
    return f"index not updated: {error} Answering from the index as it is."
