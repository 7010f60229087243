"""Find the collection of the files and folders on a command line: its root, and which part of it is indexed."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from corpus import INDEX_FOLDER, lies_in, outermost
from corpus.errors import CorpusError, QAError
from index import BuildReport, open_index
from qa.collection.settings import read_settings
from qa.locate import find_root_or_here, has_index, root_of
from qa.require import require_type


@dataclass(frozen=True, slots=True)
class Collection:
    """The collection for the paths on a command line, with a note for the user.

    `paths` are files and folders (with a slash at the end), relative to the root; () for all of it.
    """

    root: Path
    paths: tuple[str, ...] = ()
    note: str = ""


def collection_of(paths: Sequence[Path]) -> Collection:
    """Return the collection for some files and folders.

    Without paths, this is the collection around the working directory. A folder is a collection itself, unless it is
    part of one above. Several paths, or a file, belong to the nearest collection at or above their deepest common
    folder; if there is none, that folder becomes a collection, limited to these paths.

    Raises:
        CorpusError: A path does not exist or cannot be indexed, or they have only the file system's root in common.
        NoIndexError: There are no paths, and QA_INDEX names no index or the working directory no longer exists.
    """
    if not paths:
        return Collection(find_root_or_here())
    if len(paths) == 1 and not paths[0].is_file():
        return _collection_or_part(root_of(paths[0]))
    files, folders = _files_and_folders(paths)
    try:
        shared = Path(os.path.commonpath([*folders, *(file.parent for file in files)]))
    except ValueError as error:
        raise CorpusError("these paths are on different drives. Index each separately.") from error
    if shared in folders:
        return Collection(shared)
    existing_root = next((folder for folder in (shared, *shared.parents) if has_index(folder)), None)
    root = existing_root or shared
    if existing_root is None and root == Path(root.anchor):
        raise CorpusError(f"these paths have only {root} in common. Index each separately.")
    relative_paths = _relative_paths(root, files, folders)
    if existing_root is None:
        note = f"Collection: {root}, limited to the paths given."
    else:
        note = f"Part of the collection {root}; updating all of it."
    return Collection(root, outermost(relative_paths), note)


def paths_in(root: Path, paths: os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Return files and folders of a collection as paths relative to its root, as in `Collection`.

    Raises:
        CorpusError: A path does not exist, cannot be indexed or is not in the root.
        TypeError: A path is neither a string nor a path object.
    """
    path_list = paths if isinstance(paths, Iterable) and not isinstance(paths, str) else (paths,)
    for path in path_list:
        require_type("paths", path, str, os.PathLike)
    files, folders = _files_and_folders([root / path for path in path_list])
    real = Path(os.path.realpath(root))
    return () if real in folders else _relative_paths(real, files, folders)


def _relative_paths(root: Path, files: Sequence[Path], folders: Sequence[Path]) -> tuple[str, ...]:
    return (*(_relative_path(path, root) for path in files), *(_relative_path(path, root) + "/" for path in folders))


def _collection_or_part(folder: Path) -> Collection:
    """Return a folder as a collection, or as part of the nearest collection above that can include it."""
    outer = next((parent for parent in folder.parents if has_index(parent)), None)
    if outer is None or has_index(folder) or not folder.is_dir():
        return Collection(folder)
    relative = folder.relative_to(outer)
    parts = [outer.joinpath(*relative.parts[: depth + 1]) for depth in range(len(relative.parts))]
    # Hidden files, and those behind a link, are never in a collection.
    if any(part.name.startswith(".") or part.is_symlink() for part in parts):
        return Collection(folder)
    quoted = shlex.quote(str(folder))
    note = f"Part of the collection {outer}; updating all of it. For a collection of its own: qa index --index {quoted}"
    return Collection(outer, (_relative_path(folder, outer) + "/",), note)


def _files_and_folders(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Separate files and folders, and resolve links, which a walk from the common folder would not follow."""
    files: list[Path] = []
    folders: list[Path] = []
    for path in paths:
        real = Path(os.path.realpath(root_of(path)))
        try:
            mode = real.stat().st_mode
        except (OSError, ValueError) as error:
            problem = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
            raise CorpusError(f"{path} {problem}. Nothing was written.") from error
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise CorpusError(f"{path} is neither a file nor a folder. Nothing was written.")
        (folders if stat.S_ISDIR(mode) else files).append(real)
    return files, folders


def _relative_path(path: Path, root: Path) -> str:
    if not path.is_relative_to(root):
        raise CorpusError(f"{path} is not in {root}. Index it separately.")
    relative = path.relative_to(root)
    text = relative.as_posix()
    if any(part.startswith(".") for part in relative.parts):
        raise CorpusError(f"{path} is hidden in {root}, and hidden files are not indexed. Index its folder separately.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CorpusError(f"the name {path} is not valid UTF-8. Rename it.") from error
    return text


def paths_without_documents(root: Path, paths: Sequence[str], report: BuildReport) -> tuple[str, ...]:
    """Return the paths of a build that have no document, and no reason for that in its report."""
    if not paths:
        return ()
    with open_index(root / INDEX_FOLDER) as snapshot:
        indexed = [document.path for document in snapshot.documents()]
    indexed += [skipped.path for skipped in report.skipped]
    return tuple(path for path in paths if not any(lies_in(indexed_path, path) for indexed_path in indexed))


class Remembered(NamedTuple):
    """Which files the last build chose, apart from what a settings file sets: patterns, and paths that limit it."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def remembered(root: Path) -> Remembered:
    """Return what the next build of a collection will remember from its index; nothing if that cannot be opened."""
    settings = read_settings(root)
    try:
        with open_index(root / INDEX_FOLDER) as snapshot:
            info = snapshot.info
    except QAError:
        return Remembered()
    return Remembered(
        include=() if settings.include is not None else info.include,
        exclude=() if settings.exclude is not None else info.exclude,
        paths=() if settings.paths is not None else info.paths,
    )
