"""Files in the index folder that anyone can make again: no commit names them, and a damaged one is as none."""

from __future__ import annotations

import hashlib
from pathlib import Path

from index.storage.files import write_atomically
from index.storage.locking import writer_lock

_DIGEST_BYTES = 32
# None is larger; what is, somebody else wrote.
_MAX_BYTES = 1 << 30


def read_derived(folder: Path, name: str) -> bytes | None:
    """Return the content of a derived file; None where it is missing or unreadable, or its checksum does not match."""
    file = folder / name
    try:
        if file.stat().st_size > _MAX_BYTES:
            return None
        data = file.read_bytes()
    except OSError:
        return None
    content = data[_DIGEST_BYTES:]
    return content if data[:_DIGEST_BYTES] == _digest(content) else None


def write_derived(folder: Path, name: str, content: bytes) -> None:
    """Replace a derived file, with a checksum of BLAKE2b-256 before its content.

    Raises:
        LockedError: Another process writes the index.
        StorageError: It cannot be written.
    """
    with writer_lock(folder):
        write_atomically(folder / name, _digest(content) + content)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()
