"""Build a document line by line, with the line of the file that each comes from."""

from __future__ import annotations

from corpus.readers.assemble.document_builder import one_line
from corpus.readers.assemble.gaps import fill_gaps
from corpus.text.headings import MAX_HEADING, HeadingStack, heading_title
from corpus.types import Block, BlockKind, Extracted, Record


class LineBuilder:
    """Takes the lines of a file in order; runs of lines form blocks. `title` is the title of the document, or "".

    Each line comes from the next line of the file, unless `go_to` sets another.
    """

    def __init__(self) -> None:
        self.title = ""
        self._lines: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._headings = HeadingStack()
        self._records: list[Record] = []
        self._start: int | None = None
        self._kind = BlockKind.PARAGRAPH
        self._number = 1
        self._file_lines: list[tuple[int, int]] = []
        self._has_every_line = True

    def go_to(self, number: int) -> None:
        """Set the file line, from 1, that the next line comes from."""
        self._has_every_line &= number == self._number
        self._number = number

    def begin_record(self, title: str) -> None:
        """Begin a record, a separate document, with the next line; its title may be ""."""
        self.end_block()
        self._records.append(Record(self._length, one_line(title)))

    def line(self, text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> None:
        """Add a line to the current block; a blank line, another kind or a new item ends the block."""
        text = one_line(text)
        if self._start is not None and (not text or kind is not self._kind or kind is BlockKind.ITEM):
            self.end_block()
        if text and self._start is None:
            self._start, self._kind = self._length, kind
        self._append(text)

    def heading(self, level: int, text: str) -> None:
        """Add a line that is a heading; `level` 1 is the outermost."""
        self.end_block()
        line = one_line(text)
        if title := heading_title(line)[:MAX_HEADING]:
            path = self._headings.push(level, title)
            self._blocks.append(Block(BlockKind.HEADING, self._length, self._length + len(line), path))
        self._append(line)

    def section(self, level: int, title: str) -> None:
        """Open a heading without adding it to the text; "" only closes headings of its level and below."""
        self.end_block()
        self._headings.push(level, title)

    def end_block(self) -> None:
        """End the current block."""
        if self._start is not None:
            self._blocks.append(Block(self._kind, self._start, self._length, self._headings.path))
            self._start = None

    def build(self, media_type: str, *, note: str = "") -> Extracted:
        """Return the document."""
        self.end_block()
        text = "".join(self._lines)
        blocks = fill_gaps(text, self._blocks)
        lines = () if self._has_every_line else tuple(self._file_lines)
        return Extracted(text, self.title, blocks, (), media_type, note, tuple(self._records), lines)

    def _append(self, text: str) -> None:
        self._file_lines.append((self._length, self._number))
        self._number += 1
        self._lines.append(text + "\n")
        self._length += len(text) + 1
