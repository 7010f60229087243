"""Load a file as a document, with its text and digest from the same read."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from corpus.discovery.safe_read import read_bytes, too_large_reason
from corpus.errors import Unreadable
from corpus.formats import MAIL, MAX_PACKED_BYTES, detect_format, effective_name, size_limit, unpack
from corpus.readers import reader_for
from corpus.types import OUTDATED, Document, Extracted

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
    file_format = detect_format(inner, text)
    if len(text) > file_format.limit:
        raise Unreadable(too_large_reason(file_format.limit))
    is_sandboxed = file_format.sandboxed
    extracted = _read_in_sandbox(inner, text, sandbox) if is_sandboxed else _read(file_format.reader, inner, text)
    fields: dict[str, Any] = {field.name: getattr(extracted, field.name) for field in dataclasses.fields(extracted)}
    if not is_sandboxed:
        # A reader of text is for several formats; only the reader of an archive knows its type.
        fields["media_type"] = file_format.media_type
    if notice := _outdated_notice(path, extracted, fields["media_type"]):
        fields["metadata"] = (*extracted.metadata, (OUTDATED, notice))
    if name and extracted.title == PurePosixPath(inner).name:
        fields["title"] = PurePosixPath(path).name
    return Document(**fields, path=path, sha256=digest(data))


def _outdated_notice(path: str, extracted: Extracted, media_type: str) -> str:
    """Return the words or name by which a document is outdated; "" for records, and for mail about documents."""
    if extracted.records or media_type in MAIL:
        return ""
    from corpus.loading.outdated import outdated_name, outdated_notice  # noqa: PLC0415 - questions load no files

    return outdated_notice(extracted.text, extracted.title) or outdated_name(path)


def _read(reader: str, path: str, data: bytes) -> Extracted:
    try:
        return reader_for(reader)(path, data)
    except (Unreadable, MemoryError):
        raise
    # As in the sandbox: an error in a reader must not end a build.
    except Exception as error:
        raise Unreadable(f"damaged ({type(error).__name__})") from error


def _read_in_sandbox(path: str, data: bytes, sandbox: Sandbox | None) -> Extracted:
    from corpus.loading.sandbox import Sandbox  # noqa: PLC0415 - most folders have only text

    with Sandbox() if sandbox is None else nullcontext(sandbox) as process:
        return process.read(path, data)


def read_file(root: Path, path: str) -> bytes:
    """Return the bytes of a file of a corpus, up to the largest limit of any format; see `read_bytes`."""
    return read_bytes(root, path, limit=MAX_PACKED_BYTES)


def load(root: Path, path: str, *, formats: Sequence[str] = (), sandbox: Sandbox | None = None) -> Document:
    """Return the document in a file of a corpus; see `read_bytes`, `effective_name` and `parse`."""
    name = effective_name(path, formats)
    return parse(path, read_bytes(root, path, limit=size_limit(name)), name=name, sandbox=sandbox)
