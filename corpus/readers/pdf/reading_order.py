"""The lines of a PDF's page in reading order."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2.raw as pdfium

from corpus.readers.pdf.bands import COLUMN_GAP
from corpus.readers.pdf.columns import in_reading_order
from corpus.readers.pdf.page.characters import Box, read_characters
from corpus.readers.pdf.page.frame import Frame, find_frame
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.page.line_numbers import Run, drop_line_numbers
from corpus.readers.pdf.page.rules import cut_at_columns, find_rules
from corpus.readers.pdf.page.superscripts import join_scripts
from corpus.readers.pdf.page.tables import join_tables

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
# The codes of bullets in LaTeX and Windows fonts that do not name their characters.
_BULLETS = "\x0f\x88\x95"
_LINE_END = re.compile(r"[\r\n]")
_UNTIDY = re.compile(rf"[^\S ]|[ ]{{2}}|[{''.join(_LIGATURES)}]")
_BOLD = re.compile(rb"bold|black|heavy|medi|demi|cmbx|-bx", re.IGNORECASE)
# In points: a smaller gap never splits a line.
_SPLIT = 6.7
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
    drawing = find_rules(page, frame)
    pieces = [
        part for piece in join_scripts(_without_watermark(pieces)) for part in cut_at_columns(piece, drawing.tables)
    ]
    lines = tuple(in_reading_order(pieces, frame.width, drawing))
    for line in lines:
        line.page = number
    turns = (page.get_rotation() // 90 - frame.turns) % 4
    return PageLines(tuple(join_tables(lines, drawing)), frame.width, frame.height, turns)


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
    return is_above_or_below or box[0] - before[2] > COLUMN_GAP * height or before[0] - box[0] > 2 * height


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
