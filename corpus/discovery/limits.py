"""Limit a collection to some files and folders below its root."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath


def lies_in(path: str, scope: str) -> bool:
    """Whether a path is `scope` itself or, if that is a folder (with a trailing slash), lies in it."""
    return path == scope or (scope.endswith("/") and path.startswith(scope))


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that lie in none of the others, sorted."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        # A folder sorts before its contents.
        if not any(lies_in(path, folder) for folder in kept):
            kept.append(path)
    return tuple(kept)


class Limits:
    """The files and folders (with a trailing slash) that a collection is limited to; without any, its whole root."""

    def __init__(self, paths: Iterable[str]) -> None:
        paths = tuple(paths)
        self._files = frozenset(path for path in paths if not path.endswith("/"))
        self._folders = tuple(path for path in paths if path.endswith("/")) if paths else ("",)
        self._parents = {f"{parent}/" for path in paths for parent in PurePosixPath(path).parents}

    def lists_file(self, path: str) -> bool:
        """Whether a file itself is listed."""
        return path in self._files

    def relative_paths(self, path: str) -> Iterator[str]:
        """Yield the path relative to each listed folder that contains it."""
        return (path[len(folder) :] for folder in self._folders if path.startswith(folder))

    def has_listed_below(self, folder: str) -> bool:
        """Whether a listed file or folder lies below a folder (with a trailing slash)."""
        return folder in self._parents
