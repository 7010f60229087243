"""Every change of a file that SQLite does not make itself; no other module changes files.

Each function is one step, which can fail or be the last thing its process does; tests watch them. No step is retried:
a sync that succeeds after one that failed proves nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

TEMP_SUFFIX = ".tmp"

Watcher = Callable[[str, Path], None]

_WATCHERS: list[Watcher] = []
_BINARY = getattr(os, "O_BINARY", 0)
# What a system says that cannot sync a folder.
_UNSUPPORTED = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOTSUP})


@contextlib.contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` with each step and its path before it is taken; what it raises replaces the step."""
    _WATCHERS.append(watcher)
    try:
        yield
    finally:
        _WATCHERS.remove(watcher)


def about_to(step: str, path: Path) -> None:
    """Announce a step that SQLite or another library takes."""
    if _WATCHERS:
        for watcher in _WATCHERS:
            watcher(step, path)


def temporary_name(path: Path) -> Path:
    """Return a new name beside `path` that marks a temporary file."""
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}{TEMP_SUFFIX}")


def create(path: Path) -> int:
    """Create a file that must not exist; returns a descriptor for reading and writing."""
    about_to("create", path)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)


def open_or_create(path: Path) -> int:
    """Open a file, its content as it is, or create an empty one."""
    about_to("create", path)
    return os.open(path, os.O_RDWR | os.O_CREAT | _BINARY, 0o644)


def write(descriptor: int, data: bytes | memoryview, path: Path) -> None:
    """Write all of `data` at the position of a descriptor; `path` is for messages."""
    about_to("write", path)
    rest = memoryview(data).cast("B")
    while rest:
        written = os.write(descriptor, rest)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        rest = rest[written:]


def append_private(path: Path, data: bytes) -> None:
    """Add to the end of a file that only its owner may read; it and its folders are created where they are missing."""
    make_folders(path.parent)
    about_to("write", path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY, 0o600)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def truncate(descriptor: int, path: Path) -> None:
    """Make a file empty."""
    about_to("truncate", path)
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)


def sync(descriptor: int, path: Path) -> None:
    """Wait until the bytes of a file are on the disk."""
    about_to("sync", path)
    os.fsync(descriptor)


def sync_file(path: Path) -> None:
    """Wait until the bytes of a file that a library wrote are on the disk."""
    descriptor = os.open(path, os.O_RDWR | _BINARY)
    try:
        sync(descriptor, path)
    finally:
        os.close(descriptor)


def write_new(path: Path, data: bytes | memoryview) -> None:
    """Create a file with these bytes and wait until they are on the disk."""
    descriptor = create(path)
    try:
        write(descriptor, data, path)
        sync(descriptor, path)
    finally:
        os.close(descriptor)


def rename(path: Path, target: Path) -> None:
    """Give a file or folder another name; a file that has it is replaced."""
    about_to("rename", target)
    path.replace(target)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    about_to("sync folder", folder)
    if sys.platform == "win32":
        return  # renames are durable by themselves there, and a folder cannot be opened
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)


def delete(path: Path) -> None:
    """Delete a file."""
    about_to("delete", path)
    path.unlink()


def delete_all(path: Path) -> None:
    """Delete a file, or a folder with everything in it; nothing happens where there is nothing."""
    if path.is_dir() and not path.is_symlink():
        for inner in list(path.iterdir()):
            delete_all(inner)
        about_to("delete", path)
        path.rmdir()
    elif path.is_symlink() or path.exists():
        delete(path)


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Create a folder that must not exist, in one that does."""
    about_to("make folder", folder)
    folder.mkdir(mode)


def make_folders(folder: Path) -> None:
    """Create a folder and those above it, as far as they are missing."""
    if not folder.is_dir():
        about_to("make folder", folder)
        folder.mkdir(parents=True, exist_ok=True)
