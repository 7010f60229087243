"""Lines of a PDF's page."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from corpus.readers.pdf.page.characters import Box


@dataclass(slots=True)
class Line:
    """Text on one baseline.

    Attributes:
        text: The text, which ends in `HYPHEN` if a word continues on the next line.
        boxes: Box of each character of `text`.
        size: Height of its font, in points.
        bold: Whether its font is bold.
        font: Name of the font in which it begins.
        gaps: Number of wide gaps in it, if it is short.
        column: Number of its column in reading order; 0 on a page with a single column.
        page: Number of its page, from 0.
        table: The table's number on the page if the line is a row, with bars between cells; else 0.
        left: Where its first character begins.
        right: Where its last character ends.
        bottom: Median lower edge of its characters.
        top: Its upper edge.
    """

    text: str
    boxes: list[Box]
    size: float
    bold: bool
    font: str = ""
    gaps: int = 0
    column: int = 0
    page: int = 0
    table: int = 0
    left: float = field(init=False)
    right: float = field(init=False)
    bottom: float = field(init=False)
    top: float = field(init=False)

    def __post_init__(self) -> None:
        self.left, self.right = self.boxes[0][0], self.boxes[-1][2]
        self.bottom = median(box[1] for box in self.boxes)
        self.top = self.bottom + self.size

    def overlaps(self, line: Line) -> bool:
        """Whether the baseline of another line crosses this line's box, or begins or ends within it."""
        return self.bottom <= line.bottom < self.top and self.left < line.right and line.left < self.right
