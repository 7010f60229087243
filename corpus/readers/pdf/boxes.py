"""Where texts are on the pages of a PDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from corpus.readers.pdf.pdf import open_document
from corpus.readers.pdf.reading_order import PageLines, read_page
from corpus.types import PageBox


def boxes(data: bytes, wanted: Sequence[tuple[int, str]]) -> list[list[PageBox]]:
    """Return for each wanted text a box a line, none where it is not found.

    It is found by its letters and digits, as hyphens and blanks are not those of the page.

    Args:
        data: The PDF.
        wanted: For each text the page that it begins on, from 1, and its words; it may end on the next page.
    """
    document = open_document(data)
    pages: dict[int, PageLines] = {}
    try:
        for page in {page + more for page, _ in wanted for more in (-1, 0)}:
            if 0 <= page < len(document):
                pages[page] = read_page(document[page], page)
    finally:
        document.close()
    return [list(_find(text, [pages[n] for n in (page - 1, page) if n in pages])) for page, text in wanted]


def _find(text: str, pages: Sequence[PageLines]) -> Iterator[PageBox]:
    marks = [(page, line, i) for page in pages for line in page.lines for i in _solid(line.text)]
    letters = "".join(text[i].lower() for i in _solid(text))
    at = "".join(line.text[i].lower() for _, line, i in marks).find(letters) if letters else -1
    if at < 0:
        return
    for (_, line), group in groupby(marks[at : at + len(letters)], key=lambda mark: (id(mark[1]), mark[1])):
        found = list(group)
        lefts, bottoms, rights, tops = zip(*(line.boxes[i] for _, _, i in found), strict=True)
        height = found[0][0].height
        edges = (min(lefts), height - max(tops), max(rights), height - min(bottoms))
        left, top, right, bottom = (round(edge, 1) for edge in edges)
        yield line.page + 1, left, top, right, bottom


def _solid(text: str) -> list[int]:
    """The places of letters and digits whose lower case is one character."""
    return [i for i, letter in enumerate(text) if letter.isalnum() and len(letter.lower()) == 1]
