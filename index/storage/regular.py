"""Open files of an index folder, which may come from a stranger: no link leads a write elsewhere, no pipe blocks."""

from __future__ import annotations

import contextlib
import math
import os
import stat
from pathlib import Path

from corpus.errors import StorageError

_SAFE = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))


def require_regular(path: Path, *, links: float = math.inf) -> None:
    """Raise a StorageError unless a file, if it exists, is a regular one with at most so many names (hard links)."""
    with contextlib.suppress(OSError):  # whoever opens it reports why the system refuses
        _require(path, path.lstat(), links)


def open_regular(path: Path, flags: int = os.O_RDONLY, *, links: float = math.inf) -> int:
    """Open a file without waiting, and return a descriptor; raises OSError, or as `require_regular`."""
    require_regular(path, links=links)
    descriptor = os.open(path, flags | _SAFE, 0o644)
    try:
        _require(path, os.fstat(descriptor), links)  # it may have been replaced
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(path: Path) -> bytes:
    """Return the bytes of a file; raises like `open_regular`."""
    with open(open_regular(path), "rb") as stream:
        return stream.read()


def _require(path: Path, status: os.stat_result, links: float) -> None:
    problems = {
        "a link, which may lead a write into another file": stat.S_ISLNK(status.st_mode),
        "a folder, not a file": stat.S_ISDIR(status.st_mode),
        "a pipe or a device, not a file": not stat.S_ISREG(status.st_mode),
        "a hard link: the same file has another name elsewhere": status.st_nlink > links,
    }
    for problem in (text for text, applies in problems.items() if applies):
        raise StorageError(f"{path} is {problem}. Delete it, then run `qa index`.")
