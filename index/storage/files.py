"""Atomic writes, the index folder, and the user's cache and configuration folders."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

from corpus.errors import StorageError
from index.storage import disk

IGNORE_NAME = ".gitignore"
# A cache has no lock, so a temporary file may be in use, but writing one never takes this long.
ABANDONED_SECONDS = 3600.0


@contextlib.contextmanager
def translate_os_errors(action: str, path: Path, advice: str) -> Iterator[None]:
    """Raise OSError as StorageError, with a message that says what failed and what to do."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot {action} {path}: {error.strerror or error}. {advice}") from error


def write_atomically(path: Path, data: bytes | memoryview, *, like: Path | None = None) -> None:
    """Write a file so that a crash at any moment leaves either the old file or the new one.

    With `like`, the users who may read and write that file may also read and write this one.

    Raises:
        StorageError: A step failed; either the old or the new file is there, and no temporary file.
    """
    temporary = disk.temporary_name(path)
    try:
        with translate_os_errors("write", path, "Free space or check the disk."):
            disk.write_new(temporary, data, like=like)
            disk.rename(temporary, path)
            disk.sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            disk.delete_all(temporary)


def write_output(path: Path, data: bytes) -> bool:
    """Write to stdout ("-"), a pipe or a device, or replace a file at once; return whether it was a file.

    Raises:
        OSError: Stdout, the pipe or the device refuses.
        StorageError: The file cannot be written.
    """
    exists = path.exists()
    if str(path) == "-" or (exists and os.path.samestat(path.stat(), os.fstat(1))):
        disk.write(1, data, path)
    elif exists and not path.is_file():
        disk.write_into(path, data)
    else:
        write_atomically(Path(os.path.realpath(path)), data)
        return True
    return False


def write_to_cache(path: Path, data: bytes | memoryview) -> None:
    """Write like `write_atomically` into a cache, whose folder need not exist and has no lock."""
    with translate_os_errors("create", path.parent, "Check space and permissions."):
        disk.make_folders(path.parent)
    sweep(path.parent, older_than=ABANDONED_SECONDS)
    write_atomically(path, data)


def make_folder(folder: Path) -> None:
    """Create an index folder unless it exists; raises StorageError if it cannot be created or written to."""
    try:
        if not folder.is_dir():
            # Another process may create it at the same time; the lock decides which of them writes.
            with contextlib.suppress(FileExistsError):
                disk.make_folder(folder)
            disk.sync_folder(folder.parent)
    except OSError as error:
        advice = "Check space and permissions."
        if error.errno == errno.EROFS:
            advice = f"Before the disk is mounted, make it a link to a writable folder: ln -s FOLDER {folder}"
        raise StorageError(f"cannot create {folder}: {error.strerror or error}. {advice}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StorageError(f"cannot write into {folder}: it is read-only. Questions still work; updates do not.")


def sweep(folder: Path, *, older_than: float = float("-inf")) -> None:
    """Delete half-written files of killed processes: in an index folder, whose lock the caller holds, of any age."""
    before = time.time() - older_than
    with contextlib.suppress(OSError):
        for path in list(folder.glob(f".*{disk.TEMP_SUFFIX}")):
            with contextlib.suppress(OSError):
                if path.lstat().st_mtime < before:
                    disk.delete_all(path)


def cache_folder() -> Path:
    """Return the user's cache folder, which need not exist, and cannot exist for a user without a home."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "qa"
    try:
        return Path.home() / ".cache" / "qa"
    except RuntimeError:  # no HOME and no entry for this user
        return Path(os.devnull) / "qa"


def config_folder() -> Path:
    """Return the user's configuration folder, which need not exist (freedesktop.org's base directories)."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(home) if os.path.isabs(home) else Path(os.path.expanduser("~/.config"))) / "qa"  # noqa: PTH111, PTH117
