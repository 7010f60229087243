"""From the files and folders that a user names to the collection they make, and what of its folder it takes in.

A collection of several folders lies in the folder that they have in common, and is limited to them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import INDEX_FOLDER, lies_in, outermost
from corpus.errors import CorpusError
from index import BuildReport, Snapshot
from qa.locate import find_or_here, has_index, root_of


@dataclass(frozen=True, slots=True)
class Collection:
    """What a command line means.

    Attributes:
        root: The corpus root.
        paths: What was named in it, relative to it, folders with a slash at the end; () for all of it.
        note: What the user should know about the choice, or "".
    """

    root: Path
    paths: tuple[str, ...] = ()
    note: str = ""


def collection_of(named: Sequence[Path]) -> Collection:
    """The collection that files and folders make.

    Nothing is the collection around the working directory, a folder is itself one. Several, or a file, belong to the
    nearest collection upward of the deepest folder they have in common, and where there is none, that folder becomes
    one that is limited to them.

    Raises:
        CorpusError: One of several does not exist or cannot be taken in, or they have only the root in common.
        NoIndexError: Nothing is named, and QA_INDEX names no index or the working directory is gone.
    """
    if not named:
        return Collection(find_or_here())
    if len(named) == 1 and not named[0].is_file():
        return Collection(root_of(named[0]))
    files, folders = _sorted_out(named)
    try:
        common = Path(os.path.commonpath([*folders, *(file.parent for file in files)]))
    except ValueError as error:
        raise CorpusError("these lie on different drives. Index each by itself.") from error
    if common in folders:
        return Collection(common)
    there = next((folder for folder in (common, *common.parents) if has_index(folder)), None)
    root = common if there is None else there
    if root == Path(root.anchor) and there is None:
        raise CorpusError(f"these have only {root} in common. Index each by itself.")
    paths = [*(_relative(path, root) for path in files), *(_relative(path, root) + "/" for path in folders)]
    if there is None:
        note = f"The collection is {root}, limited to what is named."
    else:
        note = f"What is named lies in the collection {root}, which is brought up to date."
    return Collection(root, outermost(paths), note)


def _sorted_out(named: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Files and folders, behind any links: a walk from the common folder would not follow them."""
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
    relative = path.relative_to(root)
    text = relative.as_posix()
    if any(part.startswith(".") for part in relative.parts):
        raise CorpusError(f"{path} is hidden in {root}, and what is hidden is left out. Index its folder by itself.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CorpusError(f"the name {path} is not valid UTF-8. Rename it.") from error
    return text


def left_out(root: Path, paths: Sequence[str], report: BuildReport) -> tuple[str, ...]:
    """What of the paths given to a build has nothing in the index, without a reason in its report."""
    if not paths:
        return ()
    with Snapshot(root / INDEX_FOLDER) as snapshot:
        known = [document.path for document in snapshot.documents()]
    known += [skipped.path for skipped in report.skipped]
    return tuple(each for each in paths if not any(lies_in(path, each) for path in known))
