"""Read a whole file up to a limit, without ever blocking or following a symbolic link."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from corpus.discovery.filenames import to_os_name
from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES, MIB

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# A folder need not be readable to be traversed.
_TRAVERSE = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


def too_large_reason(limit: int) -> str:
    """Return the reason to skip a file of more than `limit` bytes."""
    return f"larger than {limit // MIB} MiB"


def read_bytes(root: Path, path: str, *, limit: int = MAX_BYTES) -> bytes:
    """Read a whole regular file, without blocking on a FIFO or a device.

    Args:
        root: The corpus root.
        path: Relative to it, with forward slashes.
        limit: Maximum size in bytes; at most one more is read.

    Raises:
        Unreadable: It is gone, not a regular file, too large, behind a link, or the system refuses.
    """
    try:
        file_fd = _open_within(root, path)
        try:
            status = os.fstat(file_fd)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable("not a regular file")
            with open(file_fd, "rb", closefd=False) as stream:
                # `read` allocates as much as it is asked for.
                data = stream.read(min(status.st_size, limit) + 1)
                if len(data) > status.st_size:
                    data += stream.read(limit + 1 - len(data))
        finally:
            os.close(file_fd)
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error
    if len(data) > limit:
        raise Unreadable(too_large_reason(limit))
    return data


def _unreadable(error: OSError | ValueError) -> Unreadable:
    match getattr(error, "errno", None):
        case errno.ELOOP:
            return Unreadable("symbolic link, not followed")
        case errno.ENXIO:  # a socket
            return Unreadable("not a regular file")
        case errno.ENOENT | errno.ENOTDIR:
            return Unreadable("vanished while being read", gone=True)
        case _:
            return Unreadable(f"cannot be read: {getattr(error, 'strerror', None) or error}", unknown=True)


def _open_within(root: Path, path: str) -> int:
    """Open a file folder by folder, as a folder may have become a link that leads out of the root."""
    *folders, name = to_os_name(path).split("/")
    if not name or {"", ".", ".."} & {*folders, name}:
        raise Unreadable("not a path inside the folder")
    if os.open not in os.supports_dir_fd:
        return os.open(root / to_os_name(path), _READ)
    folder_fd = os.open(root, _TRAVERSE)
    try:
        for folder in folders:
            inner_fd = os.open(folder, _TRAVERSE | getattr(os, "O_NOFOLLOW", 0), dir_fd=folder_fd)
            os.close(folder_fd)
            folder_fd = inner_fd
        return os.open(name, _READ, dir_fd=folder_fd)
    finally:
        os.close(folder_fd)
