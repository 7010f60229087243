"""Limit a collection to some files and folders of its root."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath


def lies_in(path: str, scope: str) -> bool:
    """Whether a path is `scope`, or lies in it if that is a folder (with a slash at its end)."""
    return path == scope or (scope.endswith("/") and path.startswith(scope))


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that lie in none of the others, sorted."""
    found: list[str] = []
    for path in sorted(set(paths)):
        # A folder sorts before its contents.
        if not any(lies_in(path, kept) for kept in found):
            found.append(path)
    return tuple(found)


class Limits:
    """The files and folders (with a slash at the end) that a collection is limited to; if none, all of its root."""

    def __init__(self, paths: Iterable[str]) -> None:
        paths = tuple(paths)
        self._files = frozenset(path for path in paths if not path.endswith("/"))
        self._folders = tuple(path for path in paths if path.endswith("/")) if paths else ("",)
        self._above = {f"{above}/" for path in paths for above in PurePosixPath(path).parents}

    def names(self, path: str) -> bool:
        """Whether a file is listed itself."""
        return path in self._files

    def within(self, path: str) -> Iterator[str]:
        """Yield the path relative to each listed folder that contains it."""
        return (path[len(folder) :] for folder in self._folders if path.startswith(folder))

    def leads_to(self, folder: str) -> bool:
        """Whether a listed file or folder lies below a folder, which ends with a slash."""
        return folder in self._above
