"""The lines of a PDF's page in reading order."""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2.raw as pdfium

from corpus.readers.pdf.page.characters import Box, read_characters
from corpus.readers.pdf.page.frame import Frame, find_frame
from corpus.readers.pdf.page.grouping import group_if
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.page.line_numbers import Run, drop_line_numbers
from corpus.readers.pdf.page.rules import find_rules
from corpus.readers.pdf.page.superscripts import join_scripts, separate_marks
from corpus.readers.pdf.page.tables import join_tables

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
# The codes of bullets in LaTeX and Windows fonts that do not name their characters.
_BULLETS = "\x0f\x88\x95"
_LINE_END = re.compile(r"[\r\n]")
_UNTIDY = re.compile(rf"[^\S ]|[ ]{{2}}|[{''.join(_LIGATURES)}]")
_BOLD = re.compile(rb"bold|black|heavy|medi|demi|cmbx|-bx", re.IGNORECASE)
# In line heights: the smallest gap between columns, and between baselines.
_COLUMN_GAP, _BASELINE_GAP = 1.2 * 1.4, 0.4
# In points: a smaller gap never splits a line; lines with left edges this close share an edge.
_SPLIT, _EDGE = 6.7, 8
# A page has two columns if each has at least this share of its text, and at most this share crosses the gutter.
_MIN_SIDE, _MAX_ACROSS = 0.15, 0.4
# The right column of a last page may have less, if hardly any text crosses the gutter.
_LAST_SIDE, _LAST_ACROSS = 0.03, 0.1
# Where the gutters between three columns lie, as shares of the width of the text.
_THIRDS = ((0.28, 0.39), (0.61, 0.72))
# More than this share of a column's text begins at its edge.
_ALIGNED, _LAST_ALIGNED = 0.35, 0.6
# Full lines of a column are wider than this share of the page.
_COLUMN_LINE = 0.18
# A watermark is this many times larger than most text, and its box has more than this many pieces, including itself.
_WATERMARK, _UNDER = 3.0, 3
_FONT_NAME_BYTES = 100
# The sine of the largest angle of a line, such as one of a crooked scan.
_TILTED = 0.3


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of a page in reading order.

    Attributes:
        lines: The lines, measured from the page's lower left corner when their text is upright.
        width: Its width in points, then.
        height: Its height in points, then.
        turns: How many quarters it is turned clockwise from there when it is shown.
    """

    lines: tuple[Line, ...]
    width: float
    height: float
    turns: int


def read_page(page: Any, number: int) -> PageLines:
    """Return the lines of a `pypdfium2.PdfPage`, numbered from 0."""
    text = page.get_textpage()
    try:
        frame = find_frame(page, text.raw, text.count_chars())
        pieces = [piece for piece in _pieces(text.raw, text.count_chars(), frame) if frame.shows(piece)]
    finally:
        text.close()
    lines = tuple(_in_reading_order(join_scripts(_without_watermark(pieces)), frame.width))
    for line in lines:
        line.page = number
    turns = (page.get_rotation() // 90 - frame.turns) % 4
    return PageLines(tuple(join_tables(lines, partial(find_rules, page, frame))), frame.width, frame.height, turns)


def _pieces(page: Any, count: int, frame: Frame) -> Iterator[Line]:
    """Yield runs of characters in drawing order, cut at line ends and wide gaps."""
    letters, page_boxes = read_characters(page, count)
    boxes = frame.move(page_boxes)
    for first, end in drop_line_numbers(list(_runs(letters, boxes)), letters, boxes):
        yield from _tidy_run(page, letters[first:end], boxes[first:end], first, frame.turns)


def _without_watermark(pieces: list[Line]) -> list[Line]:
    """Drop large words drawn across other text; rotated ones were dropped before."""
    min_size = _WATERMARK * median(piece.size for piece in pieces) if pieces else 0.0
    watermark = [piece for piece in pieces if piece.size > min_size and sum(map(piece.overlaps, pieces)) > _UNDER]
    return [piece for piece in pieces if piece not in watermark] if watermark else pieces


def _runs(letters: str, boxes: Sequence[Box]) -> Iterator[Run]:
    gaps = [i for i, (a, b) in enumerate(pairwise(boxes), 1) if b[0] - a[2] > _SPLIT or a[0] - b[0] > _SPLIT]
    first = 0
    for i in sorted({*gaps, *(match.start() for match in _LINE_END.finditer(letters))}):
        is_line_end = letters[i] in "\r\n"
        if first < i and (is_line_end or _is_apart(boxes[i - 1], boxes[i])):
            yield first, i
            first = i
        if is_line_end:
            first = i + 1
    if first < len(letters):
        yield first, len(letters)


def _is_apart(before: Box, box: Box) -> bool:
    """Whether a character is far right of the one before it, left of it, or on another line."""
    height = max(box[3] - box[1], before[3] - before[1], 4.0)
    if box[2] <= box[0] or before[2] <= before[0]:  # a space that PDFium inserted
        return False
    is_above_or_below = before[1] > box[3] + height or box[1] > before[3] + height
    return is_above_or_below or box[0] - before[2] > _COLUMN_GAP * height or before[0] - box[0] > 2 * height


def _tidy_run(page: Any, letters: str, char_boxes: Sequence[Box], first: int, turns: int) -> Iterator[Line]:
    """Yield the run that begins at character `first`, unless it is blank, or still rotated after the page's turns."""
    text, boxes = _tidy(letters, char_boxes)
    if not text:
        return
    count = len(letters)
    angle = pdfium.FPDFText_GetCharAngle(page, first + count // 2) + turns * math.pi / 2
    if count > 2 and abs(math.sin(angle)) > _TILTED:
        return  # such as a preprint's number along the margin
    bold = all(_is_bold(page, first + place) for place in (0, count // 2, max(0, count - 2)))
    font = _font(page, first).decode(errors="replace")
    yield Line(text, boxes, _font_height(page, range(first, first + count), text, turns), bold, font)


def _tidy(letters: str, char_boxes: Sequence[Box]) -> tuple[str, list[Box]]:
    """Strip and collapse spaces and expand ligatures; the boxes match the new characters."""
    text = letters.rstrip()
    start = len(text) - len(text.lstrip())
    text, char_boxes = text[start:], char_boxes[start : len(text)]
    if text and text[0] in _BULLETS:
        text = f"•{text[1:]}"
    if not _UNTIDY.search(text):
        return text, list(char_boxes)
    tidied: list[str] = []
    boxes: list[Box] = []
    for character, box in zip(text, char_boxes, strict=True):
        for letter in _LIGATURES.get(character, character):
            if letter.isspace() and tidied[-1] == " ":
                continue
            tidied.append(" " if letter.isspace() else letter)
            boxes.append(box)
    return "".join(tidied), boxes


def _font_height(page: Any, characters: range, text: str, turns: int) -> float:
    """Median height of a sample of characters; the largest for capitals, which may be in two sizes."""
    box = pdfium.FS_RECTF()
    heights = []
    for i in characters[:: max(1, len(characters) // 8)]:
        pdfium.FPDFText_GetLooseCharBox(page, i, box)
        height = box.right - box.left if turns % 2 else box.top - box.bottom
        if height > 0:
            heights.append(height)
    if not heights:
        return 10.0
    return float(max(heights) if text.isupper() else median(heights))


def _is_bold(page: Any, character: int) -> bool:
    return bool(_BOLD.search(_font(page, character))) or pdfium.FPDFText_GetFontWeight(page, character) >= 600


def _font(page: Any, character: int) -> bytes:
    """The name of a character's font, without the tag of a subset."""
    name = ctypes.create_string_buffer(_FONT_NAME_BYTES)
    pdfium.FPDFText_GetFontInfo(page, character, name, _FONT_NAME_BYTES, ctypes.byref(ctypes.c_int()))
    return name.value.rpartition(b"+")[2]


def _in_reading_order(pieces: list[Line], width: float) -> Iterator[Line]:
    """Yield lines in reading order: between the lines across columns, column by column from left to right."""
    gutters = _find_gutters(pieces, width)
    if not gutters:
        yield from _join_pieces(pieces)
        return
    pieces_across, pieces_in_columns = _split_at_gutters(pieces, gutters)
    lines_across = list(_join_pieces(pieces_across))
    edges = [float("inf"), *(line.bottom for line in lines_across), float("-inf")]
    column = 1
    for i, (above, below) in enumerate(pairwise(edges)):
        band = [piece for piece in pieces_in_columns if below < piece.bottom <= above]
        for n in range(len(gutters) + 1):
            column += bool(band)
            for line in _join_pieces(piece for piece in band if bisect(gutters, (piece.left + piece.right) / 2) == n):
                line.column = column
                yield line
        # Consecutive lines across columns count as one column.
        column += bool(band)
        if i < len(lines_across):
            lines_across[i].column = column
            yield lines_across[i]


def _split_at_gutters(pieces: Sequence[Line], gutters: Sequence[float]) -> tuple[list[Line], list[Line]]:
    """Split pieces into those of lines that cross a gutter, and all others."""
    across = [piece for piece in pieces if any(piece.left < x - 4 and piece.right > x + 4 for x in gutters)]
    others = [piece for piece in pieces if piece not in across]
    for piece in across:  # also visits the pieces appended below
        beside = [candidate for candidate in others if _is_beside(candidate, piece)]
        others = [candidate for candidate in others if candidate not in beside]
        across += beside
    return across, others


def _is_beside(piece: Line, neighbour: Line) -> bool:
    """Whether two pieces are next to each other on the same baseline."""
    height = min(piece.size, neighbour.size)
    gap = max(piece.left - neighbour.right, neighbour.left - piece.right)
    return abs(piece.bottom - neighbour.bottom) < _BASELINE_GAP * height and gap < _COLUMN_GAP * height


def _find_gutters(pieces: Sequence[Line], width: float) -> list[float]:
    """Return the x of each gap between columns; none for a single column."""
    if len(pieces) < 8:
        return []
    total = sum(len(piece.text) for piece in pieces)
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    (at_x, x), (at_y, y) = (_find_gap(pieces, left, right - left, *between) for between in _THIRDS)
    columns: list[list[Line]] = [[], [], []]
    for piece in pieces:
        columns[bisect((x, y), (piece.left + piece.right) / 2)].append(piece)
    if max(at_x, at_y) <= _MAX_ACROSS / 2 * total and all(_is_third(column, total, right - left) for column in columns):
        return [x, y]
    gutter = _find_gutter(pieces, total, width)
    return [] if gutter is None else [gutter]


def _is_third(pieces: Sequence[Line], total: int, width: float) -> bool:
    return sum(len(piece.text) for piece in pieces) >= _MIN_SIDE * total and _is_column(pieces, width, _ALIGNED)


def _find_gap(pieces: Sequence[Line], left: float, width: float, first: float, last: float) -> tuple[int, float]:
    """Return the number of characters that cross x, and the x that the fewest cross, between two shares of a width."""
    spans = [(piece.left, piece.right, len(piece.text)) for piece in pieces]

    def count_crossing(x: float) -> int:
        return sum([length for begin, end, length in spans if begin < x - 1 and end > x + 1])

    candidates = [left + width * (first + 0.005 * step) for step in range(round((last - first) / 0.005) + 1)]
    crossing, _, x = min((count_crossing(x), abs(x - left - width * (first + last) / 2), x) for x in candidates)
    return crossing, x


def _find_gutter(pieces: Sequence[Line], total: int, width: float) -> float | None:
    """Return the x of the gap between two columns, or None for one column; the page has `total` characters."""
    crossing, x = _find_gap(pieces, 0.0, width, 0.35, 0.65)
    if crossing > _MAX_ACROSS * total:
        return None
    right = [piece for piece in pieces if piece.left >= x - 1]
    left_characters = sum(len(piece.text) for piece in pieces if piece.right <= x + 1)
    smaller = min(left_characters, sum(len(piece.text) for piece in right))
    is_short = smaller < _MIN_SIDE * total
    if is_short and (smaller < _LAST_SIDE * total or _count_across(pieces, right, x, width) > _LAST_ACROSS * total):
        return None
    return x if _is_column(right, width, _LAST_ALIGNED if is_short else _ALIGNED) else None


def _count_across(pieces: Sequence[Line], right: Sequence[Line], x: float, width: float) -> int:
    """Count the characters across a gutter, except those above both columns, such as a title."""
    top = float("inf")
    if _is_column([piece for piece in pieces if piece.right <= x + 1], width, _LAST_ALIGNED):
        top = max((piece.top for piece in right if piece.right - piece.left > _COLUMN_LINE * width), default=top)
    below = [piece for piece in pieces if piece.bottom < top]
    return sum(len(piece.text) for piece in below if piece.left < x - 1 and piece.right > x + 1)


def _is_column(pieces: Sequence[Line], width: float, aligned: float) -> bool:
    """Whether more than a share `aligned` of the text is in long lines at one left edge; cells of tables are short."""
    total = sum(len(piece.text) for piece in pieces)
    edges: Counter[int] = Counter()
    for piece in pieces:
        if piece.right - piece.left > _COLUMN_LINE * width:
            edges[int(piece.left // _EDGE)] += len(piece.text)
    return max((count + edges[edge + 1] for edge, count in list(edges.items())), default=0) > aligned * total


def _join_pieces(pieces: Iterable[Line]) -> Iterator[Line]:
    """Return lines from top to bottom, each with the pieces on its baseline from left to right."""
    ordered = sorted(pieces, key=lambda piece: -piece.bottom)
    gap = _BASELINE_GAP
    rows = group_if(ordered, lambda row, piece: row[0].bottom - piece.bottom <= gap * min(row[0].size, piece.size))
    return map(_merge_row, rows)


def _merge_row(row: list[Line]) -> Line:
    row.sort(key=lambda piece: piece.left)
    first, *following = row
    if not following:
        return separate_marks(first, row)
    text, boxes = first.text, list(first.boxes)
    for piece in following:
        text += " " + piece.text
        boxes += [(boxes[-1][2], piece.boxes[0][1], piece.left, piece.boxes[0][3]), *piece.boxes]
    return separate_marks(Line(text, boxes, first.size, all(piece.bold for piece in row), first.font), row)
