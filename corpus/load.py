"""Read one file into a document: bytes and digest from one reading, decoded, taken apart."""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import stat
from pathlib import Path

from corpus.discover import MAX_BYTES
from corpus.readers import media_type, reader_for
from corpus.types import Document

# Git's rule of thumb: a NUL in the first 8,000 bytes means binary.
_SNIFF = 8000


class Unreadable(Exception):  # noqa: N818 - it is the file that is unreadable, not an error of ours
    """A file that yields no document.

    Attributes:
        reason: In words for a person.
        gone: True where the file is no longer there.
        unknown: True where the file could not be looked at, so that what is indexed of it still counts.
    """

    def __init__(self, reason: str, *, gone: bool = False, unknown: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.gone = gone
        self.unknown = unknown


def read_bytes(file: Path) -> bytes:
    """Read a regular file whole, without ever waiting on a FIFO or a device.

    Raises:
        Unreadable: It is gone, no regular file, too large, or the system refuses.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Unreadable("not a regular file")
            with open(descriptor, "rb", closefd=False) as stream:
                data = stream.read(MAX_BYTES + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unreadable("symbolic link, not followed") from error
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise Unreadable("vanished while being read", gone=True) from error
        raise Unreadable(f"cannot be read: {error.strerror or error}", unknown=True) from error
    if len(data) > MAX_BYTES:
        raise Unreadable(f"larger than {MAX_BYTES // (1024 * 1024)} MiB")
    return data


def digest(data: bytes) -> str:
    """SHA-256 of a file's bytes, lower-case hex: how the index knows a file again."""
    return hashlib.sha256(data).hexdigest()


def decode(data: bytes) -> str:
    """Decode a text file's bytes as UTF-8; a byte order mark stays in the text, so that offsets hold.

    Raises:
        Unreadable: Binary, or not UTF-8.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Unreadable("not UTF-8 but UTF-16; save it as UTF-8")
    if b"\0" in data[:_SNIFF]:
        raise Unreadable("binary, not text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 (byte {error.start}); save it as UTF-8") from error


def parse(path: str, data: bytes) -> Document:
    """Make a document of a file's bytes.

    Args:
        path: Relative to the corpus root, with forward slashes.
        data: The whole file.

    Raises:
        Unreadable: The bytes are not what the name promises.
    """
    kind = media_type(path)
    if kind is None:
        raise Unreadable("not a text format that can be read")
    text = decode(data)
    title, blocks = reader_for(kind)(text)
    return Document(path=path, text=text, sha256=digest(data), media_type=kind, title=title, blocks=blocks)


def load(root: Path, path: str) -> Document:
    """Read and take apart one file of a corpus.

    Raises:
        Unreadable: It yields no document, and says why.
    """
    return parse(path, read_bytes(root / path))
