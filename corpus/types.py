"""What the corpus side hands on: documents made of blocks, and the passages cut from them.

All offsets are Unicode code points into `Document.text`, end exclusive.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block is, as far as splitting cares."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    CODE = "code"
    TABLE = "table"
    META = "meta"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document that a reader recognised.

    Attributes:
        kind: What it is.
        start: First character in the document.
        end: One past the last character.
        heading: Headings above it, outermost first; a heading block's own title comes last.
        depth: Nesting of a list item, 0 at the outermost; 0 for everything else.
    """

    kind: BlockKind
    start: int
    end: int
    heading: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """One of many documents that a file holds, such as a message of a mailbox: it goes on to where the next begins.

    Attributes:
        start: First character in the file's text; of the first, with the headings right above it, if any.
        title: Its own, or "".
    """

    start: int
    title: str


# Page (from 1), then left, top, right and bottom in points from the page's upper left corner.
PageBox = tuple[int, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a reader makes of a file's bytes.

    Attributes:
        text: The file decoded, newlines untouched, or for other formats than text what was taken out of it.
        title: The document's own title, or "" where it states none.
        blocks: In order, not overlapping; every non-blank character stands in one.
        pages: Where each page begins, in order, for a format that has any: page 1 first. Slides of a talk,
            sheets, cells of a notebook, records of a table and messages of a mailbox count as pages.
        media_type: What the bytes are, whatever the name says.
        note: What a person should know about how it was read, or "".
        records: Where the file holds many documents, each, in order; what stands before the first is of none.
    """

    text: str
    title: str
    blocks: tuple[Block, ...]
    pages: tuple[int, ...] = ()
    media_type: str = "text/plain"
    note: str = ""
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One readable file, decoded and taken apart: a document, or as many as it has records.

    Attributes:
        path: Relative to the corpus root, with forward slashes.
        text: As in `Extracted`.
        sha256: Digest of the file's bytes, lower-case hex.
        media_type: Such as `text/markdown`.
        title: The document's own title, or "" where it states none.
        blocks: In order, not overlapping; every non-blank character stands in one.
        pages: As in `Extracted`.
        note: As in `Extracted`.
        records: As in `Extracted`.
    """

    path: str
    text: str
    sha256: str
    media_type: str
    title: str
    blocks: tuple[Block, ...]
    pages: tuple[int, ...] = ()
    note: str = ""
    records: tuple[Record, ...] = ()

    def record_of(self, offset: int) -> Record | None:
        """The record that a character stands in; None before the first, and where there are none."""
        number = bisect_right(self.records, offset, key=lambda record: record.start) if self.records else 0
        return self.records[number - 1] if number else None

    def page_of(self, offset: int) -> int | None:
        """The page (1-based) that a character stands on; None where there are no pages."""
        return max(1, bisect_right(self.pages, offset)) if self.pages else None

    def page_span(self, page: int) -> tuple[int, int] | None:
        """The characters of a page (1-based), or None where there is no such page."""
        if not 1 <= page <= len(self.pages):
            return None
        return self.pages[page - 1], self.pages[page] if page < len(self.pages) else len(self.text)


@dataclass(frozen=True, slots=True)
class Passage:
    """The stored unit: an exact slice of a document, with what gives it meaning.

    Attributes:
        start: First character in the document.
        end: One past the last character; `document.text[start:end] == text`.
        text: The slice, as it is shown and cited.
        body: Where the text proper begins in `text`, behind heading lines that `heading` repeats.
        title: Of the record that it stands in, else of the file, or "".
        heading: Headings above the passage, outermost first.
        context: What the encoder reads before the text proper: the file's title and the heading path in words.
        lines: First and last line of the document's text, 1-based, inclusive.
        page: Page on which its text proper begins, 1-based, or None where the document has no pages.
    """

    start: int
    end: int
    text: str
    body: int
    title: str
    heading: tuple[str, ...]
    context: str
    lines: tuple[int, int]
    page: int | None = None
