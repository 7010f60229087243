"""Put the text of a document together from what a parser finds in it, with its blocks and pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES
from corpus.readers.assemble.coverage import fill_gaps
from corpus.text.encodings import MAX_LINES
from corpus.text.headings import LONGEST_HEADING, heading_title
from corpus.types import Block, BlockKind, Extracted, Record

# Neither shows anything, and lone surrogates cannot be stored.
_UNWANTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[\n ]*")
_CLOSE = {(BlockKind.ITEM, BlockKind.ITEM), (BlockKind.TABLE, BlockKind.TABLE)}


def clean(text: str) -> str:
    r"""A text without control characters; newlines are "\n"."""
    if text.isprintable():
        return text
    return _UNWANTED.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """A text on one line, each run of blanks a single one."""
    if "  " not in text and text.isprintable():
        return text.strip()
    return " ".join(clean(text).split())


def few_lines(text: str) -> str:
    """A text with its lines, but without blank ones and runs of blanks."""
    if "  " not in text and text.isprintable():
        return text.strip()
    return _LINES.sub("\n", _BLANKS.sub(" ", clean(text))).strip()


class DocumentBuilder:
    """Takes headings, paragraphs, items, tables and code in order; `reading` gives the document.

    Attributes:
        title: The document's title; where nothing sets it, the first heading.
    """

    def __init__(self) -> None:
        self.title = ""
        self._parts: list[str] = []
        self._length = 0
        self._lines = 0
        self._blocks: list[Block] = []
        self._open: list[tuple[int, str]] = []
        self._path: tuple[str, ...] = ()
        self._pages: list[int] = []
        self._waiting = 0
        self._records: list[Record] = []
        self._next: str | None = None
        self._first = ""

    def begin(self, title: str) -> None:
        """Begin a record with what comes next: a document of its own, titled "" where it states no title."""
        self._next = heading_title(one_line(title))[:LONGEST_HEADING]

    def page(self, count: int = 1) -> None:
        """Begin the next page; with `count` above 1, those before it are empty."""
        self._waiting += count

    def heading(self, level: int, text: str) -> None:
        """A heading; `level` 1 is the outermost."""
        words = heading_title(one_line(text))
        if not words:
            return
        if len(words) > LONGEST_HEADING:
            self.block(text)
            return
        self.under(level, words)
        self._first = self._first or words
        self._add(BlockKind.HEADING, one_line(text))

    def under(self, level: int, words: str) -> None:
        """Open a heading that does not stand in the text itself; "" only closes those of its level."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        if words := one_line(words)[:LONGEST_HEADING]:
            self._open.append((level, words))
        self._path = tuple([words for _, words in self._open])

    def block(self, text: str, kind: BlockKind = BlockKind.PARAGRAPH, depth: int = 0) -> None:
        """A paragraph, or another kind of block; blank lines in it go, but for code."""
        if kind is BlockKind.CODE:
            text = clean(text).strip("\n").rstrip()
        else:
            text = one_line(text) if kind is BlockKind.ITEM else few_lines(text)
        if text.strip():
            self._add(kind, f"{'  ' * depth}- {text}" if kind is BlockKind.ITEM else text, depth)

    def rows(self, rows: Sequence[Sequence[str]]) -> None:
        """A table, one row a line."""
        lines = (" | ".join(map(one_line, row)).strip(" |") for row in rows)
        self.block("\n".join(line for line in lines if line), BlockKind.TABLE)

    def record(self, title: str, fields: Sequence[tuple[str, str]], *, level: int = 1) -> None:
        """Something with named fields, one a line, under its title if it has one."""
        self.under(level, "")
        if title:
            self.heading(level, title)
        self.record_lines(fields)

    def record_lines(self, fields: Sequence[tuple[str, str]]) -> None:
        """Named fields, one a line."""
        lines = [f"{one_line(name)}: {few_lines(value)}" if name else few_lines(value) for name, value in fields]
        self.block("\n".join(lines))

    def build(self, media_type: str, *, note: str = "", title: str | None = None) -> Extracted:
        """The document that was put together."""
        self._turn(self._length)
        text = "".join(self._parts)
        blocks = fill_gaps(text, self._blocks)
        found = self.title or self._first if title is None else title
        title = one_line(found)[:LONGEST_HEADING]
        return Extracted(text, title, blocks, tuple(self._pages), media_type, note, tuple(self._records))

    def _add(self, kind: BlockKind, text: str, depth: int = 0) -> None:
        if self._blocks:
            close = (self._blocks[-1].kind, kind) in _CLOSE and not self._waiting
            self._append("\n" if close else "\n\n")
        start = self._length
        self._turn(start)
        if self._next is not None:
            self._records.append(Record(start if self._records else self._headings_above(start), self._next))
            self._next = None
        self._append(text)
        self._blocks.append(Block(kind, start, self._length, self._path, depth))

    def _headings_above(self, start: int) -> int:
        """Where the headings begin that stand right above a place, or the place itself where none do."""
        for block in reversed(self._blocks):
            if block.kind is not BlockKind.HEADING:
                break
            start = block.start
        return start

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        self._lines += text.count("\n")
        if self._length > MAX_BYTES:
            raise Unreadable(f"more than {MAX_BYTES // (1024 * 1024)} Mi characters of text")
        if self._lines > MAX_LINES:
            raise Unreadable(f"more than {MAX_LINES:,} lines of text")

    def _turn(self, at: int) -> None:
        if self._waiting:
            self._pages.extend([at] * self._waiting)
            self._waiting = 0
