"""Build a document from headings, paragraphs, lists, tables and code, with its pages and records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES, MAX_LINES, MIB
from corpus.readers.assemble.gaps import fill_gaps
from corpus.text.headings import MAX_HEADING, HeadingStack, TopHeading, heading_title
from corpus.types import Block, BlockKind, Extracted, Record

# Control characters are invisible, and lone surrogates cannot be stored.
_UNWANTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[\n ]*")
_COMPACT = (BlockKind.ITEM, BlockKind.TABLE)
_WORD = re.compile(r"\S+")

# Where a block's file lines begin: pairs of the number of visible characters before the line, and the line number.
Starts = Sequence[tuple[int, int]]


def strip_control_characters(text: str) -> str:
    r"""Return a text without control characters; newlines are "\n"."""
    if text.isprintable():
        return text
    return _UNWANTED.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """Return a text on one line, with single spaces."""
    if "  " not in text and text.isprintable():
        return text.strip()
    return " ".join(strip_control_characters(text).split())


def tidy_lines(text: str) -> str:
    """Return a text with its line breaks, but without blank lines and with single spaces."""
    if "  " not in text and text.isprintable():
        return text.strip()
    return _LINES.sub("\n", _BLANKS.sub(" ", strip_control_characters(text))).strip()


def count_visible(text: str) -> int:
    """Return the number of non-blank characters of a text."""
    return len("".join(text.split()))


def _locate(starts: Starts, text: str, added: int) -> Iterator[tuple[int, int]]:
    """Yield the offset in a text at which each line of the file begins, and the number of the line.

    Args:
        starts: Where the lines begin.
        text: The text of a block.
        added: The number of visible characters before it that are not in the file, such as the marker of a list item.
    """
    if starts:
        yield 0, starts[0][1]
    visible, number = -added, 1
    for word in _WORD.finditer(text) if len(starts) > 1 else ():
        while number < len(starts) and starts[number][0] < visible + len(word[0]):
            yield word.start() + max(0, starts[number][0] - visible), starts[number][1]
            number += 1
        visible += len(word[0])


def row_text(cells: Sequence[str]) -> str:
    """Return a row of a table with bars between its cells; an empty first cell becomes a dash."""
    text = " | ".join(cells).rstrip(" |")
    return f"–{text}" if text.startswith(" |") else text


class DocumentBuilder:
    """Takes blocks in order; `build` returns the document, whose `title` is by default its single top heading."""

    def __init__(self) -> None:
        self.title = ""
        self._parts: list[str] = []
        self._length = 0
        self._lines = 0
        self._blocks: list[Block] = []
        self._headings = HeadingStack()
        self._pages: list[int] = []
        self._new_pages = 0
        self._records: list[Record] = []
        self._new_record: str | None = None
        self.metadata: tuple[tuple[str, str], ...] = ()
        self._top = TopHeading()
        self._is_introduced = False
        self._new_anchor = ""
        self._anchors: list[tuple[int, str]] = []
        self._file_lines: list[tuple[int, int]] = []

    def begin_record(self, title: str) -> None:
        """Begin a record, a separate document, with the next block; its title may be ""."""
        self._new_record = heading_title(one_line(title))[:MAX_HEADING]

    def page(self, count: int = 1) -> None:
        """Begin a page with the next block; if `count` is above 1, the pages before it are empty."""
        self._new_pages += count

    def anchor(self, name: str) -> None:
        """Make the next block a link target."""
        self._new_anchor = name

    def heading(self, level: int, text: str, *, lines: Starts = ()) -> None:
        """Add a heading; `level` 1 is the outermost."""
        title = heading_title(one_line(text))
        if len(title) > MAX_HEADING:
            self.block(text, lines=lines)
        elif title:
            self.section(level, title)
            self._top.add(level, title)
            self._add(BlockKind.HEADING, one_line(text), lines=lines)

    def section(self, level: int, title: str) -> None:
        """Open a heading without adding it to the text; "" only closes headings of its level and below."""
        self._headings.push(level, one_line(title)[:MAX_HEADING])

    def block(
        self,
        text: str,
        kind: BlockKind = BlockKind.PARAGRAPH,
        depth: int = 0,
        *,
        lines: Starts = (),
        marker: str = "-",
    ) -> None:
        """Add a block; blank lines are dropped, except in code. Only a list item has a depth and a marker."""
        if kind is BlockKind.CODE:
            text = strip_control_characters(text).strip("\n").rstrip()
        else:
            text = one_line(text) if kind is BlockKind.ITEM else tidy_lines(text)
        if text.strip():
            lead = f"{'  ' * depth}{marker and f'{marker} '}" if kind is BlockKind.ITEM else ""
            self._add(kind, lead + text, depth, lines, count_visible(lead))

    def introduction(self, text: str) -> None:
        """Add a paragraph that introduces the next one, which is directly below it."""
        self.block(text)
        self._is_introduced = True

    def rows(self, rows: Sequence[Sequence[str]], *, lines: Sequence[int] = ()) -> None:
        """Add a table, one row per line; `lines` are the file lines on which the rows begin.

        An empty first cell, as above the names of rows, becomes a dash, which keeps each cell below its column's name.
        """
        texts = [row_text([one_line(cell) for cell in row]) for row in rows]
        offsets = accumulate((count_visible(text) for text in texts), initial=0)
        line_starts = [(start, line) for start, line, text in zip(offsets, lines, texts, strict=False) if text]
        self.block("\n".join(filter(None, texts)), BlockKind.TABLE, lines=line_starts)

    def table_part(self, text: str, *, first: bool) -> None:
        """Add the rows of a table on a page; unless they are its `first`, they continue it from an earlier page."""
        if first or not self._blocks:
            self.block(text, BlockKind.TABLE)
            return
        self._append("\n")
        self._begin_pages(self._length)
        self._append(tidy_lines(text))
        self._blocks[-1] = replace(self._blocks[-1], end=self._length)

    def preface(self, fields: Sequence[tuple[str, str]]) -> None:
        """Add names and values that belong to the headings above and do not make a passage themselves."""
        self._add(BlockKind.HEADING, "\n".join(f"{one_line(name)}: {tidy_lines(value)}" for name, value in fields))

    def front_matter(self, fields: Sequence[tuple[str, str]], *, lines: Sequence[int] = ()) -> None:
        """Add a file's metadata, names and values, as Markdown front matter; `lines` are the lines of each."""
        if fields:
            self.metadata = tuple(fields)
            texts = ["---", *(f"{name}: {value}" for name, value in fields), "---"]
            starts = list(accumulate(map(count_visible, texts[:-2]), initial=0))
            starts[:2] = [0]  # the line of dashes is not in the file
            self._add(BlockKind.DATA, "\n".join(texts), lines=list(zip(starts, lines, strict=False)))

    def fields(self, fields: Sequence[tuple[str, str]]) -> None:
        """Add names and values, one pair per line."""
        lines = [f"{one_line(name)}: {tidy_lines(value)}" if name else tidy_lines(value) for name, value in fields]
        self.block("\n".join(lines))

    def build(self, media_type: str, *, note: str = "", title: str | None = None) -> Extracted:
        """Return the document."""
        self._begin_pages(self._length)
        text = "".join(self._parts)
        blocks = fill_gaps(text, self._blocks)
        title = one_line(self.title or self._top.title if title is None else title)[:MAX_HEADING]
        records, lines = tuple(self._records), tuple(self._file_lines) or None
        pages, anchors = tuple(self._pages), tuple(self._anchors)
        return Extracted(text, title, blocks, pages, media_type, note, records, lines, anchors, self.metadata)

    def _add(self, kind: BlockKind, text: str, depth: int = 0, lines: Starts = (), added: int = 0) -> None:
        if self._blocks:
            is_compact = self._blocks[-1].kind is kind and (kind in _COMPACT or self._is_introduced)
            self._append("\n" if is_compact and not self._new_pages else "\n\n")
        self._is_introduced = False
        start = self._length
        self._begin_pages(start)
        if self._new_record is not None:
            self._records.append(Record(start if self._records else self._headings_above(start), self._new_record))
            self._new_record = None
        if self._new_anchor:
            self._anchors.append((start, self._new_anchor))
            self._new_anchor = ""
        self._file_lines.extend((start + at, line) for at, line in _locate(lines, text, added))
        self._append(text)
        self._blocks.append(Block(kind, start, self._length, self._headings.path, depth))

    def _headings_above(self, start: int) -> int:
        """Return the start of the headings directly above a position, or the position itself."""
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
            raise Unreadable(f"more than {MAX_BYTES // MIB} Mi characters of text")
        if self._lines > MAX_LINES:
            raise Unreadable(f"more than {MAX_LINES:,} lines of text")

    def _begin_pages(self, at: int) -> None:
        self._pages.extend([at] * self._new_pages)
        self._new_pages = 0
