"""Build an index, keep it current, and open it for questions."""

# ruff: noqa: PLC0415 - what writes an index is imported where it is needed: few questions find anything to write

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

from corpus import INDEX_FOLDER, SkippedFile, splitter_version, walk
from corpus.errors import (
    CorpusError,
    DamagedIndexError,
    IncompatibleError,
    LockedError,
    ModelError,
    NoIndexError,
    StorageError,
)
from index import (
    DEFAULT_MODEL,
    BuildMode,
    BuildReport,
    CompileError,
    Device,
    Diff,
    Encoder,
    ProgressCallback,
    Request,
    find_changes,
    is_built,
    load_encoder,
    open_index,
    require_same_encoder,
    wait_for_writer,
)
from qa.collection.settings import read_settings
from qa.locate import command_for, root_of
from qa.reader.reader import Reader
from qa.retrieval.retriever import Retriever

_log = logging.getLogger(__name__)

# The largest change that a question indexes before it is answered: a second or two of embedding.
MAX_REFRESH_FILES = 64
MAX_REFRESH_BYTES = 2_000_000


class OnLocked(Enum):
    """What a build does while another process writes the same index."""

    FAIL = "raise an error that names the other process"
    WAIT = "say which process it waits for, and go on when that has finished"


class OnEmpty(Enum):
    """What a build does if there is nothing to index."""

    FAIL = "raise an error: more likely the folder is another one, or not mounted"
    ALLOW = "make an index without documents"


class Refresh(Enum):
    """What happens to an index before it is opened."""

    NONE = "nothing"
    SMALL = "small changes of its files are indexed, larger ones are noted"
    FULL = "it is built or updated, however much there is to do"


@dataclass(frozen=True, slots=True)
class OpenedCollection:
    """A collection ready for questions: what was indexed before, and a note on the state of the index for the user."""

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
    device: Device = Device.AUTO,
    store: str | None = None,
) -> BuildReport:
    """Build or update the index of a folder, and return what was done.

    Args:
        path: The folder of documents.
        model: A sentence-transformers name or a folder; None for the index's own model, or the default.
            A model other than the index's embeds everything again.
        mode: Whether to read only files that look changed, or all.
        include: Patterns (as in .gitignore) of the files to index, () for all, None for those in `qa.toml`,
            else those of the last build.
        exclude: Patterns of the files to leave out, None as for `include`.
        paths: Files, and folders with a slash at the end, relative to `path`. They limit a new collection, and are
            added to one that is limited; a collection of the whole folder has them already.
        on_empty: What to do if there are no documents.
        on_locked: What to do while another process writes this index.
        progress: Called with the bytes read so far.
        encoder: Used instead of loading a model.
        device: Where the model embeds passages; `auto` takes a GPU for a large build, if there is one.
        store: Keep the index in PostgreSQL, `postgresql://user@host/database#collection`; the folder remembers it.

    Raises:
        UsageError: A pattern or `qa.toml` is not valid, or the device cannot be used.
        CorpusError: The folder is missing, cannot be read or has no documents.
        ModelError: The model cannot be loaded.
        LockedError: Another process writes this index.
        DamagedIndexError: The index is damaged; `BuildMode.FULL` rebuilds it.
        IncompatibleError: The index has another format version.
        StorageError: Writing failed; the index is as it was.
    """
    root = existing_root(path)
    from index import rebuild_index, update_index, use_store

    if store is not None:
        use_store(root / INDEX_FOLDER, store)
    while True:
        if on_locked is OnLocked.WAIT:
            wait_for_writer(root / INDEX_FOLDER)
        # Read again each time: the other process may have changed the model or the patterns.
        settings = read_settings(root)
        is_first = not is_built(root / INDEX_FOLDER)  # then it is sure to embed
        name = _absolute(model) if model else model_of(root)
        chosen = settings.include if include is None else include, settings.exclude if exclude is None else exclude
        if on_empty is OnEmpty.FAIL and (is_first or mode is BuildMode.FULL):
            _require_files(root, *chosen, settings.formats)
        request = Request(
            root=root,
            encoder=encoder or load_encoder(name, ahead=is_first, device=device),
            include=chosen[0],
            exclude=chosen[1],
            paths=settings.paths,
            formats=settings.formats,
            more_paths=paths,
            allow_empty=on_empty is OnEmpty.ALLOW,
            progress=progress,
        )
        try:
            report = rebuild_index(request) if mode is BuildMode.FULL else update_index(request)
        except LockedError:
            if on_locked is OnLocked.FAIL:
                raise
            continue
        if not report.documents and on_empty is OnEmpty.FAIL:
            raise _nothing_to_index(root, report.skipped)
        if is_first and encoder is None:
            _prepare_reader()
        return report


def _prepare_reader() -> None:
    """Prepare the reader for this machine now, rather than at the first question."""
    try:
        Reader().prepare()
    except (CompileError, ImportError, ModelError) as error:
        _log.debug("the reader is not prepared: %s", error)


def _require_files(
    root: Path, include: Sequence[str] | None, exclude: Sequence[str] | None, formats: tuple[str, ...]
) -> None:
    """Look before anything is written, since the wrong folder may have been named."""
    found = walk(root, include=include or (), exclude=exclude or (), formats=formats)
    if not found.files:
        raise _nothing_to_index(root, found.skipped)


def _nothing_to_index(root: Path, skipped: Sequence[SkippedFile]) -> CorpusError:
    if skipped:
        more = f" ({len(skipped) - 1:,} more skipped)" if len(skipped) > 1 else ""
        reason = f"{skipped[0].path}: {skipped[0].reason}{more}"
    elif any(path.name != INDEX_FOLDER for path in root.iterdir()):
        reason = "all its files are hidden, ignored or excluded"
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
) -> BuildReport:
    """Return what `build_index` would do, without writing; `embedded` and `reused` are 0."""
    from index import preview_update

    root = existing_root(path)
    settings = read_settings(root)
    return preview_update(
        root,
        include=settings.include if include is None else include,
        exclude=settings.exclude if exclude is None else exclude,
        paths=settings.paths,
        formats=settings.formats,
        more_paths=paths,
    )


def open_collection(
    root: Path,
    *,
    refresh: Refresh = Refresh.SMALL,
    progress: ProgressCallback | None = None,
    reader: bool = True,
    rerank_model: str | None = None,
    device: Device = Device.AUTO,
    ahead: bool = True,
) -> OpenedCollection:
    """Open a collection for questions; an index that cannot be written now is opened as it is, with a note."""
    opening = partial(Retriever.open, root, reader=reader, rerank_model=rerank_model, device=device, ahead=ahead)
    if refresh is Refresh.FULL:
        return _build_and_open(root, opening, progress, device)
    retriever = opening()
    if refresh is Refresh.NONE:
        return OpenedCollection(retriever)
    return refresh_if_small(retriever, progress=progress, device=device)


def _build_and_open(
    root: Path, opening: Callable[..., Retriever], progress: ProgressCallback | None, device: Device
) -> OpenedCollection:
    root = existing_root(root)
    encoder = load_encoder(model_of(root), device=device)
    try:
        report = build_index(root, progress=progress, encoder=encoder)
    except (LockedError, StorageError) as error:
        try:
            return OpenedCollection(opening(encoder=encoder), note=_not_updated(error))
        except NoIndexError:
            raise error from None
    return OpenedCollection(opening(encoder=encoder), report)


def refresh_if_small(
    retriever: Retriever, *, progress: ProgressCallback | None = None, device: Device = Device.AUTO
) -> OpenedCollection:
    """Index what changed since the last build if it is little, and reload; files are compared by stat."""
    root = retriever.root
    try:
        with retriever.reading() as snapshot:
            info, diff = snapshot.info, find_changes(root, snapshot)
    except CorpusError as error:
        return OpenedCollection(retriever, note=_not_updated(error))
    if diff.is_current:
        return OpenedCollection(retriever)
    reason = _reason_to_wait(diff, info.documents)
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
    except (LockedError, StorageError, CorpusError) as error:
        return OpenedCollection(retriever, note=_not_updated(error))
    retriever.reload()
    return OpenedCollection(retriever, report)


def existing_root(path: str | os.PathLike[str]) -> Path:
    """Return the corpus root that a user names, by itself or by its `.qa` folder; a CorpusError if it is no folder."""
    root = root_of(Path(path))
    if not root.is_dir():
        raise CorpusError(f"{root} {'is a file' if root.exists() else 'does not exist'}. Give a folder of documents.")
    return root


def _absolute(model: str) -> str:
    """A model folder by a name that means the same wherever the next command is run."""
    folder = Path(model)
    return str(folder.absolute()) if folder.is_dir() else model


def model_of(root: Path) -> str:
    """Return the model an index was built with; the default if that is unknown."""
    folder = root / INDEX_FOLDER
    try:
        with open_index(folder) as snapshot:
            return snapshot.info.model
    except (NoIndexError, DamagedIndexError, IncompatibleError):
        from index import salvaged_model

        model = salvaged_model(folder)
        _log.debug("model of %s: %s", root, model or "unknown; using the default")
        return model or DEFAULT_MODEL


def _reason_to_wait(diff: Diff, documents: int) -> str:
    """Why a change is too large to index before an answer, or ""."""
    if documents and not (diff.added or diff.suspect or diff.unchanged or diff.kept):
        return f"all {documents:,} documents are missing (is the folder mounted?)"
    files = (*diff.added, *diff.suspect)
    size = sum(file.size for file in files)
    if len(files) > MAX_REFRESH_FILES or size > MAX_REFRESH_BYTES:
        what = "file is" if len(files) == 1 else "files are"
        return f"{len(files):,} new or changed {what} not indexed yet ({size / 1e6:,.1f} MB)"
    return ""


def _not_updated(error: Exception) -> str:
    return f"index not updated: {error} Answering from the index as it is."
