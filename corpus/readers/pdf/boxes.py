"""Where texts are on the pages of a PDF."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.pdf import open_document
from corpus.readers.pdf.reading_order import read_page
from corpus.types import PageBox

# The system gives whole numbers: tenths of a point.
_FINE = 10


class _SeenPage(NamedTuple):
    """The lines of a page, and what turns its coordinates into points from the corner where a reader sees it."""

    lines: tuple[Line, ...]
    seen_at: Callable[[float, float], tuple[float, float]]


def boxes(data: bytes, wanted: Sequence[tuple[int, str]]) -> list[list[PageBox]]:
    """Return for each wanted text a box a line, none where it is not found.

    It is found by its letters and digits, as hyphens and blanks are not those of the page.

    Args:
        data: The PDF.
        wanted: For each text the page that it begins on, from 1, and its words; it may end on the next page.
    """
    document = open_document(data)
    pages: dict[int, _SeenPage] = {}
    try:
        for page in {page + more for page, _ in wanted for more in (-1, 0)}:
            if 0 <= page < len(document):
                drawn = document[page]
                pages[page] = _SeenPage(read_page(drawn, page).lines, partial(_seen_at, drawn, *drawn.get_size()))
        return [list(_find(text, [pages[n] for n in (page - 1, page) if n in pages])) for page, text in wanted]
    finally:
        document.close()


def _seen_at(page: Any, width: float, height: float, x: float, y: float) -> tuple[float, float]:
    """A point from the upper left corner: a page may be rotated, or begin elsewhere than at 0."""
    across, down = ctypes.c_int(), ctypes.c_int()
    whole = (0, 0, round(width * _FINE), round(height * _FINE), 0)
    pdfium.FPDF_PageToDevice(page.raw, *whole, x, y, ctypes.byref(across), ctypes.byref(down))
    return across.value / _FINE, down.value / _FINE


def _find(text: str, pages: Sequence[_SeenPage]) -> Iterator[PageBox]:
    marks = [(page, line, i) for page in pages for line in page.lines for i in _solid(line.text)]
    letters = "".join(text[i].lower() for i in _solid(text))
    at = "".join(line.text[i].lower() for _, line, i in marks).find(letters) if letters else -1
    if at < 0:
        return
    for (_, line), group in groupby(marks[at : at + len(letters)], key=lambda mark: (id(mark[1]), mark[1])):
        found = list(group)
        lefts, bottoms, rights, tops = zip(*(line.boxes[i] for _, _, i in found), strict=True)
        seen_at = found[0][0].seen_at
        corners = seen_at(min(lefts), max(tops)), seen_at(max(rights), min(bottoms))
        (left, right), (top, bottom) = map(sorted, zip(*corners, strict=True))
        yield line.page + 1, left, top, right, bottom


def _solid(text: str) -> list[int]:
    """The places of letters and digits whose lower case is one character."""
    return [i for i, letter in enumerate(text) if letter.isalnum() and len(letter.lower()) == 1]
