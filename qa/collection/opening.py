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

from corpus import INDEX_FOLDER, FoundFile, types_split_otherwise
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
from qa.answer.display import count, format_size
from qa.collection.settings import settings_difference
from qa.locate import folder_gone_error, index_command
from qa.retrieval.retriever import Retriever

# A file that is mostly images or fonts has less text than others, by this factor.
_PACKED_FACTOR = 5
# Up to this many bytes of new files are read to find out which of them were only moved, and need no embedding.
_MAX_MOVED_BYTES = 20_000_000
# How long a question waits for another process that writes the index, which is probably indexing the same changes.
_WAIT_SECONDS = 3.0
# Pause before another attempt, as one cannot wait for the lock of a collection in PostgreSQL.
_LOCK_RETRY_SECONDS = 0.1


class ChangeLimit(NamedTuple):
    """The largest change that is indexed; a larger one is noted. Sizes are those of text files."""

    files: float
    bytes: float


# Before a question is answered: a second or two of embedding, since 300 kB are 200 to 900 passages.
SMALL = ChangeLimit(64, 300_000)
ANY_CHANGE = ChangeLimit(math.inf, math.inf)
# How notes on failed updates begin; the rest may name folders and hosts.
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
    root: Path,
    open_retriever: Callable[..., Retriever],
    progress: ProgressCallback | None,
    device: Device,
    *,
    paths: Sequence[str] = (),
) -> OpenedCollection:
    """Build or update a collection, however long that takes, and open it for questions.

    If the index cannot be written now, it is opened as it is, with a note.

    Args:
        root: Its folder.
        open_retriever: `Retriever.open`, perhaps with some arguments bound.
        progress: Called with the bytes read so far.
        device: Where the model embeds passages.
        paths: Files and folders to add if it is limited, as in `build_index`.
    """
    from qa.collection.build import build_index, model_of, require_root

    root = require_root(root)
    encoder = load_encoder(model_of(root), device=device)
    try:
        report = build_index(root, paths=paths, progress=progress, encoder=encoder)
    except (LockedError, StorageError) as error:
        try:
            retriever = open_retriever(root, encoder=encoder)
        except NoIndexError:
            raise error from None
        retriever.note = update_failure_note(error)
        return OpenedCollection(retriever, note=retriever.note)
    return OpenedCollection(open_retriever(root, encoder=encoder), report)


def refresh_if_small(
    retriever: Retriever,
    *,
    progress: ProgressCallback | None = None,
    device: Device = Device.AUTO,
    limit: ChangeLimit = SMALL,
) -> OpenedCollection:
    """Index the changes since the last build, unless they exceed a limit, and reload.

    If another process is writing the index, wait for it, as it may be indexing these changes.
    """
    started = time.monotonic()
    deadline = 0.0
    while True:
        began = time.monotonic()
        try:
            opened = replace(_refresh(retriever, progress, device, limit), waited_seconds=began - started)
        except LockedError as error:
            deadline = deadline or time.monotonic() + _WAIT_SECONDS
            if time.monotonic() < deadline:
                time.sleep(_LOCK_RETRY_SECONDS)
                wait_for_writer(retriever.root / INDEX_FOLDER, until=deadline)
                continue
            retriever.reload()
            opened = OpenedCollection(retriever, note=update_failure_note(error), waited_seconds=began - started)
        retriever.note = opened.note
        return opened


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
        note = update_failure_note(error) if root.exists() else str(folder_gone_error(root))
        return OpenedCollection(retriever, note=note)
    if diff.same:
        from index import record_same

        with suppress(LockedError, StorageError):  # then they are read again at the next question
            record_same(root, diff.same)
    if diff.is_current:
        return OpenedCollection(retriever, note=note)
    if retriever.reload():  # another process has indexed something meanwhile
        return _refresh(retriever, progress, device, limit)
    if not reason and types_split_otherwise(info.splitter) is None:
        reason = "this version of qa splits documents differently, so all files need to be read again"
    if reason:
        note = f"{reason}. Answering from the index as it is; to update it, run: {index_command(root)}"
        return OpenedCollection(retriever, note=note)
    from index import merge_log, update_index

    try:
        encoder = load_encoder(info.model, device=device)
        require_same_encoder(info, encoder)
        report = update_index(Request(root=root, encoder=encoder, retry=False, progress=progress))
    except (StorageError, CorpusError) as error:
        return OpenedCollection(retriever, note=update_failure_note(error))
    retriever.reload()
    with suppress(LockedError, StorageError):  # then the next update tries again
        with retriever.reading() as snapshot:
            merge_log(snapshot)
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
    """Return why a change is too large to index now, or ""; moved files do not count as new."""
    files_indexed = snapshot.info.files
    if files_indexed and not (diff.added or diff.suspect or diff.unchanged or diff.kept):
        missing = "the only file is" if files_indexed == 1 else f"all {files_indexed:,} files are"
        return f"{missing} missing (is the folder mounted?)"
    files = [*diff.added, *diff.suspect]
    if _exceeds(limit, files):
        files = [*unknown_files(root, diff.added, snapshot.documents(), limit=_MAX_MOVED_BYTES), *diff.suspect]
    if not _exceeds(limit, files):
        return ""
    noun = "file is" if len(files) == 1 else "files are"
    size = sum(file.size for file in files)
    deleted = f", and {count(len(diff.removed), 'deleted file')} still in the index" if diff.removed else ""
    return f"{len(files):,} new or changed {noun} not indexed yet ({format_size(size)}){deleted}"


def _exceeds(limit: ChangeLimit, files: Sequence[FoundFile]) -> bool:
    text = sum(file.size if size_limit(file.path) <= MAX_BYTES else file.size / _PACKED_FACTOR for file in files)
    return len(files) > limit.files or text > limit.bytes


def update_failure_note(error: Exception) -> str:
    """Return the note on an update that failed."""
    reason = str(error) if isinstance(error, QAError) else f"{type(error).__name__}: {error}"
    return f"{UPDATE_FAILED}{reason.rstrip('.: ')}. Answering from the index as it is."
