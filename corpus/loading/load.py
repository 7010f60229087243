"""Load a file as a document; its text and digest come from the same read."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from corpus.discovery.safe_read import read_bytes, too_large
from corpus.errors import Unreadable
from corpus.formats import MAX_PACKED_BYTES, confirm, read_as, size_limit, unpack
from corpus.readers import reader_for
from corpus.types import Document, Extracted

if TYPE_CHECKING:
    from corpus.loading.sandbox import Sandbox


def digest(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes, lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def parse(path: str, data: bytes, *, name: str = "", sandbox: Sandbox | None = None) -> Document:
    """Parse a file's bytes as a document; without a sandbox, one is started for a file that needs it.

    Args:
        path: Path of the file, and of the document.
        data: The bytes of the file.
        name: Decides how to read it; by default, the path.
        sandbox: For files whose reader needs one.

    Raises:
        Unreadable: The content is not what the name promises, or too large, or its reader failed.
    """
    inner, text = unpack(name or path, data)
    kind = confirm(inner, text)
    if len(text) > kind.limit:
        raise Unreadable(too_large(kind.limit))
    extracted = _in_sandbox(inner, text, sandbox) if kind.isolated else reader_for(kind.reader)(inner, text)
    parts: dict[str, Any] = {field.name: getattr(extracted, field.name) for field in dataclasses.fields(extracted)}
    if not kind.isolated:
        # One reader serves several text formats; only the reader of an archive knows its type.
        parts["media_type"] = kind.media_type
    if name and extracted.title == PurePosixPath(inner).name:
        parts["title"] = PurePosixPath(path).name
    return Document(**parts, path=path, sha256=digest(data))


def _in_sandbox(path: str, data: bytes, sandbox: Sandbox | None) -> Extracted:
    from corpus.loading.sandbox import Sandbox  # noqa: PLC0415 - most folders have only text

    with Sandbox() if sandbox is None else nullcontext(sandbox) as own:
        return own.read(path, data)


def read_file(root: Path, path: str) -> bytes:
    """Return the bytes of a file of a corpus, up to the largest limit of any format; see `read_bytes`."""
    return read_bytes(root, path, limit=MAX_PACKED_BYTES)


def load(root: Path, path: str, *, formats: Sequence[str] = (), sandbox: Sandbox | None = None) -> Document:
    """Return the document in a file of a corpus; see `read_bytes`, `read_as` and `parse`."""
    name = read_as(path, formats)
    return parse(path, read_bytes(root, path, limit=size_limit(name)), name=name, sandbox=sandbox)
