"""Build an index, keep it current, and open it for questions."""

# ruff: noqa: PLC0415 - what writes an index is imported where it is needed: few questions find anything to write

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from corpus import INDEX_FOLDER, splitter_version
from corpus.errors import CorpusError, DamagedIndexError, IncompatibleError, LockedError, NoIndexError, StorageError
from index import (
    DATABASE,
    DEFAULT_MODEL,
    BuildMode,
    BuildReport,
    Diff,
    Encoder,
    ProgressCallback,
    Request,
    Snapshot,
    find_changes,
    load_encoder,
    require_same_encoder,
    wait_for_writer,
)
from qa.collection.settings import read as read_settings
from qa.locate import command_for, root_of
from qa.retrieval.retriever import Retriever

_log = logging.getLogger(__name__)

# What a question may bring in before it is answered: about a second or two of embedding.
MOST_FILES = 64
MOST_BYTES = 2_000_000


class OnLocked(Enum):
    """What a build does while another process writes the same index."""

    FAIL = "raise an error that names the other process"
    WAIT = "say which process it waits for, and go on when that has finished"


class OnEmpty(Enum):
    """Whether an index with documents may become one without."""

    FAIL = "raise an error: more likely the folder is not mounted"
    ALLOW = "empty the index"


@dataclass(frozen=True, slots=True)
class Opened:
    """A collection ready for questions.

    Attributes:
        retriever: Open; the caller closes it.
        report: What was brought in before, or None.
        note: What the user should know about the state of the index, or "".
    """

    retriever: Retriever
    report: BuildReport | None = None
    note: str = ""


def build_index(
    path: str | os.PathLike[str],
    *,
    model: str | None = None,
    mode: BuildMode = BuildMode.INCREMENTAL,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    paths: Sequence[str] = (),
    on_empty: OnEmpty = OnEmpty.FAIL,
    on_locked: OnLocked = OnLocked.FAIL,
    progress: ProgressCallback | None = None,
    encoder: Encoder | None = None,
) -> BuildReport:
    """Build the index of a folder, or bring it up to date.

    Args:
        path: The folder of documents.
        model: A sentence-transformers name or a folder; None for the one the index was built with, or the default.
            Another model than the index's embeds everything anew.
        mode: Which files to read.
        include: Patterns (as in .gitignore) of the files to take in, () for all, None for those that `qa.toml` sets,
            else those of the last build.
        exclude: Patterns of the files to leave out, None as for `include`.
        paths: Limits a new collection to these files and folders (with a slash at the end) in its folder, relative to
            it; one that is limited already gets them besides, and one of a whole folder stays that.
        on_empty: Whether the index may lose its last documents.
        on_locked: What to do while another process writes this index.
        progress: Told how far it is.
        encoder: Embeds the passages, in place of a model.

    Raises:
        UsageError: A pattern cannot be meant, or `qa.toml` cannot be used.
        CorpusError: The folder is missing, or all its documents are suddenly gone.
        ModelError: The model is not to be had.
        LockedError: Another process writes this index.
        DamagedIndexError: The index does not hold what was written; `BuildMode.FULL` cures that.
        IncompatibleError: The index has another format version.
        StorageError: The disk refused; the index is as it was.
    """
    root = existing(path)
    from index import rebuild_index, update_index

    while True:
        if on_locked is OnLocked.WAIT:
            wait_for_writer(root / INDEX_FOLDER)
        # Read again each time: the other one may have changed the model or the patterns.
        settings = read_settings(root)
        # A first build is sure to embed.
        first = not (root / INDEX_FOLDER / DATABASE).exists()
        request = Request(
            root=root,
            encoder=encoder or load_encoder(_steady(model) if model else model_of(root), ahead=first),
            include=settings.include if include is None else include,
            exclude=settings.exclude if exclude is None else exclude,
            paths=settings.paths,
            more_paths=paths,
            allow_empty=on_empty is OnEmpty.ALLOW,
            progress=progress,
        )
        try:
            return rebuild_index(request) if mode is BuildMode.FULL else update_index(request)
        except LockedError:
            if on_locked is OnLocked.FAIL:
                raise


def preview_index(
    path: str | os.PathLike[str],
    *,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    paths: Sequence[str] = (),
) -> BuildReport:
    """What `build_index` would do with the files, writing nothing; `embedded` and `reused` stay 0.

    Raises:
        CorpusError: The folder is missing or cannot be read.
    """
    from index import preview_update

    root = existing(path)
    settings = read_settings(root)
    return preview_update(
        root,
        include=settings.include if include is None else include,
        exclude=settings.exclude if exclude is None else exclude,
        paths=settings.paths,
        more_paths=paths,
    )


def build_and_open(path: str | os.PathLike[str], *, progress: ProgressCallback | None = None) -> Opened:
    """Build the index of a folder or bring it up to date, however large the change, then open it.

    Where there is an index that cannot be written now, it is opened as it is, with a note.

    Raises:
        As `build_index` and `Retriever.open`.
    """
    root = existing(path)
    encoder = load_encoder(model_of(root))
    try:
        report = build_index(root, progress=progress, encoder=encoder)
    except (LockedError, StorageError) as error:
        try:
            return Opened(Retriever.open(root, encoder=encoder), note=_as_it_is(error))
        except NoIndexError:
            raise error from None
    return Opened(Retriever.open(root, encoder=encoder), report)


def open_as_is(root: Path) -> Opened:
    """Open an index for questions without a look at the files.

    Raises:
        As `Retriever.open`.
    """
    return Opened(Retriever.open(root))


def open_current(root: Path, *, progress: ProgressCallback | None = None) -> Opened:
    """Open an index for questions; small changes of its files are brought in first, larger ones noted.

    Raises:
        As `Retriever.open`.
    """
    return refresh_if_small(Retriever.open(root), progress=progress)


def refresh_if_small(retriever: Retriever, *, progress: ProgressCallback | None = None) -> Opened:
    """Bring in what changed since the index was written, if it is little; the files are compared by stat.

    Args:
        retriever: Open; closed if another takes its place in what is returned.
        progress: Told how far it is.

    Raises:
        As `Retriever.open`.
    """
    root, info = retriever.root, retriever.snapshot.info
    try:
        diff = find_changes(root, retriever.snapshot)
    except CorpusError as error:
        return Opened(retriever, note=_as_it_is(error))
    if diff.is_current:
        return Opened(retriever)
    reason = _reason_to_wait(diff, info.documents)
    if not reason and info.splitter != splitter_version():
        reason = "this version reads or cuts documents in another way, so everything is to be read again"
    if reason:
        return Opened(retriever, note=f"{reason}. The answers come from the index as it is. Run: {command_for(root)}")
    from index import update_index

    try:
        encoder = load_encoder(info.model)
        require_same_encoder(info, encoder)
        report = update_index(Request(root=root, encoder=encoder, progress=progress))
    except (LockedError, StorageError, CorpusError) as error:
        return Opened(retriever, note=_as_it_is(error))
    retriever.close()
    return Opened(Retriever.open(root, encoder=encoder), report)


def existing(path: str | os.PathLike[str]) -> Path:
    """The corpus root that a user names, by itself or by the `.qa` folder in it.

    Raises:
        CorpusError: There is no such folder.
    """
    root = root_of(Path(path))
    if not root.is_dir():
        what = "is a file" if root.exists() else "does not exist"
        raise CorpusError(f"{root} {what}. Name a folder of documents.")
    return root


def _steady(model: str) -> str:
    """A model's folder keeps its meaning wherever the next command is run."""
    folder = Path(model)
    return str(folder.absolute()) if folder.is_dir() else model


def model_of(root: Path) -> str:
    """The model an index was built with; the default where that cannot be told."""
    try:
        with Snapshot(root / INDEX_FOLDER) as snapshot:
            return snapshot.info.model
    except (NoIndexError, DamagedIndexError, IncompatibleError):
        from index import salvaged_model

        model = salvaged_model(root / INDEX_FOLDER)
        _log.debug("model of %s: %s", root, model or "unknown, the default is used")
        return model or DEFAULT_MODEL


def _reason_to_wait(diff: Diff, documents: int) -> str:
    """Why a change is too much to bring in before an answer, or ""."""
    if documents and not (diff.added or diff.suspect or diff.unchanged or diff.kept):
        return f"all {documents:,} documents are gone; is the folder mounted?"
    files = (*diff.added, *diff.suspect)
    size = sum(file.size for file in files)
    if len(files) > MOST_FILES or size > MOST_BYTES:
        what = "new or changed file is" if len(files) == 1 else "new or changed files are"
        return f"{len(files):,} {what} not in the index yet ({size / 1e6:,.1f} MB)"
    return ""


def _as_it_is(error: Exception) -> str:
    return f"the index is not brought up to date: {error} The answers come from it as it is."
