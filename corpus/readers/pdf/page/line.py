"""A line of a PDF's page."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from corpus.readers.pdf.page.characters import Box


@dataclass(slots=True)
class Line:
    """Text on one baseline.

    Attributes:
        text: With `HYPHEN` at its end where a word continues in the next line.
        boxes: Of each character of `text`.
        size: Height of its font, in points.
        bold: Whether its font is bold.
        font: Name of the font that it begins in.
        gaps: How many wide gaps are in it, if it is short.
        column: Number of its column in reading order; 0 where the page has one.
        page: Number of its page, from 0.
        table: Number of the table on its page that it is a row of, with bars between cells; 0 for none.
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
