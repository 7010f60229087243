"""Locate texts on the pages of a PDF."""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pypdfium2.raw as pdfium

from corpus.readers.pdf.page.characters import Box
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.pdf import open_document
from corpus.readers.pdf.reading_order import read_page
from corpus.types import PageBox

# Device units per point: PDFium rounds to whole units.
_UNITS = 10
# The most parts of a text, and the fewest letters and digits of each but the last.
_MAX_PARTS, _MIN_PART = 4, 8


def boxes(data: bytes, wanted: Sequence[tuple[int, str]]) -> list[list[PageBox]]:
    """Return one box per line for each wanted text, or no boxes if it is not found.

    Only letters and digits are compared, as hyphens and blanks differ from those on the page.

    Args:
        data: The PDF.
        wanted: The page on which each text begins, from 1, and the text itself; it may end on the next page.
    """
    document = open_document(data)
    try:
        numbers = {page + offset for page, _ in wanted for offset in (-1, 0)}
        pages = {number: document[number] for number in numbers if 0 <= number < len(document)}
        lines = {number: read_page(page, number).lines for number, page in pages.items()}
        found: list[list[PageBox]] = []
        for page, text in wanted:
            matched = _find(text, [*lines.get(page - 1, ()), *lines.get(page, ())])
            found.append([(number + 1, *_box(pages[number], places)) for number, places in matched])
        return found
    finally:
        document.close()


def _box(page: Any, places: Sequence[Box]) -> tuple[float, float, float, float]:
    """Enclose characters, measured from the upper left corner: a page may be rotated, or have its origin elsewhere."""
    lefts, bottoms, rights, tops = zip(*places, strict=True)
    area = (0, 0, *(round(side * _UNITS) for side in page.get_size()), 0)
    across, down = ctypes.c_int(), ctypes.c_int()
    corners = []
    for x, y in ((min(lefts), max(tops)), (max(rights), min(bottoms))):
        pdfium.FPDF_PageToDevice(page.raw, *area, x, y, ctypes.byref(across), ctypes.byref(down))
        corners.append((across.value / _UNITS, down.value / _UNITS))
    (left, right), (top, bottom) = map(sorted, zip(*corners, strict=True))
    return left, top, right, bottom


def _find(text: str, lines: Sequence[Line]) -> Iterator[tuple[int, list[Box]]]:
    """Yield the page, from 0, and the boxes of the letters and digits of a text in each of its lines."""
    characters = [(line, i) for line in lines for i in _alphanumeric(line.text)]
    letters = "".join(text[i].lower() for i in _alphanumeric(text))
    spans = _spans("".join(line.text[i].lower() for line, i in characters), letters)
    matched = [character for start, end in spans for character in characters[start:end]]
    for (_, line), group in groupby(matched, key=lambda character: (id(character[0]), character[0])):
        yield line.page, [line.boxes[i] for _, i in group]


def _spans(page: str, text: str) -> list[tuple[int, int]]:
    """Find a text on a page, perhaps in parts: a running head, a note or a figure may be between them."""
    spans: list[tuple[int, int]] = []
    at = 0
    while text:
        # If a text is found, so is every beginning of it.
        length = bisect_left(range(1, len(text) + 1), x=True, key=lambda end: page.find(text[:end], at) < 0)
        if length < min(len(text), _MIN_PART) or len(spans) == _MAX_PARTS:
            return []
        start = page.find(text[:length], at)
        at = start + length
        spans.append((start, at))
        text = text[length:]
    return spans


def _alphanumeric(text: str) -> list[int]:
    """Indices of letters and digits whose lower case is a single character."""
    return [i for i, letter in enumerate(text) if letter.isalnum() and len(letter.lower()) == 1]
