"""The writer lock of an index folder: taking it, naming its holder, and waiting for it."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from corpus.errors import LockedError, StorageError
from index.storage import disk
from index.storage.files import translate_os_errors
from index.storage.regular import open_regular, read_regular

LOCK_NAME = "lock"
# Advice in errors about a locked index.
WAIT = 'Wait for it to end: qa index --wait (on_locked="wait" in Python).'
# Marks messages that say only what is being done.
NO_PROBLEM = {"is_problem": False}
# Seconds between two attempts to lock.
_POLL_SECONDS = 0.1

_LOG = logging.getLogger(__name__)


@contextlib.contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Hold the writer lock of an index folder; the system releases it if this process dies.

    Raises:
        LockedError: Another process or thread holds it; the message names it.
        StorageError: The folder is read-only, or its file system has no locks.
    """
    path = folder / LOCK_NAME
    descriptor = _open_locked(path)
    try:
        with translate_os_errors("write", path, "Free space or check the disk."):
            disk.truncate(descriptor, path)
            disk.write(descriptor, json.dumps(_this_process()).encode(), path)
        yield
    finally:
        # Closing releases the lock. The file stays: if it were deleted, two writers could lock two different files.
        os.close(descriptor)


def wait_for_writer(folder: Path, *, until: float = math.inf) -> None:
    """Wait until no other process or thread holds the writer lock, logging once which one does.

    Returns immediately if there is no such folder, or it cannot be locked.

    Args:
        folder: The index folder.
        until: Wait no longer than to this time of `time.monotonic`, and log nothing.
    """
    path = folder / LOCK_NAME
    logged = until < math.inf
    with contextlib.suppress(StorageError, PermissionError):
        # Opened anew each time: the folder may be deleted and recreated in the meantime.
        while path.exists() and time.monotonic() < until:
            try:
                os.close(_open_locked(path))
            except LockedError:
                if not logged:
                    holder = _describe_holder(path)
                    _LOG.warning("%s is being written by %s; waiting for it to end", folder, holder, extra=NO_PROBLEM)
                logged = True
                time.sleep(_POLL_SECONDS)
            else:
                return


def describe_writer(folder: Path) -> str | None:
    """Describe the process that holds the writer lock; None if none does or the lock file is unreadable."""
    path = folder / LOCK_NAME
    with contextlib.suppress(OSError, StorageError):
        descriptor = open_regular(path)
        try:
            _lock_now(descriptor, path)
        except LockedError:
            return _describe_holder(path)
        finally:
            os.close(descriptor)
    return None


def _open_locked(path: Path) -> int:
    """Open and lock a file; closing the returned descriptor releases the lock."""
    with translate_os_errors("lock", path, "Check space and permissions."):
        descriptor = disk.open_or_create(path)
    try:
        with translate_os_errors("lock", path, "Use a disk that supports locks."):
            _lock_now(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _lock_now(descriptor: int, path: Path) -> None:
    try:
        _try_lock(descriptor)
    except (BlockingIOError, PermissionError) as error:
        raise LockedError(f"{path.parent} is being written by {_describe_holder(path)}. {WAIT}") from error


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        # Windows locks bytes against reading too, so we lock a byte far beyond the holder's name.
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _describe_holder(path: Path) -> str:
    try:
        holder = json.loads(read_regular(path))
        if holder == _this_process():
            return "another thread of this process"
        return f"process {int(holder['pid'])} on {holder['host']}"
    except (OSError, StorageError, ValueError, KeyError, TypeError):
        # The holder has not written its name yet.
        return "another process or thread"


def _this_process() -> dict[str, int | str]:
    import socket

    return {"pid": os.getpid(), "host": socket.gethostname()}
