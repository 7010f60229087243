"""Locate texts on the pages of a PDF."""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.pdf import open_document
from corpus.readers.pdf.reading_order import read_page
from corpus.types import PageBox

# Device units per point: PDFium rounds to whole units.
_UNITS = 10
# The most parts of a text, and the fewest letters and digits of each but the last.
_MAX_PARTS, _MIN_PART = 4, 8


class _DisplayedPage(NamedTuple):
    """The lines of a page, and a conversion of its coordinates to points from the upper left corner as displayed."""

    lines: tuple[Line, ...]
    to_display: Callable[[float, float], tuple[float, float]]


def boxes(data: bytes, wanted: Sequence[tuple[int, str]]) -> list[list[PageBox]]:
    """Return one box per line for each wanted text, or no boxes if it is not found.

    Only letters and digits are compared, as hyphens and blanks differ from those on the page.

    Args:
        data: The PDF.
        wanted: The page on which each text begins, from 1, and the text itself; it may end on the next page.
    """
    document = open_document(data)
    pages: dict[int, _DisplayedPage] = {}
    try:
        for number in {page + offset for page, _ in wanted for offset in (-1, 0)}:
            if 0 <= number < len(document):
                page = document[number]
                to_display = partial(_to_display, page, *page.get_size())
                pages[number] = _DisplayedPage(read_page(page, number).lines, to_display)
        return [list(_find(text, [pages[n] for n in (page - 1, page) if n in pages])) for page, text in wanted]
    finally:
        document.close()


def _to_display(page: Any, width: float, height: float, x: float, y: float) -> tuple[float, float]:
    """Measure a point from the upper left corner: a page may be rotated, or have its origin elsewhere."""
    across, down = ctypes.c_int(), ctypes.c_int()
    area = (0, 0, round(width * _UNITS), round(height * _UNITS), 0)
    pdfium.FPDF_PageToDevice(page.raw, *area, x, y, ctypes.byref(across), ctypes.byref(down))
    return across.value / _UNITS, down.value / _UNITS


def _find(text: str, pages: Sequence[_DisplayedPage]) -> Iterator[PageBox]:
    characters = [(page, line, i) for page in pages for line in page.lines for i in _alphanumeric(line.text)]
    letters = "".join(text[i].lower() for i in _alphanumeric(text))
    spans = _spans("".join(line.text[i].lower() for _, line, i in characters), letters)
    matched_characters = [one for start, end in spans for one in characters[start:end]]
    for (_, line), group in groupby(matched_characters, key=lambda c: (id(c[1]), c[1])):
        matched = list(group)
        lefts, bottoms, rights, tops = zip(*(line.boxes[i] for _, _, i in matched), strict=True)
        to_display = matched[0][0].to_display
        corners = to_display(min(lefts), max(tops)), to_display(max(rights), min(bottoms))
        (left, right), (top, bottom) = map(sorted, zip(*corners, strict=True))
        yield line.page + 1, left, top, right, bottom


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
