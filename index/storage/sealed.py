"""Disposable files that begin with a checksum: no commit refers to them, and a damaged one counts as missing."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from corpus.errors import StorageError
from index.storage.database import DATABASE
from index.storage.files import write_atomically
from index.storage.locking import writer_lock
from index.storage.regular import open_regular

_DIGEST_BYTES = 32
# A larger file cannot be ours.
_MAX_BYTES = 1 << 30


def read_sealed(file: Path) -> bytes | None:
    """Return the content of a sealed file, or None if it is missing, unreadable or damaged."""
    try:
        if file.stat().st_size > _MAX_BYTES:
            return None
        with os.fdopen(open_regular(file), "rb") as stream:
            digest, content = stream.read(_DIGEST_BYTES), stream.read()
    except (OSError, StorageError):
        return None
    return content if _digest(content) == digest else None


def seal(content: bytes) -> bytes:
    """Return the content preceded by its checksum, BLAKE2b-256."""
    return _digest(content) + content


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def write_derived(file: Path, content: bytes) -> None:
    """Replace a sealed file in an index folder.

    Raises:
        LockedError: Another process is writing the index.
        StorageError: It cannot be written.
    """
    with writer_lock(file.parent):
        write_atomically(file, seal(content), like=file.with_name(DATABASE))
