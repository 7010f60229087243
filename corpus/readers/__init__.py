"""Readers: one module a format, each turning decoded text into a title and blocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from corpus.types import Block

Structure = tuple[str, tuple[Block, ...]]
_MARKDOWN = {".md", ".markdown", ".mdown", ".mkd"}
_PLAIN = {
    ".txt": "text/plain",
    ".text": "text/plain",
    ".rst": "text/x-rst",
    ".rest": "text/x-rst",
    ".org": "text/x-org",
    ".adoc": "text/asciidoc",
    ".asciidoc": "text/asciidoc",
    ".log": "text/plain",
    "": "text/plain",
}


def media_type(path: str) -> str | None:
    """The media type that the name promises, or None for a format without a reader."""
    suffix = PurePosixPath(path).suffix.lower()
    return "text/markdown" if suffix in _MARKDOWN else _PLAIN.get(suffix)


def is_readable_name(path: str) -> bool:
    """Whether there is a reader for a file of this name."""
    return media_type(path) is not None


def reader_for(kind: str) -> Callable[[str], Structure]:
    """The function that takes a text of this media type apart into a title and blocks."""
    if kind == "text/markdown":
        from corpus.readers.markdown import read_markdown  # noqa: PLC0415 - the parser is only loaded for Markdown

        return read_markdown
    from corpus.readers.plain import read_plain  # noqa: PLC0415

    return read_plain
