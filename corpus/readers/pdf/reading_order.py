"""The lines of one page of a PDF, in the order in which a person reads them."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2.raw as pdfium

from corpus.readers.pdf.characters import Box, characters

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_LINE_END = re.compile(r"[\r\n]")
_UNTIDY = re.compile(rf"[^\S ]|[ ]{{2}}|[{''.join(_LIGATURES)}]")
_BOLD = re.compile(rb"bold|black|heavy|medi|demi|cmbx|-bx", re.IGNORECASE)
# In line heights: a wider gap is more than one between words, and columns are no closer than that.
_WIDE = 1.2
_SAME_LINE = 0.4
# Points: characters no further apart than this are never apart.
_NEAR = 6.7
# A page has two columns where so much of its text stands in each, and no more than that across both.
_LEAST_SIDE, _MOST_ACROSS = 0.15, 0.4
# In line heights: a gap between the cells of a table is wider.
_CELL = 1.0
# Longer lines are no headings, and nobody asks for their gaps.
_SHORT = 160
# Points: lines that begin so near to one another begin at the same edge.
_EDGE = 8
_NAME_BYTES = 100


@dataclass(slots=True)
class Line:
    """Some text on one baseline.

    Attributes:
        text: With `HYPHEN` at its end where a word goes on in the next line.
        boxes: Of each character of `text`: left, bottom, right, top in points from the page's lower left corner.
        size: Height of its font, in points.
        bold: Whether its font is a bold one.
        font: Name of the font that it begins in.
        gaps: How many wide gaps are in it, if it is short.
        column: Number of the column in reading order; 0 where the page has one.
        page: Number of the page, from 0.
        bottom: The baseline, nearly.
    """

    text: str
    boxes: list[Box]
    size: float
    bold: bool
    font: str = ""
    gaps: int = 0
    column: int = 0
    page: int = 0
    bottom: float = field(init=False)

    def __post_init__(self) -> None:
        self.settle()

    def settle(self) -> None:
        """Find the baseline anew, as the boxes are others."""
        self.bottom = median(box[1] for box in self.boxes)

    def forget(self) -> None:
        """Keep of the boxes only where the line begins and ends: a book has millions of them."""
        left, right, bottom, top = self.left, self.right, self.bottom, self.top
        self.boxes = [(left, bottom, left, top), (right, bottom, right, top)]

    @property
    def left(self) -> float:
        """Where its first character begins."""
        return self.boxes[0][0]

    @property
    def right(self) -> float:
        """Where its last character ends."""
        return self.boxes[-1][2]

    @property
    def top(self) -> float:
        """Its upper edge."""
        return self.bottom + self.size


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page: its lines in reading order, and its size in points."""

    lines: tuple[Line, ...]
    width: float
    height: float


def read_page(page: Any, number: int) -> Sheet:
    """Take the lines out of a page of a `pypdfium2.PdfDocument`."""
    width, height = page.get_size()
    text = page.get_textpage()
    try:
        pieces = list(_pieces(text.raw, text.count_chars()))
    finally:
        text.close()
    lines = tuple(_in_order(pieces, width))
    for line in lines:
        line.page = number
        line.gaps = _wide_gaps(line)
    return Sheet(lines, width, height)


def _wide_gaps(line: Line) -> int:
    if len(line.text) > _SHORT:
        return 0
    solid = [box for letter, box in zip(line.text, line.boxes, strict=True) if letter != " "]
    wide = _CELL * line.size
    return sum([after[0] - before[2] > wide for before, after in pairwise(solid)])


def _pieces(page: Any, count: int) -> Iterator[Line]:
    """Runs of characters on a line, cut at wide gaps, in the order in which the page draws them."""
    letters, boxes = characters(page, count)
    wide = [i for i, (one, two) in enumerate(pairwise(boxes), 1) if two[0] - one[2] > _NEAR or one[0] - two[0] > _NEAR]
    first = 0
    for i in sorted({*wide, *(found.start() for found in _LINE_END.finditer(letters))}):
        ends = letters[i] in "\r\n"
        if first < i and (ends or _is_apart(boxes[i - 1], boxes[i])):
            yield from _piece(page, letters[first:i], boxes[first:i], first)
            first = i
        if ends:
            first = i + 1
    if first < len(letters):
        yield from _piece(page, letters[first:], boxes[first:], first)


def _is_apart(before: Box, box: Box) -> bool:
    """Whether a character stands far behind the one before it, or back at the left."""
    height = max(box[3] - box[1], before[3] - before[1], 4.0)
    if box[2] <= box[0] or before[2] <= before[0]:  # a blank that the library put in
        return False
    return box[0] - before[2] > _WIDE * height * 1.4 or before[0] - box[0] > 2 * height


def _piece(page: Any, found: str, places: list[Box], first: int) -> Iterator[Line]:
    text, boxes = _tidied(found, places)
    if not text:
        return
    middle = first + len(found) // 2
    if abs(pdfium.FPDFText_GetCharAngle(page, middle) % 3.1415) > 0.3 and len(found) > 2:
        return  # such as the number of a preprint along the margin
    height = _height(page, range(first, first + len(found)), text)
    yield Line(text, boxes, height, _all_bold(page, first, len(found)), _font(page, first).decode(errors="replace"))


def _tidied(found: str, places: list[Box]) -> tuple[str, list[Box]]:
    """Characters with their boxes, of blanks one at a time and none at the ends, ligatures as their letters."""
    text = found.rstrip()
    begin = len(text) - len(text.lstrip())
    text, places = text[begin:], places[begin : len(text)]
    if not _UNTIDY.search(text):
        return text, places
    characters: list[str] = []
    boxes: list[Box] = []
    for character, box in zip(text, places, strict=True):
        for one in _LIGATURES.get(character, character):
            if one.isspace() and characters[-1] == " ":
                continue
            characters.append(" " if one.isspace() else one)
            boxes.append(box)
    return "".join(characters), boxes


def _height(page: Any, characters: range, text: str) -> float:
    """The font's height, of characters that have one; of capitals in two sizes the larger."""
    box = pdfium.FS_RECTF()
    heights = []
    for i in characters[:: max(1, len(characters) // 8)]:
        pdfium.FPDFText_GetLooseCharBox(page, i, box)
        if box.top > box.bottom:
            heights.append(box.top - box.bottom)
    if not heights:
        return 10.0
    return float(max(heights) if text.isupper() else median(heights))


def _all_bold(page: Any, first: int, count: int) -> bool:
    """Whether a line begins, goes on and ends in bold type."""
    return all(_is_bold(page, first + place) for place in (0, count // 2, max(0, count - 2)))


def _is_bold(page: Any, character: int) -> bool:
    return bool(_BOLD.search(_font(page, character))) or pdfium.FPDFText_GetFontWeight(page, character) >= 600


def _font(page: Any, character: int) -> bytes:
    """The name of a character's font, without the mark of those that hold only some of their letters."""
    name = ctypes.create_string_buffer(_NAME_BYTES)
    flags = ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(page, character, name, _NAME_BYTES, ctypes.byref(flags))
    return name.value.rpartition(b"+")[2]


def _in_order(pieces: list[Line], width: float) -> Iterator[Line]:
    gutter = _gutter(pieces, width)
    if gutter is None:
        yield from _joined(pieces)
        return
    across = list(_joined(piece for piece in pieces if piece.left < gutter - 4 and piece.right > gutter + 4))
    sides = [piece for piece in pieces if not (piece.left < gutter - 4 and piece.right > gutter + 4)]
    edges = [line.bottom for line in across]
    column = 1
    for i in range(len(across) + 1):
        above = edges[i - 1] if i else float("inf")
        below = edges[i] if i < len(across) else float("-inf")
        band = [piece for piece in sides if below < piece.bottom <= above]
        for side in (True, False):
            column += bool(band)
            for line in _joined(piece for piece in band if (_middle(piece) < gutter) == side):
                line.column = column
                yield line
        # Lines across both columns that follow one another are one column.
        column += bool(band)
        if i < len(across):
            across[i].column = column
            yield across[i]


def _middle(piece: Line) -> float:
    return (piece.left + piece.right) / 2


def _gutter(pieces: Sequence[Line], width: float) -> float | None:
    """Where the gap between two columns is, or None where the page has one column."""
    total = sum(len(piece.text) for piece in pieces)
    if len(pieces) < 8:
        return None
    spans = [(piece.left, piece.right, len(piece.text)) for piece in pieces]
    best: tuple[int, float, float] | None = None
    for step in range(61):
        x = width * (0.35 + 0.005 * step)
        left, right = x - 1, x + 1
        across = sum([length for begin, end, length in spans if begin < left and end > right])
        if best is None or (across, abs(x - width / 2)) < best[:2]:
            best = across, abs(x - width / 2), x
    if best is None or best[0] > _MOST_ACROSS * total:
        return None
    x = best[2]
    behind = [piece for piece in pieces if piece.left >= x - 1]
    ahead = sum(length for _, end, length in spans if end <= x + 1)
    if min(ahead, sum(len(piece.text) for piece in behind)) < _LEAST_SIDE * total:
        return None
    return x if _is_column(behind, width) else None


def _is_column(pieces: Sequence[Line], width: float) -> bool:
    """Whether most of the text begins at one edge, in long lines; cells of a table do so too, but are short."""
    total = sum(len(piece.text) for piece in pieces)
    edges: Counter[int] = Counter()
    for piece in pieces:
        if piece.right - piece.left > 0.18 * width:
            edges[int(piece.left // _EDGE)] += len(piece.text)
    return max((count + edges[edge + 1] for edge, count in list(edges.items())), default=0) > 0.35 * total


def _joined(pieces: Iterable[Line]) -> Iterator[Line]:
    """Lines from top to bottom, pieces on the same baseline put together from left to right."""
    row: list[Line] = []
    for piece in sorted(pieces, key=lambda piece: -piece.bottom):
        if row and row[0].bottom - piece.bottom > _SAME_LINE * min(row[0].size, piece.size):
            yield _one(row)
            row = []
        row.append(piece)
    if row:
        yield _one(row)


def _one(row: list[Line]) -> Line:
    row.sort(key=lambda piece: piece.left)
    line = row[0]
    for piece in row[1:]:
        line.text += " " + piece.text
        line.boxes += [(line.right, piece.boxes[0][1], piece.left, piece.boxes[0][3]), *piece.boxes]
    if len(row) > 1:
        longest = max(row, key=lambda piece: len(piece.text))
        line.size, line.bold = longest.size, all(piece.bold for piece in row)
        line.settle()
    return line
