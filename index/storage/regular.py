"""Require that the files of an index folder are regular files, and open them without waiting.

The folder may come from a stranger: a link in it would lead a write into another file, and reading a pipe never ends.
"""

from __future__ import annotations

import contextlib
import math
import os
import stat
from pathlib import Path

from corpus.errors import StorageError

_SAFE = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))


def require_regular(path: Path, *, links: float = math.inf) -> None:
    """Require that a file, if it exists, is a regular one, and has at most so many names (hard links).

    Raises:
        StorageError: It is something else; the message names it.
    """
    with contextlib.suppress(OSError):  # whoever opens it reports why the system refuses
        _require(path, path.lstat(), links)


def open_regular(path: Path, flags: int = os.O_RDONLY, *, links: float = math.inf) -> int:
    """Open a file that must be regular, as in `require_regular`, and return a descriptor; also raises OSError."""
    require_regular(path, links=links)
    descriptor = os.open(path, flags | _SAFE, 0o644)
    try:
        _require(path, os.fstat(descriptor), links)  # it may have been replaced
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(path: Path) -> bytes:
    """Return the bytes of a file that must be regular; raises like `open_regular`."""
    with open(open_regular(path), "rb") as stream:
        return stream.read()


def _require(path: Path, status: os.stat_result, links: float) -> None:
    if stat.S_ISLNK(status.st_mode):
        problem = "a link, which may lead a write into another file"
    elif stat.S_ISDIR(status.st_mode):
        problem = "a folder, not a file"
    elif not stat.S_ISREG(status.st_mode):
        problem = "a pipe or a device, not a file"
    elif status.st_nlink > links:
        problem = "a hard link: the same file has another name elsewhere"
    else:
        return
    raise StorageError(f"{path} is {problem}. Delete it, then run `qa index`.")
