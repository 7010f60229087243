"""Find the index a command works on: the one named, the one in QA_INDEX, or the nearest one upward."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from corpus import INDEX_FOLDER
from corpus.errors import CorpusError, NoIndexError

INDEX_VARIABLE = "QA_INDEX"
# How many paths of a collection are searched for ones similar to a path that matches none.
_MAX_COMPARED = 20_000


def find_index(start: Path | None = None, *, index: Path | None = None) -> Path:
    """Return the corpus root: the folder that contains `.qa/`.

    That is `index` (the root or its `.qa` folder) if the user named one, else the nearest folder upward from `start`
    with an index, as in git; without a start, that in QA_INDEX, else the nearest upward from the working directory.

    Raises:
        NoIndexError: There is no index; the message says how to build one.
        CorpusError: The named folder does not exist, is a file or cannot be accessed.
    """
    if index is not None:
        return _require_index(index, "")
    variable = os.environ.get(INDEX_VARIABLE)
    if start is None and variable:
        return _require_index(Path(variable), f" (from {INDEX_VARIABLE})")
    return _nearest_index(start)


def root_of(index: Path) -> Path:
    """Return the corpus root of a path that is the root itself or its `.qa` folder."""
    full = Path(os.path.abspath(index))  # noqa: PTH100 - resolve() would follow links the user chose
    return full.parent if full.name == INDEX_FOLDER else full


def index_command(root: Path | str) -> str:
    """Return the command that builds or updates the index of a folder."""
    name = str(root)
    return f"qa index {'-- ' if name.startswith('-') else ''}{shlex.quote(name)}"


def suggest_paths(wanted: str, paths: Iterable[str]) -> str:
    """Suggest paths similar to a path or pattern that matches none, as " Similar: talks/, a.md.", or return ""."""
    from difflib import get_close_matches  # noqa: PLC0415 - only errors need it

    name_part = re.sub(r"[*?!\[\]]", "", wanted).strip("/").lower()
    by_name: dict[str, str] = {}
    for path in islice(paths, _MAX_COMPARED):
        parts = path.split("/")
        for depth, name in enumerate(parts, 1):
            prefix = "/".join(parts[:depth])
            for key in (prefix, name):
                by_name.setdefault(key.lower(), prefix if depth == len(parts) else prefix + "/")
    containing = [name for name in by_name if len(name_part) > 1 and name_part in name]
    suggestions = dict.fromkeys(by_name[name] for name in (*get_close_matches(name_part, by_name, 3), *containing))
    return f" Similar: {', '.join(islice(suggestions, 3))}." if suggestions else ""


def folder_gone_error(root: Path) -> CorpusError:
    """Return the error for an open collection whose folder no longer exists."""
    return CorpusError(f"{root} no longer exists: deleted, renamed or unmounted.")


def require_folder(root: Path, origin: str = "") -> None:
    """Raise a CorpusError unless the root of a collection is a folder; `origin` says where its name is from."""
    if not root.is_dir():
        problem = "is a file" if root.exists() else "does not exist"
        raise CorpusError(f"{root}{origin} {problem}. Give a folder of documents.")


def has_index(root: Path) -> bool:
    """Return whether there is an index folder, usable or not."""
    try:
        return (root / INDEX_FOLDER).is_dir()
    except OSError:
        return False


def file_in_the_way(root: Path) -> str:
    """Return a message if a file has the name of the index folder, or a link to nowhere, else ""."""
    path = root / INDEX_FOLDER
    if path.is_symlink() and not path.exists():
        return f"{path} is a link to {path.readlink()}, which does not exist. Mount its disk, or delete the link."
    is_other = path.exists() and not path.is_dir()  # perhaps a pipe
    return f"{path} is a file, but an index is a folder of that name. Delete or rename it." if is_other else ""


def find_root_or_here() -> Path:
    """Return the collection in QA_INDEX or around the working directory, else the working directory itself."""
    try:
        return find_index()
    except NoIndexError:
        here = working_directory()
        if os.environ.get(INDEX_VARIABLE) or here is None:
            raise
        return here


def working_directory() -> Path | None:
    """Return the working directory, or None if it no longer exists."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _require_index(index: Path, origin: str) -> Path:
    root = root_of(index)
    if has_index(root):
        return root
    require_folder(root, origin)
    if not _may_enter(root):
        raise CorpusError(f"cannot look for an index in {root}: permission denied. Make the folder accessible (+x).")
    if in_the_way := file_in_the_way(root):
        raise NoIndexError(in_the_way)
    outer = next(filter(has_index, root.parents), None)
    if outer is not None:
        relative = shlex.quote(f"{root.relative_to(outer).as_posix()}/")
        raise NoIndexError(
            f"no index in {root}{origin}; it is part of the collection {outer}: use that with --path {relative} "
            "(path= in Python)"
        )
    raise NoIndexError(f"no index in {root}{origin}. Build one with: {index_command(root)}")


def _may_enter(folder: Path) -> bool:
    """Return whether this user could see an index in a folder."""
    return os.access(folder, os.X_OK) or not os.access(folder, os.F_OK)


def _nearest_index(start: Path | None) -> Path:
    try:
        here = Path.cwd() if start is None else Path(os.path.abspath(start))  # noqa: PTH100 - as in root_of
    except OSError as error:
        raise NoIndexError("the working directory no longer exists. Change to another, or name a folder.") from error
    for folder in (here, *here.parents):
        if has_index(folder):
            return folder
    place = "here" if start is None else f"in {here}"
    closed_folders = filter(lambda folder: not _may_enter(folder), (here, *here.parents))
    closed = "".join(f" (no permission to look into {folder})" for folder in closed_folders)
    # A whole disk or home folder is rarely meant.
    is_unlikely = here.resolve() in (Path(here.anchor), Path(os.path.expanduser("~")).resolve())  # noqa: PTH111 - never fails
    advice = "for a folder of documents: qa index FOLDER" if is_unlikely else f"with: {index_command(here)}"
    raise NoIndexError(f"no index {place} or in any folder above{closed}. Build one {advice}")
