"""Limit a collection to some files and folders of its root."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corpus.discovery.gitignore import literal_pattern, rebase_pattern, valid_patterns


def lies_in(path: str, scope: str) -> bool:
    """Whether a path is `scope`, or lies in it if that is a folder (with a slash at its end)."""
    return path == scope or (scope.endswith("/") and path.startswith(scope))


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that lie in no other of them, sorted."""
    found: list[str] = []
    for path in sorted(set(paths)):
        # A folder is sorted before its contents.
        if not any(lies_in(path, kept) for kept in found):
            found.append(path)
    return tuple(found)


def patterns_within(paths: Sequence[str], include: Sequence[str]) -> tuple[str, ...]:
    """Return patterns for the root that match what `include` matches in these files and folders.

    Args:
        paths: Files, and folders with a slash at the end, relative to the root; () for all of it.
        include: Patterns, relative to each folder; () for all. A file that is named itself need not match.
    """
    if not paths:
        return tuple(include)
    folders = [path.removesuffix("/") for path in paths if path.endswith("/")]
    files = [path for path in paths if not path.endswith("/")]
    wanted = valid_patterns(include)
    return (
        *(rebase_pattern(folder, pattern) for folder in folders for pattern in wanted),
        *(literal_pattern(folder) + "/**" for folder in folders if not include),
        *map(literal_pattern, files),
    )
