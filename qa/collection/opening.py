"""Open a collection for questions, after indexing what changed if that is quick."""

# ruff: noqa: PLC0415 - what writes an index is imported on demand: few questions find anything to write

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from corpus import INDEX_FOLDER, FoundFile, splitter_version
from corpus.errors import CorpusError, LockedError, NoIndexError, QAError, StorageError, UsageError
from corpus.formats import MAX_BYTES, size_limit
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
from qa.collection.settings import settings_difference
from qa.locate import folder_gone_error, index_command
from qa.retrieval.retriever import Retriever

# A file that is mostly images or fonts has less text than others, by this factor.
_PACKED_FACTOR = 5
# The most bytes of files moved from another folder that are read again: nothing of them is embedded.
_MAX_MOVED_BYTES = 20_000_000
# How long a question waits for another process that writes the index, most likely to index the same changes.
_WAIT_SECONDS = 3.0
# Before another attempt; the lock of a collection in PostgreSQL cannot be waited for.
_LOCK_RETRY_SECONDS = 0.1


class ChangeLimit(NamedTuple):
    """The largest change that is indexed; a larger one is noted. Sizes are those of text files."""

    files: float
    bytes: float


# Before a question is answered: a second or two of embedding, since 300 kB are 200 to 900 passages.
SMALL = ChangeLimit(64, 300_000)
ANY_CHANGE = ChangeLimit(math.inf, math.inf)
# What notes on failed updates begin with; what follows may name folders and hosts.
UPDATE_FAILED = "index not updated: "


@dataclass(frozen=True, slots=True)
class OpenedCollection:
    """A collection ready for questions.

    `report` says what was indexed first, `note` tells the user about the state of the index, and `waited_seconds` is
    how long it took until no other process was writing it.
    """

    retriever: Retriever
    report: BuildReport | None = None
    note: str = ""
    waited_seconds: float = 0.0


def build_and_open(
    root: Path, opening: Callable[..., Retriever], progress: ProgressCallback | None, device: Device
) -> OpenedCollection:
    """Build or update a collection, however much there is to do, and open it for questions.

    An index that cannot be written now is opened as it is, with a note.

    Args:
        root: Its folder.
        opening: `Retriever.open`, perhaps with some arguments bound.
        progress: Called with the bytes read so far.
        device: Where the model embeds passages.
    """
    from qa.collection.build import build_index, model_of, require_root

    root = require_root(root)
    encoder = load_encoder(model_of(root), device=device)
    try:
        report = build_index(root, progress=progress, encoder=encoder)
    except (LockedError, StorageError) as error:
        try:
            retriever = opening(root, encoder=encoder)
        except NoIndexError:
            raise error from None
        retriever.note = update_failure_note(error)
        return OpenedCollection(retriever, note=retriever.note)
    return OpenedCollection(opening(root, encoder=encoder), report)


def refresh_if_small(
    retriever: Retriever,
    *,
    progress: ProgressCallback | None = None,
    device: Device = Device.AUTO,
    limit: ChangeLimit = SMALL,
) -> OpenedCollection:
    """Index changes since the last build unless they are larger than a limit, and reload.

    Another process that writes the index is waited for, as it may be indexing these changes.
    """
    started = time.monotonic()
    until = 0.0
    while True:
        began = time.monotonic()
        try:
            found = replace(_refresh(retriever, progress, device, limit), waited_seconds=began - started)
        except LockedError as error:
            until = until or time.monotonic() + _WAIT_SECONDS
            if time.monotonic() < until:
                time.sleep(_LOCK_RETRY_SECONDS)
                wait_for_writer(retriever.root / INDEX_FOLDER, until=until)
                continue
            retriever.reload()
            found = OpenedCollection(retriever, note=update_failure_note(error), waited_seconds=began - started)
        retriever.note = found.note
        return found


def _refresh(
    retriever: Retriever, progress: ProgressCallback | None, device: Device, limit: ChangeLimit
) -> OpenedCollection:
    """Make one attempt of `refresh_if_small`; a LockedError if another process is writing the index."""
    root = retriever.root
    try:
        with retriever.reading() as snapshot:
            info, diff = snapshot.info, find_changes(root, snapshot)
            reason = _reason_not_to_index(root, diff, snapshot, limit)
        note = _settings_note(root, info)
    except CorpusError as error:
        gone = not root.exists()
        return OpenedCollection(retriever, note=str(folder_gone_error(root)) if gone else update_failure_note(error))
    if diff.same:
        from index import record_same

        with suppress(LockedError, StorageError):  # then they are read again at the next question
            record_same(root, diff.same)
    if diff.is_current:
        return OpenedCollection(retriever, note=note)
    if retriever.reload():  # another process has indexed something meanwhile
        return _refresh(retriever, progress, device, limit)
    if not reason and info.splitter != splitter_version():
        reason = "this version of qa splits documents differently, so all files need to be read again"
    if reason:
        note = f"{reason}. Answering from the index as it is; to update it, run: {index_command(root)}"
        return OpenedCollection(retriever, note=note)
    from index import update_index

    try:
        encoder = load_encoder(info.model, device=device)
        require_same_encoder(info, encoder)
        report = update_index(Request(root=root, encoder=encoder, retry=False, progress=progress))
    except (StorageError, CorpusError) as error:
        return OpenedCollection(retriever, note=update_failure_note(error))
    retriever.reload()
    return OpenedCollection(retriever, report, note)


def _settings_note(root: Path, info: Info) -> str:
    """Return a note on how the settings differ from the index, or ""."""
    try:
        note = settings_difference(root, info)
    except UsageError:
        return ""  # reported when they are read for a question
    return f"{note}. Answering from the index as it is; to update it, run: {index_command(root)}" if note else ""


def _reason_not_to_index(root: Path, diff: Diff, snapshot: Index, limit: ChangeLimit) -> str:
    """Return why a change is too large to index now, or ""; files in another folder are no new ones."""
    documents = snapshot.info.documents
    if documents and not (diff.added or diff.suspect or diff.unchanged or diff.kept):
        return f"all {documents:,} documents are missing (is the folder mounted?)"
    files = [*diff.added, *diff.suspect]
    if _exceeds(limit, files):
        files = [*unknown_files(root, diff.added, snapshot.documents(), limit=_MAX_MOVED_BYTES), *diff.suspect]
    if not _exceeds(limit, files):
        return ""
    what = "file is" if len(files) == 1 else "files are"
    size = sum(file.size for file in files)
    return f"{len(files):,} new or changed {what} not indexed yet ({size / 1e6:,.1f} MB)"


def _exceeds(limit: ChangeLimit, files: Sequence[FoundFile]) -> bool:
    text = sum(file.size if size_limit(file.path) <= MAX_BYTES else file.size / _PACKED_FACTOR for file in files)
    return len(files) > limit.files or text > limit.bytes


def update_failure_note(error: Exception) -> str:
    """Return the note on an update that failed."""
    reason = str(error) if isinstance(error, QAError) else f"{type(error).__name__}: {error}"
    return f"{UPDATE_FAILED}{reason.rstrip('.: ')}. Answering from the index as it is."
