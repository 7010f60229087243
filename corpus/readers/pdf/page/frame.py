"""The visible part of a page, turned so that most of its text is upright."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from corpus.readers.pdf.page.characters import Box
from corpus.readers.pdf.page.line import Line

# The direction of a page's text is that of most of this many characters.
_SAMPLE = 64


class Frame(NamedTuple):
    """How many quarters a page is turned clockwise, then its visible part in points, and whether more was cropped."""

    turns: int
    left: float
    bottom: float
    width: float
    height: float
    is_cropped: bool

    def move(self, boxes: Sequence[Box]) -> Sequence[Box]:
        """Return boxes of the page as measured from the frame's lower left corner."""
        boxes = turn(boxes, self.turns)
        x, y = self.left, self.bottom
        return [(box[0] - x, box[1] - y, box[2] - x, box[3] - y) for box in boxes] if x or y else boxes

    def shows(self, line: Line) -> bool:
        """Whether a line was not cropped, like a printer's mark or the other half of a spread, by its middle."""
        is_inside = 0 <= line.left + line.right <= 2 * self.width and 0 <= line.bottom + line.top <= 2 * self.height
        return is_inside or not self.is_cropped  # long lines of code may run over the edge of the paper


def find_frame(page: Any, text: Any, count: int) -> Frame:
    """Return the frame of a `pypdfium2.PdfPage` with `count` characters on its text page."""
    sample = range(0, count, max(1, count // _SAMPLE))
    directions = Counter(round(pdfium.FPDFText_GetCharAngle(text, i) / (math.pi / 2)) % 4 for i in sample)
    turns = -max(directions, key=directions.__getitem__, default=0) % 4  # angles are clockwise
    ((left, bottom, right, top),) = turn([page.get_bbox()], turns)
    return Frame(turns, left, bottom, right - left, top - bottom, page.get_cropbox() != page.get_mediabox())


def turn(boxes: Sequence[Box], turns: int) -> Sequence[Box]:
    """Return boxes after so many quarter turns clockwise around the corner from which they are measured."""
    for _ in range(turns):
        boxes = [(bottom, -right, top, -left) for left, bottom, right, top in boxes]
    return boxes
