"""Find the collection that named files and folders form: its root, and which part of it is indexed."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import INDEX_FOLDER, lies_in, outermost
from corpus.errors import CorpusError
from index import BuildReport, open_index
from qa.collection.settings import read_settings
from qa.locate import find_root_or_here, has_index, root_of
from qa.require import require_type


@dataclass(frozen=True, slots=True)
class Collection:
    """The collection that a command line names, with a note on that choice for the user.

    `paths` are files and folders (with a slash at the end), relative to the root; () for all of it.
    """

    root: Path
    paths: tuple[str, ...] = ()
    note: str = ""


def collection_of(named: Sequence[Path]) -> Collection:
    """Return the collection that files and folders form.

    Without any, it is the one around the working directory. A folder is one itself, unless it is part of one above.
    Several paths, or a file, belong to the nearest collection at or above the deepest folder they share; if there is
    none, that folder becomes one, limited to them.

    Raises:
        CorpusError: One of them does not exist or cannot be indexed, or they share only the file system's root.
        NoIndexError: Nothing is named, and QA_INDEX names no index or the working directory no longer exists.
    """
    if not named:
        return Collection(find_root_or_here())
    if len(named) == 1 and not named[0].is_file():
        return _collection_or_part(root_of(named[0]))
    files, folders = _files_and_folders(named)
    try:
        shared = Path(os.path.commonpath([*folders, *(file.parent for file in files)]))
    except ValueError as error:
        raise CorpusError("these paths are on different drives. Index each separately.") from error
    if shared in folders:
        return Collection(shared)
    existing = next((folder for folder in (shared, *shared.parents) if has_index(folder)), None)
    root = existing or shared
    if existing is None and root == Path(root.anchor):
        raise CorpusError(f"these paths have only {root} in common. Index each separately.")
    paths = _limits(root, files, folders)
    if existing is None:
        note = f"Collection: {root}, limited to the paths given."
    else:
        note = f"Part of the collection {root}; updating all of it."
    return Collection(root, outermost(paths), note)


def paths_in(root: Path, paths: os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Return files and folders of a collection, named relative to its root, as in `Collection`.

    Raises:
        CorpusError: One of them does not exist, cannot be indexed or is not in the root.
        TypeError: One is neither a string nor a path object.
    """
    several = paths if isinstance(paths, Iterable) and not isinstance(paths, str) else (paths,)
    for path in several:
        require_type("paths", path, str, os.PathLike)
    files, folders = _files_and_folders([root / path for path in several])
    real = Path(os.path.realpath(root))
    return () if real in folders else _limits(real, files, folders)


def _limits(root: Path, files: Sequence[Path], folders: Sequence[Path]) -> tuple[str, ...]:
    return (*(_relative(path, root) for path in files), *(_relative(path, root) + "/" for path in folders))


def _collection_or_part(folder: Path) -> Collection:
    """Return a folder as a collection, or as part of the nearest one above that can include it."""
    above = next((parent for parent in folder.parents if has_index(parent)), None)
    if above is None or has_index(folder) or not folder.is_dir():
        return Collection(folder)
    relative = folder.relative_to(above)
    parts = [above.joinpath(*relative.parts[: depth + 1]) for depth in range(len(relative.parts))]
    # Hidden files, and those behind a link, are never in a collection.
    if any(part.name.startswith(".") or part.is_symlink() for part in parts):
        return Collection(folder)
    named = shlex.quote(str(folder))
    note = f"Part of the collection {above}; updating all of it. For a collection of its own: qa index --index {named}"
    return Collection(above, (_relative(folder, above) + "/",), note)


def _files_and_folders(named: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Separate files and folders, with links resolved: a walk from the shared folder would not follow them."""
    files: list[Path] = []
    folders: list[Path] = []
    for path in named:
        real = Path(os.path.realpath(root_of(path)))
        try:
            mode = real.stat().st_mode
        except (OSError, ValueError) as error:
            what = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
            raise CorpusError(f"{path} {what}. Nothing was written.") from error
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise CorpusError(f"{path} is neither a file nor a folder. Nothing was written.")
        (folders if stat.S_ISDIR(mode) else files).append(real)
    return files, folders


def _relative(path: Path, root: Path) -> str:
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
    """Return the paths given to a build that yielded no document, without a reason in its report."""
    if not paths:
        return ()
    with open_index(root / INDEX_FOLDER) as snapshot:
        known = [document.path for document in snapshot.documents()]
    known += [skipped.path for skipped in report.skipped]
    return tuple(each for each in paths if not any(lies_in(path, each) for path in known))


def remembered_patterns(root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the include and exclude patterns of the last build, () where a settings file has its own."""
    settings = read_settings(root)
    with open_index(root / INDEX_FOLDER) as snapshot:
        info = snapshot.info
    return (() if settings.include is not None else info.include, () if settings.exclude is not None else info.exclude)
