"""From the files and folders that a user names to the collection they make, and what of its folder it takes in.

A collection of several folders lies in the folder that they have in common, and is limited to them. That is written
down in the index as patterns that any version understands, behind comments that say what was named.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from corpus import below, literal, usable
from corpus.errors import CorpusError, DamagedIndexError, IncompatibleError, NoIndexError
from index import BuildReport, Snapshot
from qa.collection.settings import Settings
from qa.locate import INDEX_FOLDER, find_or_here, has_index, root_of

_PATH = "# path: "
_ONLY = "# only: "


@dataclass(frozen=True, slots=True)
class Limits:
    """What of its folder a collection takes in.

    Attributes:
        paths: Files, and folders with a slash at the end, relative to the root; () for all of it.
        patterns: As in .gitignore, of the files in these folders; () for all.
    """

    paths: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    @classmethod
    def read(cls, lines: Sequence[str]) -> Limits:
        """Read what `lines` wrote."""
        paths = tuple(line.removeprefix(_PATH) for line in lines if line.startswith(_PATH))
        only = tuple(line.removeprefix(_ONLY) for line in lines if line.startswith(_ONLY))
        return cls(paths, only if paths else tuple(lines))

    def lines(self) -> tuple[str, ...]:
        """Patterns of the whole folder that mean the same; files that were named are taken in whatever their name.

        Raises:
            UsageError: A pattern cannot be meant.
        """
        if not self.paths:
            return self.patterns
        meant = usable(self.patterns)
        folders = [path[:-1] for path in self.paths if path.endswith("/")]
        return (
            *(_PATH + path for path in self.paths),
            *(_ONLY + pattern for pattern in self.patterns),
            *(below(folder, pattern) for folder in folders for pattern in meant),
            *(literal(folder) + "/**" for folder in folders if not self.patterns),
            *(literal(path) for path in self.paths if not path.endswith("/")),
        )

    def with_paths(self, more: Iterable[str]) -> Limits:
        """What it is when files and folders are added; a collection of the whole folder has them already."""
        if not self.paths:
            return self
        return Limits(_outermost({*self.paths, *more}), self.patterns)


@dataclass(frozen=True, slots=True)
class Collection:
    """What a command line means.

    Attributes:
        root: The corpus root.
        paths: What was named in it, as in `Limits`; () for all of it.
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
    return Collection(root, _outermost(set(paths)), note)


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


def _outermost(paths: Set[str]) -> tuple[str, ...]:
    """Without those that lie in another one, sorted."""
    inside = {path for path in paths for place in paths if path != place and lies_in(path, place)}
    return tuple(sorted(paths - inside))


def lies_in(path: str, place: str) -> bool:
    """Whether a path is a place, a file or a folder with a slash at its end, or lies in it."""
    return path == place or (place.endswith("/") and path.startswith(place))


def limited(
    root: Path, include: Sequence[str] | None, paths: Sequence[str], settings: Settings
) -> tuple[str, ...] | None:
    """The patterns that a build is to take in, None for those of the last build.

    Args:
        root: The corpus root.
        include: Those asked for, as in `qa.collection.build.build_index`.
        paths: What was named, as in `Limits`.
        settings: Those of the folder.

    Raises:
        UsageError: A pattern cannot be meant.
    """
    if include is None and settings.include is None and not paths:
        return None
    before = _limits_of(root)
    asked = settings.include if include is None else tuple(include)
    if before is None:
        return Limits(tuple(paths), asked or ()).lines()
    # What is named takes nothing away, so patterns hold in what was named before too.
    return Limits(before.with_paths(paths).paths, before.patterns if asked is None else asked).lines()


def left_out(root: Path, paths: Sequence[str], report: BuildReport) -> tuple[str, ...]:
    """What of the paths given to a build has nothing in the index, without a reason in its report."""
    if not paths:
        return ()
    with Snapshot(root / INDEX_FOLDER) as snapshot:
        known = [document.path for document in snapshot.documents()]
    known += [skipped.path for skipped in report.skipped]
    return tuple(each for each in paths if not any(lies_in(path, each) for path in known))


def _limits_of(root: Path) -> Limits | None:
    """What an index was limited to; None where there is no index."""
    try:
        with Snapshot(root / INDEX_FOLDER) as snapshot:
            return Limits.read(snapshot.info.include)
    except (NoIndexError, DamagedIndexError, IncompatibleError) as error:
        from index import is_set_aside, salvaged_patterns  # noqa: PLC0415 - it is seldom needed

        if isinstance(error, NoIndexError) and not is_set_aside(root / INDEX_FOLDER):
            return None
        left = salvaged_patterns(root / INDEX_FOLDER)
        return None if left is None else Limits.read(left[0])
