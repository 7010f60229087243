"""Documents made of blocks, and the passages cut from them.

All offsets are Unicode code points into a document's text; ends are exclusive.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter

# The first word of the heading of text that a message quotes from an earlier one.
QUOTED = "Quoted"
# The name in a document's metadata of the words, or the name, by which it is outdated.
OUTDATED = "outdated notice"


class BlockKind(StrEnum):
    """The kinds of block that the splitter distinguishes."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    CODE = "code"
    TABLE = "table"
    META = "meta"
    # Metadata of the file, such as front matter; it becomes a passage unless it has only a title.
    DATA = "data"


@dataclass(frozen=True, slots=True)
class Block:
    """A structural element of a document.

    Attributes:
        heading: Headings above it, outermost first; for a heading, its own title comes last.
        depth: Nesting of a list item, 0 for the outermost and for all other kinds.
    """

    kind: BlockKind
    start: int
    end: int
    heading: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """One of many documents in a file, such as a message of a mailbox; it ends where the next begins.

    The first record includes headings directly above it. A record without a title has "".
    """

    start: int
    title: str


# Page (from 1), then left, top, right and bottom in points from the page's upper left corner.
PageBox = tuple[int, float, float, float, float]


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A rendered page of a PDF.

    Attributes:
        width: In points.
        height: In points.
        pages: Number of pages in the file.
        png: The page as a PNG image.
    """

    width: float
    height: float
    pages: int
    png: bytes


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text and structure that a reader extracts from a file.

    Attributes:
        text: For text formats the decoded file with its newlines, for others the text extracted from it.
        title: The title that the document states, or "".
        blocks: In order, without overlap; every non-blank character is in one of them.
        pages: Start of each page, slide, sheet, cell, row or message, for formats that have them.
        media_type: Determined by content, not by name.
        note: A remark on how the file was read, or "".
        records: The documents of a file that holds many, in order; text before the first belongs to none.
        file_lines: (offset, line) pairs: from this offset on, the text comes from this line of the file. () if the
            lines of the file are those of the text, None if an editor shows no lines for it.
        anchors: (offset, name) pairs: link targets in the file.
        metadata: (name, value) pairs that the file states about itself, such as its author; a list repeats its name.
    """

    text: str
    title: str
    blocks: tuple[Block, ...]
    pages: tuple[int, ...] = ()
    media_type: str = "text/plain"
    note: str = ""
    records: tuple[Record, ...] = ()
    file_lines: tuple[tuple[int, int], ...] | None = ()
    anchors: tuple[tuple[int, str], ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(Extracted):
    """An extracted file: a single document, or one for each of its records.

    Attributes:
        path: Relative to the corpus root, with forward slashes.
        sha256: Digest of the file's bytes, lower-case hex.
    """

    path: str
    sha256: str

    def record_of(self, offset: int) -> Record | None:
        """Return the record that contains a character, or None."""
        number = bisect_right(self.records, offset, key=lambda record: record.start)
        return self.records[number - 1] if number else None

    def page_of(self, offset: int) -> int | None:
        """Return the page (from 1) that contains a character; None for a document without pages."""
        return max(1, bisect_right(self.pages, offset)) if self.pages else None

    def anchor_of(self, offset: int) -> str | None:
        """Return the name of the nearest link target at or before a character, or None."""
        number = bisect_right(self.anchors, offset, key=itemgetter(0))
        return self.anchors[number - 1][1] if number else None

    def page_span(self, page: int) -> tuple[int, int] | None:
        """Return the span of a page (from 1), or None if there is no such page."""
        if not 1 <= page <= len(self.pages):
            return None
        return self.pages[page - 1], self.pages[page] if page < len(self.pages) else len(self.text)


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit that is indexed: an exact slice of a document, with its context.

    Attributes:
        end: One past the last character; `document.text[start:end] == text`, which is shown and cited.
        body: Offset in `text` of the text proper, after heading lines, which are in `heading` too.
        title: Title of its record, otherwise of the file, or "".
        heading: Headings above the passage, outermost first.
        context: The title and headings that the encoder reads before the text proper.
        lines: First and last line of the file, from 1, inclusive; None for a file without lines.
        page: Page on which the text proper begins, from 1; None for a document without pages.
        anchor: The nearest link target at or before the text proper, or None.
    """

    start: int
    end: int
    text: str
    body: int
    title: str
    heading: tuple[str, ...]
    context: str
    lines: tuple[int, int] | None
    page: int | None = None
    anchor: str | None = None
