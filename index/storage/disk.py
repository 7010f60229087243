"""All changes to files except SQLite's own; no other module changes files.

Each function is one step, at which a test can inject an error or a crash. No step is retried: a sync that succeeds
after one that failed proves nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from index.storage.regular import open_regular

TEMP_SUFFIX = ".tmp"

Watcher = Callable[[str, Path], None]

_WATCHERS: list[Watcher] = []
_BINARY = getattr(os, "O_BINARY", 0)
# Errors of systems that cannot sync a folder.
_UNSUPPORTED = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOTSUP})


@contextlib.contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` with each step and its path before the step is taken; an exception from it prevents the step."""
    _WATCHERS.append(watcher)
    try:
        yield
    finally:
        _WATCHERS.remove(watcher)


def announce(step: str, path: Path) -> None:
    """Announce a step to the watchers; called directly before steps of SQLite or another library."""
    if _WATCHERS:
        for watcher in _WATCHERS:
            watcher(step, path)


def temporary_name(path: Path) -> Path:
    """Return a new name for a temporary file in the same folder as `path`."""
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}{TEMP_SUFFIX}")


def create(path: Path, *, like: Path | None = None) -> int:
    """Create a file that must not exist yet, and return a descriptor for reading and writing.

    With `like`, the users who may read and write that file may also read and write the new one.
    """
    announce("create", path)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    if like is not None:
        with contextlib.suppress(OSError):  # it does not exist, or the file system has no permissions
            _share(descriptor, like.stat())
    return descriptor


def _share(descriptor: int, like: os.stat_result) -> None:
    """Give a file the permissions of another one, and its owner and group as far as the system allows."""
    if sys.platform == "win32":
        return
    for owner in (like.st_uid, -1):  # only root can give a file away
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, owner, like.st_gid)
            break
    mode = stat.S_IMODE(like.st_mode) & 0o666
    if os.fstat(descriptor).st_gid != like.st_gid:
        # The members of that group count as others for the new file.
        mode = mode & 0o606 | (mode & 0o006) << 3
    os.fchmod(descriptor, mode)


def open_or_create(path: Path) -> int:
    """Open a regular file with no other name without truncating it, or create an empty one."""
    announce("create", path)
    return open_regular(path, os.O_RDWR | os.O_CREAT, links=1)


def write(descriptor: int, data: bytes | memoryview, path: Path) -> None:
    """Write all of `data` at the descriptor's position; `path` is for watchers and messages."""
    announce("write", path)
    remaining = memoryview(data).cast("B")
    while remaining:
        written = os.write(descriptor, remaining)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        remaining = remaining[written:]


def append_private(path: Path, data: bytes) -> None:
    """Append to a file that only its owner may read; creates the file and its folders if missing."""
    make_folders(path.parent)
    announce("write", path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY, 0o600)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def truncate(descriptor: int, path: Path) -> None:
    """Empty a file."""
    announce("truncate", path)
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)


def sync(descriptor: int, path: Path) -> None:
    """Wait until a file's bytes are on disk."""
    announce("sync", path)
    os.fsync(descriptor)


def sync_file(path: Path) -> None:
    """Wait until the bytes of a file written by a library are on disk."""
    descriptor = os.open(path, os.O_RDWR | _BINARY)
    try:
        sync(descriptor, path)
    finally:
        os.close(descriptor)


def write_new(path: Path, data: bytes | memoryview, *, like: Path | None = None) -> None:
    """Create a file with these bytes and wait until they are on disk; `like` is as in `create`."""
    descriptor = create(path, like=like)
    try:
        write(descriptor, data, path)
        sync(descriptor, path)
    finally:
        os.close(descriptor)


def write_into(path: Path, data: bytes) -> None:
    """Write into a pipe or a device."""
    descriptor = os.open(path, os.O_WRONLY | _BINARY)
    try:
        write(descriptor, data, path)
    finally:
        os.close(descriptor)


def rename(path: Path, target: Path) -> None:
    """Rename a file or folder, replacing an existing file of that name."""
    announce("rename", target)
    path.replace(target)


def sync_folder(folder: Path) -> None:
    """Wait until a folder's entries are on disk."""
    announce("sync folder", folder)
    if sys.platform == "win32":
        return  # renames are durable on Windows anyway, and folders cannot be opened
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
    announce("delete", path)
    path.unlink()


def delete_all(path: Path) -> None:
    """Delete a file, or a folder with everything in it, if it exists."""
    if path.is_dir() and not path.is_symlink():
        for child in list(path.iterdir()):
            delete_all(child)
        announce("delete", path)
        path.rmdir()
    elif path.is_symlink() or path.exists():
        delete(path)


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Create a folder that must not exist yet, in an existing one."""
    announce("make folder", folder)
    folder.mkdir(mode)


def make_folders(folder: Path) -> None:
    """Create a folder and its parents where they are missing."""
    if not folder.is_dir():
        announce("make folder", folder)
        folder.mkdir(parents=True, exist_ok=True)
