"""Read one file into a document: bytes and digest from one reading, decoded, taken apart."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.discovery.safe_read import read_bytes, too_large
from corpus.errors import Unreadable
from corpus.formats import confirm, size_limit
from corpus.readers import reader_for
from corpus.types import Document

if TYPE_CHECKING:
    from corpus.loading.sandbox import Sandbox

__all__ = ["Unreadable", "digest", "load", "parse", "read_bytes", "read_file"]


def digest(data: bytes) -> str:
    """SHA-256 of a file's bytes, lower-case hex: how the index knows a file again."""
    return hashlib.sha256(data).hexdigest()


def parse(path: str, data: bytes, *, sandbox: Sandbox | None = None) -> Document:
    """Make a document of a file's bytes.

    Args:
        path: Relative to the corpus root, with forward slashes.
        data: The whole file.
        sandbox: Reads what is not plain text; without one, a process is started for this file alone.

    Raises:
        Unreadable: The bytes are not what the name promises, or too many, or their parser failed.
    """
    kind = confirm(path, data)
    if len(data) > kind.limit:
        raise Unreadable(too_large(kind.limit))
    if not kind.isolated:
        found = reader_for(kind.reader)(path, data)
    elif sandbox is not None:
        found = sandbox.read(path, data)
    else:
        from corpus.loading.sandbox import Sandbox  # noqa: PLC0415 - most folders have text alone

        with Sandbox() as own:
            found = own.read(path, data)
    # Of an archive, it is the reader that sees what it is.
    media_type = found.media_type if kind.isolated else kind.media_type
    return Document(
        path=path,
        text=found.text,
        sha256=digest(data),
        media_type=media_type,
        title=found.title,
        blocks=found.blocks,
        pages=found.pages,
        note=found.note,
        records=found.records,
    )


def read_file(root: Path, path: str) -> bytes:
    """The bytes of a file of a corpus, as many as its format may have.

    Raises:
        Unreadable: As `read_bytes`.
    """
    return read_bytes(root, path, limit=size_limit(path))


def load(root: Path, path: str, *, sandbox: Sandbox | None = None) -> Document:
    """Read and take apart one file of a corpus.

    Raises:
        Unreadable: It yields no document, and says why.
    """
    return parse(path, read_file(root, path), sandbox=sandbox)
