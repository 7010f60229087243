"""Put a text together line by line, so that its lines have the numbers that they have in the file."""

from __future__ import annotations

from corpus.readers.assemble.coverage import fill_gaps
from corpus.readers.assemble.document_builder import one_line
from corpus.text.headings import LONGEST_HEADING, heading_title
from corpus.types import Block, BlockKind, Extracted, Record


class LineBuilder:
    """Takes every line of a file in order; blocks are runs of lines.

    Attributes:
        title: The document's title, or "".
    """

    def __init__(self) -> None:
        self.title = ""
        self._lines: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._open: list[tuple[int, str]] = []
        self._records: list[Record] = []
        self._start: int | None = None
        self._kind = BlockKind.PARAGRAPH

    def begin(self, title: str) -> None:
        """Begin a record with the next line: a document of its own, titled "" where it states no title."""
        self.end_block()
        self._records.append(Record(self._length, one_line(title)))

    def line(self, text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> None:
        """The next line, part of a paragraph or of another kind of block; a blank one ends it."""
        text = one_line(text)
        if self._start is not None and (not text or kind is not self._kind or kind is BlockKind.ITEM):
            self.end_block()
        if text and self._start is None:
            self._start, self._kind = self._length, kind
        self._append(text)

    def heading(self, level: int, text: str) -> None:
        """The next line, a heading; `level` 1 is the outermost."""
        self.end_block()
        words = heading_title(one_line(text))[:LONGEST_HEADING]
        if words:
            self.under(level, words)
            path = tuple(title for _, title in self._open)
            self._blocks.append(Block(BlockKind.HEADING, self._length, self._length + len(one_line(text)), path))
        self._append(one_line(text))

    def under(self, level: int, words: str) -> None:
        """Open a heading that does not stand in the text as such; "" only closes those of its level."""
        self.end_block()
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        if words:
            self._open.append((level, words))

    def end_block(self) -> None:
        """What comes next is another block."""
        if self._start is not None:
            path = tuple(title for _, title in self._open)
            self._blocks.append(Block(self._kind, self._start, self._length, path))
            self._start = None

    def build(self, media_type: str, *, note: str = "") -> Extracted:
        """The document that was put together."""
        self.end_block()
        text = "".join(self._lines)
        blocks = fill_gaps(text, self._blocks)
        return Extracted(text, self.title, blocks, (), media_type, note, tuple(self._records))

    def _append(self, text: str) -> None:
        self._lines.append(text + "\n")
        self._length += len(text) + 1
