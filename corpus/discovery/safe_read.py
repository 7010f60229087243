"""Read a file of a corpus whole: without waiting, through no symbolic link, and never more than may be."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from corpus.discovery.filenames import to_os_name
from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# To pass through a folder it need not be readable.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


def too_large(limit: int) -> str:
    """The reason to leave out a file of more bytes than `limit`."""
    return f"larger than {limit // (1024 * 1024)} MiB"


def read_bytes(root: Path, path: str, *, limit: int = MAX_BYTES) -> bytes:
    """Read a regular file whole, without ever waiting on a FIFO or a device.

    Args:
        root: The corpus root.
        path: Relative to it, with forward slashes.
        limit: Bytes; of a larger file one more is read.

    Raises:
        Unreadable: It is gone, no regular file, too large, behind a link, or the system refuses.
    """
    try:
        descriptor = _open_within(root, path)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable("not a regular file")
            with open(descriptor, "rb", closefd=False) as stream:
                # Memory for as much as is asked for is taken at once.
                data = stream.read(min(status.st_size, limit) + 1)
                if len(data) > status.st_size:
                    data += stream.read(limit + 1 - len(data))
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error
    if len(data) > limit:
        raise Unreadable(too_large(limit))
    return data


def _unreadable(error: OSError | ValueError) -> Unreadable:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ELOOP:
        return Unreadable("symbolic link, not followed")
    if number == errno.ENXIO:  # a socket
        return Unreadable("not a regular file")
    if number in (errno.ENOENT, errno.ENOTDIR):
        return Unreadable("vanished while being read", gone=True)
    return Unreadable(f"cannot be read: {getattr(error, 'strerror', None) or error}", unknown=True)


def _open_within(root: Path, path: str) -> int:
    """Open folder by folder: none of them may have become a link that leads out of the root."""
    *folders, name = to_os_name(path).split("/")
    if not name or {"", ".", ".."} & {*folders, name}:
        raise Unreadable("not a path inside the folder")
    if os.open not in os.supports_dir_fd:
        return os.open(root / to_os_name(path), _READ)
    at = os.open(root, _PASS)
    try:
        for folder in folders:
            below = os.open(folder, _PASS | getattr(os, "O_NOFOLLOW", 0), dir_fd=at)
            os.close(at)
            at = below
        return os.open(name, _READ, dir_fd=at)
    finally:
        os.close(at)
