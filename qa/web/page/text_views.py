"""Views of a document's text: by lines for a text file, by blocks if it was extracted from another format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from corpus import LineMap
from corpus.types import BlockKind, Document
from qa.web.page.marks import MarkedText, Marks, Span

_TAGS = {BlockKind.HEADING: "heading", BlockKind.ITEM: "item", BlockKind.CODE: "code", BlockKind.TABLE: "code"}


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line of a file."""

    number: int
    pieces: tuple[MarkedText, ...]


@dataclass(frozen=True, slots=True)
class LinesView:
    """Lines of a text file."""

    kind: ClassVar[str] = "lines"
    lines: tuple[NumberedLine, ...]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block of extracted text: heading, item, code or text; levels are HTML's for headings, and from 0 for items."""

    kind: str
    level: int
    pieces: tuple[MarkedText, ...]


@dataclass(frozen=True, slots=True)
class BlocksView:
    """Blocks of text extracted from a document."""

    kind: ClassVar[str] = "blocks"
    blocks: tuple[TextBlock, ...]


def lines_view(document: Document, shown: Span, marks: Marks) -> LinesView:
    """Return the lines in the shown characters of a text file."""
    start, end = shown
    first = LineMap(document.text[:start]).line_of(start)
    return LinesView(tuple(_numbered(document.text[start:end], start, first, marks)))


def _numbered(text: str, at: int, first: int, marks: Marks) -> Iterator[NumberedLine]:
    for number, line in enumerate(text.removesuffix("\n").split("\n"), first):
        yield NumberedLine(
            number, marks.cut(line.removesuffix("\r").removeprefix("\ufeff"), at + line.startswith("\ufeff"))
        )
        at += len(line) + 1


def blocks_view(document: Document, shown: Span, marks: Marks) -> BlocksView:
    """Return the blocks in the shown characters of a document."""
    blocks, last_level = [], 2  # headings of the page itself
    for block in document.blocks:
        start, end = max(block.start, shown[0]), min(block.end, shown[1])
        if start < end:
            level = block.depth
            if block.kind is BlockKind.HEADING:
                level = last_level = max(3, min(last_level + 1, len(block.heading) + 2, 6))  # skips none
            blocks.append(TextBlock(_TAGS.get(block.kind, "text"), level, marks.cut(document.text[start:end], start)))
    return BlocksView(tuple(blocks))
