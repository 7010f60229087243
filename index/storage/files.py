"""Whole files or nothing: atomic writes, the index folder, the user's cache folder."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from corpus.errors import StorageError
from index.storage import disk

IGNORE_NAME = ".gitignore"
# A cache has no lock, so what is temporary there may be in use; nothing is written for this long.
_ABANDONED_SECONDS = 3600.0


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


def cache_folder() -> Path | None:
    """The folder for what can be made again, which need not exist yet; None where the user has no home."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "qa"
    try:
        return Path.home() / ".cache" / "qa"
    except RuntimeError:  # no HOME and no entry for this user
        return None
