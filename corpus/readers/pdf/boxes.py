"""Locate texts on the pages of a PDF."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby

from corpus.readers.pdf.page.characters import Box
from corpus.readers.pdf.page.frame import turn
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.pdf import open_document, open_page
from corpus.readers.pdf.reading_order import PageLines, read_page
from corpus.types import PageBox

# Places after the point to which boxes are rounded.
_DIGITS = 1
# The most parts of a text, and the fewest letters and digits of each part but the last.
_MAX_PARTS, _MIN_PART = 4, 8


def find_boxes(data: bytes, texts: Sequence[tuple[int, str]]) -> list[list[PageBox]]:
    """Return for each text one box per line, or none if it is not found.

    Only letters and digits are compared, as hyphens and blanks differ from those on the page.

    Args:
        data: The PDF.
        texts: The page on which each text begins, from 1, and the text itself; it may end on the next page.
    """
    document = open_document(data)
    try:
        numbers = {page + offset for page, _ in texts for offset in (-1, 0)}
        numbers = {number for number in numbers if 0 <= number < len(document)}
        pages = {number: read_page(open_page(document, number), number) for number in numbers}
        boxes: list[list[PageBox]] = []
        for page, text in texts:
            matched = _find_lines(text, [line for at in (page - 1, page) if at in pages for line in pages[at].lines])
            boxes.append([(number + 1, *_enclosing_box(pages[number], char_boxes)) for number, char_boxes in matched])
        return boxes
    finally:
        document.close()


def _enclosing_box(page: PageLines, char_boxes: Sequence[Box]) -> tuple[float, float, float, float]:
    """Return the box around characters, from the upper left corner of the page as it is shown."""
    lefts, bottoms, rights, tops = zip(*char_boxes, strict=True)
    box = (min(lefts), min(bottoms), max(rights), max(tops))
    (x, _, _, y), (left, bottom, right, top) = turn([(0, 0, page.width, page.height), box], page.turns)
    return round(left - x, _DIGITS), round(y - top, _DIGITS), round(right - x, _DIGITS), round(y - bottom, _DIGITS)


def _find_lines(text: str, lines: Sequence[Line]) -> Iterator[tuple[int, list[Box]]]:
    """Yield the page, from 0, and the boxes of the letters and digits of a text in each of its lines."""
    characters = [(line, i) for line in lines for i in _alphanumeric_indices(line.text)]
    wanted = "".join(text[i].lower() for i in _alphanumeric_indices(text))
    spans = _find_spans("".join(line.text[i].lower() for line, i in characters), wanted)
    matches = [character for start, end in spans for character in characters[start:end]]
    for (_, line), group in groupby(matches, key=lambda character: (id(character[0]), character[0])):
        yield line.page, [line.boxes[i] for _, i in group]


def _find_spans(page: str, text: str) -> list[tuple[int, int]]:
    """Find a text on a page, if need be in parts: a running head, a note or a figure may interrupt it."""
    spans: list[tuple[int, int]] = []
    at = 0
    while text:
        # If a text is found, so is each of its beginnings.
        length = bisect_left(range(1, len(text) + 1), x=True, key=lambda end: page.find(text[:end], at) < 0)
        if length < min(len(text), _MIN_PART) or len(spans) == _MAX_PARTS:
            return []
        start = page.find(text[:length], at)
        at = start + length
        spans.append((start, at))
        text = text[length:]
    return spans


def _alphanumeric_indices(text: str) -> list[int]:
    """Indices of letters and digits whose lower case is a single character."""
    return [i for i, letter in enumerate(text) if letter.isalnum() and len(letter.lower()) == 1]
