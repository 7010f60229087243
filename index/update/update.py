"""Bring an index up to date with its folder, make it anew, or say what either would do."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from corpus import INDEX_FOLDER, load_all
from corpus.errors import CorpusError, DamagedIndexError, IncompatibleError, ModelError, NoIndexError
from index.commit.change import BuildMode
from index.commit.store import Store
from index.dense.faiss_segments import delete_others
from index.integrity import salvage
from index.snapshot import Snapshot
from index.storage.database import DATABASE, NewerFormatError
from index.storage.files import hide_from_git, make_folder, sweep
from index.storage.locking import writer_lock
from index.storage.metadata import Info, SkippedRow
from index.storage.rows import StoredDocument
from index.update.diff import compare
from index.update.report import BuildReport, Request
from index.update.run import Build, Findings, in_order_of_path, select

_LOG = logging.getLogger(__name__)
_BATCH = 1000


def update_index(request: Request) -> BuildReport:
    """Build the index of a folder, or bring it up to date; only what changed is read and embedded.

    Raises:
        CorpusError: The folder is missing, or all its documents are suddenly gone.
        LockedError: Another process writes this index.
        DamagedIndexError: The index does not hold what was written; `rebuild` cures that.
        IncompatibleError: Another version of the format.
        StorageError: The disk refused; the index is as it was.
    """
    started = time.monotonic()
    with _writing(request.root) as folder, _opened(folder) as store:
        return Build(_resumed(request, store), store, started).run(BuildMode.INCREMENTAL)


def rebuild_index(request: Request) -> BuildReport:
    """Read every file again and write every row anew; vectors of texts that are known are reused.

    A damaged index is replaced, its embeddings taken over as far as they hold.

    Raises:
        As `update`, but for damage.
    """
    started = time.monotonic()
    with _writing(request.root) as folder:
        try:
            with _opened(folder) as store:
                store.require_intact()
                return Build(_resumed(request, store), store, started).run(BuildMode.FULL)
        except (DamagedIndexError, IncompatibleError) as error:
            if isinstance(error, NewerFormatError | ModelError):
                raise
            _LOG.warning("the index is made anew: %s", error)
            request = _as_before(request, folder)
            salvage.set_aside(folder)
        with _opened(folder) as store:
            return Build(request, store, started).run(BuildMode.FULL)


def _resumed(request: Request, store: Store) -> Request:
    """The request, with the patterns of the database that a process was killed over before it had made it anew."""
    unfinished = salvage.is_set_aside(store.folder) and store.info() is None
    return _as_before(request, store.folder) if unfinished else request


def _as_before(request: Request, folder: Path) -> Request:
    """The request with the patterns of a database that is to be made anew, where none are given."""
    if None not in (request.include, request.exclude, request.paths):
        return request
    left = salvage.salvaged_patterns(folder)
    if left is None:
        _LOG.warning("which files the index took in cannot be told any more; those asked for now are, or all")
        return request
    include, exclude, paths = left
    return replace(
        request,
        include=include if request.include is None else request.include,
        exclude=exclude if request.exclude is None else request.exclude,
        paths=paths if request.paths is None else request.paths,
    )


def rebuild_derived(root: Path) -> None:
    """Make anew, from the documents, passages and vectors of an index, all that follows from them.

    No file of the corpus is read and nothing is embedded.

    Raises:
        LockedError: Another process writes this index.
        DamagedIndexError: They themselves do not hold what was written; `rebuild` cures that.
        IncompatibleError: Another version of the format.
        StorageError: The disk refused; the index is as it was.
    """
    with _writing(root) as folder, _opened(folder) as store:
        store.rederive()


def preview_update(
    root: Path,
    *,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    paths: Sequence[str] | None = None,
    more_paths: Sequence[str] = (),
) -> BuildReport:
    """What `update` would do, by reading files but writing nothing; `embedded` and `reused` are not known: 0.

    Raises:
        CorpusError: The folder is missing or cannot be read.
    """
    started = time.monotonic()
    info: Info | None = None
    documents: dict[str, StoredDocument] = {}
    left: tuple[SkippedRow, ...] = ()
    with contextlib.suppress(NoIndexError), Snapshot(root / INDEX_FOLDER) as snapshot:
        info, left = snapshot.info, snapshot.skipped()
        documents = {document.path: document for document in snapshot.documents()}
    chosen = select(info, include=include, exclude=exclude, paths=paths, more_paths=more_paths)
    diff = compare(root, documents, left, include=chosen.include, exclude=chosen.exclude, paths=chosen.paths)
    found = Findings()
    for read in load_all(root, (*diff.added, *diff.suspect)):
        found.look(read, documents.get(read.file.path))
    return BuildReport(
        added=found.added,
        changed=found.changed,
        removed=len(diff.removed) + len(found.removed),
        unchanged=len(diff.unchanged) + found.unchanged,
        skipped=in_order_of_path((*diff.left, *found.left)),
        documents=0 if info is None else info.documents,
        passages=0 if info is None else info.passages,
        embedded=0,
        reused=0,
        seconds=time.monotonic() - started,
        notes=tuple(found.notes),
    )


@contextlib.contextmanager
def _writing(root: Path) -> Iterator[Path]:
    if not root.is_dir():
        raise CorpusError(f"there is no folder {root}. Name a folder of documents.")
    folder = root / INDEX_FOLDER
    make_folder(folder)
    with writer_lock(folder):
        sweep(folder)
        if not (folder / DATABASE).exists():  # whoever deletes the file later wants to
            hide_from_git(folder)
        yield folder


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[Store]:
    salvage.resume(folder)
    with Store(folder) as store:
        left = salvage.salvaged_vectors(folder)
        while rows := list(islice(left, _BATCH)):
            store.adopt_vectors(rows)
        info = store.info()
        # A process that was killed behind its commit left those of the generation before.
        delete_others(folder, [] if info is None else [segment.name for segment in info.segments])
        yield store
        # Not before there is a generation: who goes on after a kill learns of the model and the patterns there.
        salvage.discard(folder)
