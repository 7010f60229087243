"""Build the index of a folder, or bring it up to date."""

# ruff: noqa: PLC0415 - what writes an index is imported on demand: few questions find anything to write

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Literal

from corpus import INDEX_FOLDER, SkippedFile, walk
from corpus.errors import (
    CorpusError,
    DamagedIndexError,
    IncompatibleError,
    LockedError,
    ModelError,
    NoIndexError,
    QAError,
    UsageError,
)
from index import (
    DEFAULT_MODEL,
    NO_PROBLEM,
    BuildMode,
    BuildReport,
    Choice,
    CompileError,
    Device,
    Encoder,
    ProgressCallback,
    Request,
    WorkerPlan,
    is_built,
    load_encoder,
    open_index,
    patterns_to_blame,
    prepare_for_questions,
    store_of,
    wait_for_writer,
)
from qa.collection.named_files import paths_in
from qa.collection.settings import missing_paths_message, read_settings
from qa.locate import file_in_the_way, require_folder, root_of
from qa.reader.reader import Reader
from qa.require import DeviceName, require_encoder, require_member, require_texts, require_type

# Pause before another attempt, as one cannot wait for the lock of a collection in PostgreSQL.
LOCK_RETRY_SECONDS = 1.0
# Strings that may be passed instead of enum members.
BuildModeName = Literal["incremental", "full"]
OnEmptyName = Literal["fail", "allow"]
OnLockedName = Literal["fail", "wait"]

_log = logging.getLogger(__name__)


class OnLocked(StrEnum):
    """What a build does while another process or thread writes the same index."""

    FAIL = "fail"  # raise an error that names the other one
    WAIT = "wait"  # log what it waits for, and continue when that has finished


class OnEmpty(StrEnum):
    """What a build does if there is nothing to index."""

    FAIL = "fail"  # raise an error: more likely it is the wrong folder, or not mounted
    ALLOW = "allow"  # make an index without documents


def build_index(
    path: str | os.PathLike[str],
    *,
    model: str | None = None,
    mode: BuildMode | BuildModeName = BuildMode.INCREMENTAL,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    paths: os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    on_empty: OnEmpty | OnEmptyName = OnEmpty.FAIL,
    on_locked: OnLocked | OnLockedName = OnLocked.FAIL,
    progress: ProgressCallback | None = None,
    encoder: Encoder | None = None,
    device: Device | DeviceName = Device.AUTO,
    store: str | None = None,
    workers: int = 0,
    dask: str = "",
) -> BuildReport:
    """Build or update the index of a folder, and return what was done.

    Args:
        path: The folder of documents.
        model: A sentence-transformers name or a folder; None for the index's own model, or the default.
            A model other than the index's embeds everything again.
        mode: `incremental` reads only files that look changed, `full` all of them.
        include: Patterns (as in .gitignore) of the files to index, () for all, None for those in `qa.toml`,
            else those of the last build.
        exclude: Patterns of the files to leave out, None as for `include`.
        paths: Files and folders, relative to `path`. They limit a new collection, and are added to one that is
            limited; a collection of the whole folder has them already.
        on_empty: What to do if there are no documents: `fail`, or `allow` to make an index without any.
        on_locked: What to do while another process or thread writes this index: `fail`, or `wait` for it.
        progress: Called with a `Progress` now and then: how many bytes of the files to read are done, embedding
            included, and their total, which is 0 while files are looked for. What it raises ends the build, and the
            index is as it was.
        encoder: Used instead of loading a model.
        device: Where the model embeds passages: `cpu`, `cuda`, `mps`, or `auto`, which takes a GPU for a large build
            if there is one.
        store: Keep the index in PostgreSQL, `postgresql://user@host/database#collection`; the folder remembers it once
            the index is there.
        workers: How many processes embed, sharing the cores; 0 to embed in this one.
        dask: Embed on the Dask cluster whose scheduler has this address, such as `tcp://host:8786`.

    Raises:
        UsageError: An argument, a pattern or `qa.toml` is not valid, or the device or the cluster cannot be used.
        CorpusError: The folder or one of `paths` is missing or cannot be read, or there are no documents.
        ModelError: The model cannot be loaded.
        LockedError: Another process or thread writes this index.
        DamagedIndexError: The index is damaged; mode `full` rebuilds it.
        IncompatibleError: The index has another format version.
        StorageError: Writing failed, or the workers are gone; the index is as it was.
        TypeError: An argument is of the wrong type.
    """
    mode, device = require_member("mode", mode, BuildMode), require_member("device", device, Device)
    may_be_empty = require_member("on_empty", on_empty, OnEmpty) is OnEmpty.ALLOW
    on_locked = require_member("on_locked", on_locked, OnLocked)
    require_type("model", model, str, NoneType)
    require_type("workers", workers, int)
    require_type("dask", dask, str)
    require_texts("include", include or ())
    require_texts("exclude", exclude or ())
    if workers < 0:
        raise UsageError(f"workers must be 0 or more, not {workers}.")
    require_encoder(encoder)
    root = require_root(path)
    more_paths = paths_in(root, paths)
    from index import choose_store, open_workers, rebuild_index, update_index

    if store is not None:
        require_type("store", store, str)
        store = choose_store(root / INDEX_FOLDER, store)
    plan = WorkerPlan(workers, dask) if workers or dask else None
    waited_for: str | None = ""
    while True:
        if on_locked is OnLocked.WAIT:
            wait_for_writer(root / INDEX_FOLDER)
        # Read again each time: the other process may have changed the model or the patterns.
        settings = read_settings(root)
        is_first = not is_built(root / INDEX_FOLDER, store)  # then it is sure to embed
        name = _absolute_model(model) if model else model_of(root, store)
        choice = settings.choice(include, exclude, more_paths)
        if not may_be_empty:
            _require_files(root, choice, is_new=is_first or mode is BuildMode.FULL)
        used_encoder = encoder or load_encoder(name, ahead=is_first, device=Device.CPU if plan else device)
        try:
            with open_workers(plan, used_encoder, partial(load_encoder, name, device=device)) as pool:
                request = Request(
                    root, used_encoder, choice, allow_empty=may_be_empty, progress=progress, workers=pool, store=store
                )
                report = rebuild_index(request) if mode is BuildMode.FULL else update_index(request)
        except LockedError as error:
            if on_locked is OnLocked.FAIL:
                raise
            waited_for = _pause_for_writer(error, store or store_of(root / INDEX_FOLDER), waited_for)
            continue
        if not may_be_empty:
            _require_documents(root, report, choice)
        if is_first and encoder is None:
            _prepare_for_questions(name)
        return report


def _pause_for_writer(error: LockedError, store: str | None, waited_for: str | None) -> str | None:
    """Wait a moment for another writer; log that once if it writes to a database, and return the store."""
    if store and store != waited_for:
        _log.warning("%s; waiting for it to end", str(error).partition(". ")[0], extra=NO_PROBLEM)
    time.sleep(LOCK_RETRY_SECONDS)
    return store


def _prepare_for_questions(model: str) -> None:
    """Prepare the encoder and the reader for this machine now, rather than at the first question."""
    try:
        prepare_for_questions(model)
        Reader().prepare()
    except (CompileError, ImportError, ModelError) as error:
        _log.debug("questions are not prepared for: %s", error)


def _require_files(root: Path, choice: Choice, *, is_new: bool) -> None:
    """Require files before a new index is written, as the folder or a path may be the wrong one."""
    if not is_new and not missing_paths_message(root, choice.paths or ()):
        return
    patterns = {"include": choice.include or (), "exclude": choice.exclude or (), "formats": choice.formats or ()}
    walked = walk(root, **patterns, paths=(*choice.paths, *choice.more_paths) if choice.paths else ())
    if not walked.files:
        raise _nothing_to_index(root, walked.skipped, choice)


def _require_documents(root: Path, report: BuildReport, choice: Choice) -> None:
    """Require documents in a new index, and warn of paths in the settings that do not exist."""
    if not report.documents:
        raise _nothing_to_index(root, report.skipped, choice)
    if missing := missing_paths_message(root, choice.paths or ()):
        _log.warning("%s. Correct it there.", missing)


def _nothing_to_index(root: Path, skipped: Sequence[SkippedFile], choice: Choice) -> CorpusError:
    if missing := missing_paths_message(root, choice.paths or ()):
        reason = f"{missing}. Correct it there"
    elif patterns := patterns_to_blame(root, choice):
        reason = f"no files are left with {patterns}"
    elif skipped:
        more = f" ({len(skipped) - 1:,} more skipped)" if len(skipped) > 1 else ""
        reason = f"{skipped[0].path}: {skipped[0].reason}{more}"
    elif any(path.name != INDEX_FOLDER for path in root.iterdir()):
        reason = "all its files are hidden or ignored"
    else:
        reason = "the folder is empty"
    return CorpusError(f"nothing to index in {root}: {reason}.")


def has_documents(root: Path) -> bool:
    """Return whether there is an index that has documents."""
    try:
        with open_index(root / INDEX_FOLDER) as snapshot:
            return snapshot.info.documents > 0
    except (NoIndexError, DamagedIndexError, IncompatibleError):
        return False


def preview_index(
    path: str | os.PathLike[str],
    *,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    paths: Sequence[str] = (),
    mode: BuildMode = BuildMode.INCREMENTAL,
    on_empty: OnEmpty = OnEmpty.FAIL,
) -> BuildReport:
    """Return what `build_index` would do, without writing, or raise its CorpusError; `embedded` and `reused` are 0."""
    from index import preview_update, require_most_kept

    root = require_root(path)
    choice = read_settings(root).choice(include, exclude, paths_in(root, paths))
    if on_empty is OnEmpty.FAIL:
        _require_files(root, choice, is_new=mode is BuildMode.FULL or not is_built(root / INDEX_FOLDER))
    report = preview_update(root, choice, mode)
    if on_empty is OnEmpty.FAIL:
        require_most_kept(report.removed + report.changed + report.unchanged, report.removed, choice)
    is_empty = not (report.added or report.changed or report.unchanged) and (report.removed or not report.documents)
    if is_empty and on_empty is OnEmpty.FAIL:
        raise _nothing_to_index(root, report.skipped, choice)
    return report


def require_root(path: str | os.PathLike[str]) -> Path:
    """Return the corpus root, which may be named by its `.qa` folder; a CorpusError if it cannot be one."""
    require_type("path", path, str, os.PathLike)
    root = root_of(Path(path))
    require_folder(root)
    if in_the_way := file_in_the_way(root):
        raise CorpusError(in_the_way)
    return root


def _absolute_model(model: str) -> str:
    """Return a model's folder as an absolute path, since the next command may run elsewhere; other names unchanged."""
    folder = Path(model)
    return str(folder.absolute()) if folder.is_dir() else model


def model_of(root: Path, store: str | None = None) -> str:
    """Return the model that the index of a folder, or in `store`, was built with; the default if that is unknown."""
    folder = root / INDEX_FOLDER
    try:
        with open_index(folder, store) as snapshot:
            return snapshot.info.model
    except (NoIndexError, DamagedIndexError, IncompatibleError):
        if store is not None:  # the collection moves there
            with suppress(QAError), open_index(folder) as index:
                return index.info.model
        from index import salvaged_model

        model = salvaged_model(folder)
        _log.debug("model of %s: %s", root, model or "unknown; using the default")
        return model or DEFAULT_MODEL
