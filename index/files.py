"""Whole files or nothing, and one writer at a time."""

# ruff: noqa: PLC0415 - a question, which writes nothing, waits for every import

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from corpus.errors import LockedError, StorageError

from . import disk

LOCK_NAME = "lock"
IGNORE_NAME = ".gitignore"
# A cache has no lock, so what is temporary there may be in use; nothing is written for this long.
_ABANDONED_SECONDS = 3600.0
# How long a lock may be free before one who waits for it notices.
_POLL_SECONDS = 0.1

_LOG = logging.getLogger(__name__)


def write_atomically(path: Path, data: bytes | memoryview) -> None:
    """Put `data` at `path` so that a crash at any moment leaves the old file or the new one.

    Raises:
        StorageError: The disk refused; there is the old file or the new one, and nothing else is left behind.
    """
    temporary = disk.temporary_name(path)
    try:
        disk.write_new(temporary, data)
        disk.rename(temporary, path)
        disk.sync_folder(path.parent)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}. Free space or check the disk.") from error
    finally:
        with contextlib.suppress(OSError):
            disk.delete_all(temporary)


def write_to_cache(path: Path, data: bytes | memoryview) -> None:
    """As `write_atomically`, into a cache, where the folder need not exist and no lock is held.

    Raises:
        StorageError: The disk refused.
    """
    try:
        disk.make_folders(path.parent)
    except OSError as error:
        raise StorageError(f"cannot create {path.parent}: {error.strerror or error}") from error
    sweep_cache(path.parent)
    write_atomically(path, data)


def make_folder(folder: Path) -> None:
    """Create an index folder if it is not there, and make sure it can be written.

    Raises:
        StorageError: It cannot be created or is read-only.
    """
    try:
        if not folder.is_dir():
            # Another process may be making it too; who of them writes is decided by the lock.
            with contextlib.suppress(FileExistsError):
                disk.make_folder(folder)
            disk.sync_folder(folder.parent)
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(f"cannot create {folder}: {reason}. Check space and permissions.") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StorageError(f"cannot write into {folder}: it is read-only. Questions still work; updates do not.")


def hide_from_git(folder: Path) -> None:
    """Make an index folder invisible to git, if nothing says so yet; the caller holds the lock.

    Raises:
        StorageError: The disk refused.
    """
    if not (folder / IGNORE_NAME).exists():
        write_atomically(folder / IGNORE_NAME, b"*\n")


def sweep(folder: Path) -> None:
    """Delete what killed processes left half written in an index folder; the caller holds its lock."""
    _sweep(folder, before=float("inf"))


def sweep_cache(folder: Path) -> None:
    """Delete what killed processes left half written in a cache folder, once it is old enough to be nobody's."""
    _sweep(folder, before=time.time() - _ABANDONED_SECONDS)


def _sweep(folder: Path, *, before: float) -> None:
    with contextlib.suppress(OSError):
        for path in list(folder.glob(f".*{disk.TEMP_SUFFIX}")):
            with contextlib.suppress(OSError):
                if path.lstat().st_mtime < before:
                    disk.delete_all(path)


@contextlib.contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Be the only writer of an index folder; the system frees the lock if this process dies.

    Raises:
        LockedError: Another process writes; the message names it.
        StorageError: The folder is read-only, or its filesystem has no locks.
    """
    import socket

    path = folder / LOCK_NAME
    descriptor = _locked(path)
    try:
        holder = {"pid": os.getpid(), "host": socket.gethostname()}
        _overwrite(descriptor, json.dumps(holder).encode(), path)
        yield
    finally:
        # Closing releases the lock. The file stays: deleting it would let two writers lock two files.
        os.close(descriptor)


def wait_for_writer(folder: Path) -> None:
    """Return once no other process writes an index folder, and say once whom it waits for.

    It returns at once where there is no such folder or it cannot be locked.
    """
    path = folder / LOCK_NAME
    told = False
    with contextlib.suppress(StorageError, PermissionError):
        # Opened anew each time: the folder may be deleted and made again meanwhile.
        while path.exists():
            try:
                os.close(_locked(path))
            except LockedError:
                if not told:
                    _LOG.warning("%s is being written by %s; waiting for it to end", folder, _holder(path))
                told = True
                time.sleep(_POLL_SECONDS)
            else:
                return


def _locked(path: Path) -> int:
    """Open and lock a file; the lock is held until the descriptor is closed."""
    try:
        descriptor = disk.open_or_create(path)
    except OSError as error:
        raise StorageError(f"cannot lock {path}: {error.strerror or error}. Check space and permissions.") from error
    try:
        _acquire(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _overwrite(descriptor: int, data: bytes, path: Path) -> None:
    try:
        disk.truncate(descriptor, path)
        disk.write(descriptor, data, path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}. Free space or check the disk.") from error


def _acquire(descriptor: int, path: Path) -> None:
    try:
        _lock_now(descriptor)
    except (BlockingIOError, PermissionError) as error:
        raise LockedError(
            f"{path.parent} is being written by {_holder(path)}. Wait for it to end: qa index --wait."
        ) from error
    except OSError as error:
        raise StorageError(f"cannot lock {path}: {error.strerror or error}. Use a disk that has locks.") from error


if sys.platform == "win32":
    import msvcrt

    def _lock_now(descriptor: int) -> None:
        # Windows locks bytes against reading too, so the lock sits far behind the holder's name.
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock_now(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _holder(path: Path) -> str:
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
        return f"process {int(holder['pid'])} on {holder['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        # The holder has the lock but has not yet written its name.
        return "another process"


def cache_folder() -> Path | None:
    """The folder for what can be made again, which need not exist yet; None where the user has no home."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "qa"
    try:
        return Path.home() / ".cache" / "qa"
    except RuntimeError:  # no HOME and no entry for this user
        return None
