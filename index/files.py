"""Every write of the index outside SQLite goes through here: whole files or nothing, one writer at a time."""

# ruff: noqa: PLC0415 - a question, which writes nothing, waits for every import

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from corpus.errors import LockedError, StorageError

LOCK_NAME = "lock"
TEMP_SUFFIX = ".tmp"


def write_atomically(path: Path, data: bytes | memoryview) -> None:
    """Put `data` at `path` so that a crash at any moment leaves the old file or the new one.

    Raises:
        StorageError: The disk refused; the old file is as it was and nothing new is left behind.
    """
    import tempfile

    temp: str | None = None
    try:
        descriptor, temp = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=TEMP_SUFFIX)
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - a descriptor, not a path
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temp).replace(path)
        temp = None
        _sync_folder(path.parent)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}. Free space or check the disk.") from error
    finally:
        if temp is not None:
            with contextlib.suppress(OSError):
                Path(temp).unlink()


def make_folder(folder: Path) -> None:
    """Create an index folder if it is not there, invisible to git, and make sure it can be written.

    Raises:
        StorageError: It cannot be created or is read-only.
    """
    try:
        if not folder.is_dir():
            folder.mkdir()
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot create {folder}: {error.strerror or error}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StorageError(f"cannot write into {folder}: it is read-only. Questions still work; updates do not.")


@contextlib.contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Be the only writer of an index folder; the system frees the lock if this process dies.

    Raises:
        LockedError: Another process writes; the message names it.
        StorageError: The folder is read-only, or its filesystem has no locks.
    """
    import socket

    path = folder / LOCK_NAME
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StorageError(f"cannot lock {path}: {error.strerror or error}") from error
    try:
        _acquire(descriptor, path)
        holder = {"pid": os.getpid(), "host": socket.gethostname()}
        _overwrite(descriptor, json.dumps(holder).encode(), path)
        yield
    finally:
        # Closing releases the lock. The file stays: deleting it would let two writers lock two files.
        os.close(descriptor)


def _overwrite(descriptor: int, data: bytes, path: Path) -> None:
    try:
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, data)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


def _acquire(descriptor: int, path: Path) -> None:
    try:
        _lock_now(descriptor)
    except (BlockingIOError, PermissionError) as error:
        raise LockedError(f"{path.parent} is being written by {_holder(path)}. Wait for it to end.") from error
    except OSError as error:
        raise StorageError(f"cannot lock {path}: {error.strerror or error}") from error


if sys.platform == "win32":
    import msvcrt

    def _lock_now(descriptor: int) -> None:
        # Windows locks bytes against reading too, so the lock sits far behind the holder's name.
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _sync_folder(folder: Path) -> None:
        """Windows makes renames durable by itself and cannot open a folder."""

else:
    import fcntl

    def _lock_now(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _sync_folder(folder: Path) -> None:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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
