"""Read one file into a document: bytes and digest from one reading, decoded, taken apart."""

from __future__ import annotations

import codecs
import hashlib
from pathlib import Path

from corpus.files import MAX_BYTES, Unreadable, read_bytes, too_large
from corpus.readers import media_type, reader_for
from corpus.types import Document

__all__ = ["Unreadable", "decode", "digest", "load", "parse", "read_bytes"]

# Git's rule of thumb: a NUL in the first 8,000 bytes means binary.
_SNIFF = 8000
# Each line costs its readers about a kilobyte.
MAX_LINES = 200_000


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
        Unreadable: The bytes are not what the name promises, or too many.
    """
    kind = media_type(path)
    if kind is None:
        raise Unreadable("not a text format that can be read")
    if len(data) > MAX_BYTES:
        raise Unreadable(too_large(MAX_BYTES))
    text = decode(data)
    if text.count("\n") > MAX_LINES:
        raise Unreadable(f"more than {MAX_LINES:,} lines; split it into smaller files")
    title, blocks = reader_for(kind)(text)
    return Document(path=path, text=text, sha256=digest(data), media_type=kind, title=title, blocks=blocks)


def load(root: Path, path: str) -> Document:
    """Read and take apart one file of a corpus.

    Raises:
        Unreadable: It yields no document, and says why.
    """
    return parse(path, read_bytes(root, path))
