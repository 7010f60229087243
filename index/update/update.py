"""Bring an index up to date with its folder, rebuild it, or preview an update."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from corpus import INDEX_FOLDER, load_all
from corpus.errors import (
    CorpusError,
    DamagedIndexError,
    IncompatibleError,
    ModelError,
    NoIndexError,
    QAError,
    Unreadable,
)
from index.commit.change import BuildMode
from index.commit.store import Store
from index.integrity import salvage
from index.protocol import Index, IndexWriter
from index.snapshot import Snapshot
from index.storage.database import DATABASE, NewerFormatError, log_size, open_for_writing, translate_errors
from index.storage.files import make_folder, sweep
from index.storage.locking import writer_lock
from index.storage.metadata import Info, Selection, SkippedRow
from index.storage.rows import StoredDocument
from index.stores import make_index_folder, open_index, open_writer, store_of
from index.update.diff import apply_choice, compare_folder, read_suspects
from index.update.report import BuildReport, Choice, Request
from index.update.run import Build, Findings

# Bytes. SQLite itself merges a log when it commits to one of 8 MB, but not what open snapshots have not seen yet.
_LONG_LOG = 16_000_000

_LOG = logging.getLogger(__name__)


def update_index(request: Request) -> BuildReport:
    """Build the index of a folder, or bring it up to date; only changed files are read and embedded.

    Raises:
        CorpusError: The folder is missing, or all its documents are suddenly gone.
        LockedError: Another process is writing this index.
        DamagedIndexError: The index is damaged; `rebuild_index` repairs it.
        IncompatibleError: It has another format version.
        StorageError: A read or write failed; the index is as it was.
    """
    started = time.monotonic()
    with lock_index_folder(request.root) as folder, open_writer(folder, request.store) as store:
        return Build(request, store, started, _previous_selection(request, folder, store)).run(BuildMode.INCREMENTAL)


def merge_log(snapshot: Index) -> None:
    """Merge a long write-ahead log into the database; the snapshot, which is read from the log, is then outdated.

    SQLite starts a log anew once it is merged and no snapshot is read from it; one opened then is read from the
    database alone. Raises as `update_index`.
    """
    if isinstance(snapshot, Snapshot) and log_size(file := snapshot.folder / DATABASE) > _LONG_LOG:
        with writer_lock(snapshot.folder), translate_errors(file), contextlib.closing(open_for_writing(file)) as writer:
            writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
        snapshot.is_outdated = True


def record_same(root: Path, same: Sequence[StoredDocument]) -> None:
    """Record the new stat values of unchanged files, so that they need not be read again.

    Raises:
        As `update_index`.
    """
    with lock_index_folder(root) as folder, open_writer(folder) as store:
        documents = store.documents()
        updated = [
            replace(documents[document.path], mtime_ns=document.mtime_ns, checked_ns=document.checked_ns)
            for document in same
            if document.path in documents and documents[document.path].sha256 == document.sha256
        ]
        paths = {document.path for document in updated}
        store.update_stats(updated, [row for row in store.skipped() if row.path not in paths])


def rebuild_index(request: Request) -> BuildReport:
    """Read every file again and rewrite every row; stored vectors are reused, even from a damaged index.

    Raises:
        As `update_index`, except for damage.
    """
    started = time.monotonic()
    with lock_index_folder(request.root) as folder:
        try:
            with open_writer(folder, request.store) as store:
                previous = _previous_selection(request, folder, store)
                store.require_intact()
                return Build(request, store, started, previous).run(BuildMode.FULL)
        except (DamagedIndexError, IncompatibleError) as error:
            if _cannot_be_rebuilt(error, folder, request.store):
                raise
            # Without the error's last sentence, the advice to rebuild.
            _LOG.warning("rebuilding the index: %s.", str(error).rpartition(". ")[0])
            salvaged = _read_salvaged(request, folder)
            salvage.set_aside(folder)
        with open_writer(folder) as store:
            return Build(request, store, started, salvaged).run(BuildMode.FULL)


def rebuild_derived(root: Path) -> None:
    """Rebuild everything derived from documents, passages and vectors; no file is read, nothing is embedded.

    Raises:
        As `update_index`; DamagedIndexError if documents, passages or vectors are damaged.
    """
    with lock_index_folder(root) as folder, open_writer(folder) as store:
        if not isinstance(store, Store):
            raise DamagedIndexError(f"{store_of(folder)} can only be rebuilt as a whole: qa index --full.")
        store.rebuild_derived()


def preview_update(root: Path, choice: Choice | None = None, mode: BuildMode = BuildMode.INCREMENTAL) -> BuildReport:
    """Report what `update_index` or `rebuild_index` would do; nothing is written, and `embedded` and `reused` are 0.

    Raises:
        CorpusError: The folder is missing or cannot be read.
        DamagedIndexError: The index is damaged, and `mode` is incremental.
        IncompatibleError: It has another format version, and `mode` is incremental or the format is newer.
    """
    started = time.monotonic()
    info: Info | None = None
    previous: Selection | None = None
    documents: dict[str, StoredDocument] = {}
    skipped: tuple[SkippedRow, ...] = ()
    folder = root / INDEX_FOLDER
    try:
        with contextlib.suppress(NoIndexError), open_index(folder) as snapshot:
            previous = info = snapshot.info
            skipped = snapshot.skipped()
            documents = {document.path: document for document in snapshot.documents()}
    except (DamagedIndexError, IncompatibleError) as error:
        if mode is BuildMode.INCREMENTAL or _cannot_be_rebuilt(error, folder):
            raise
        previous = salvage.salvaged_selection(folder)
    selection = apply_choice(previous, choice or Choice())
    diff = read_suspects(root, compare_folder(root, documents, skipped, selection, retry=True), documents)
    findings = Findings()
    for loaded in load_all(root, (*diff.added, *diff.suspect), formats=selection.formats):
        stored = documents.get(loaded.file.path)
        if isinstance(loaded.outcome, Unreadable):
            findings.skip(loaded, loaded.outcome, stored)
        else:
            findings.count(loaded.outcome, stored)
    return findings.report(diff, BuildMode.INCREMENTAL, info, started)


def _cannot_be_rebuilt(error: Exception, folder: Path, store: str | None = None) -> bool:
    """Whether a full build would not help: the format is newer, or the index is in PostgreSQL."""
    return isinstance(error, NewerFormatError | ModelError) or (store or store_of(folder)) is not None


def _previous_selection(request: Request, folder: Path, store: IndexWriter) -> Selection | None:
    """Return the selection of the last update, for a store that is new or about to be emptied."""
    with contextlib.suppress(DamagedIndexError):
        if (info := store.info()) is not None:
            return info
    # A process may have been killed while it rebuilt the database that it had set aside.
    is_lost = salvage.is_set_aside(folder)
    if request.store is not None:  # the collection moves there
        try:
            with open_index(folder) as index:
                return index.info
        except QAError as error:
            is_lost = is_lost or not isinstance(error, NoIndexError)
    return _read_salvaged(request, folder) if is_lost else None


def _read_salvaged(request: Request, folder: Path) -> Selection | None:
    salvaged = salvage.salvaged_selection(folder)
    if salvaged is None and None in (request.choice.include, request.choice.exclude, request.choice.paths):
        _LOG.warning("the patterns of the damaged index are lost; only those given now apply")
    return salvaged


@contextlib.contextmanager
def lock_index_folder(root: Path) -> Iterator[Path]:
    """Lock the index folder of a root, creating it if it is missing, and yield it."""
    if not root.is_dir():
        raise CorpusError(f"no such folder: {root}. Give a folder of documents.")
    folder = root / INDEX_FOLDER
    make_folder(folder)
    with writer_lock(folder):
        sweep(folder)
        make_index_folder(folder)
        yield folder
