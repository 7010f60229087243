"""Leave out running heads, running feet and page numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.reading_order import PageLines

# They are within this share of a page's height from its top or bottom, or are its outermost lines.
_MARGIN = 0.12
# In points: how far apart two lines on one baseline may be, and the same head on two pages.
_BASELINE, _HEIGHT = 3.0, 4.0
# In line heights: how far the outermost lines are from all others.
_APART = 1.7
# A line this many times larger than the body text may be a heading.
_LARGE = 1.15
# "Day 2" on the second page is a heading, with fewer words than a running head in bold type.
_FEW = 5
_PAGE_NUMBER = re.compile(
    r"(?:page\s+)?[-–—|\s]*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:/|of)\s*\d{1,4})?[-–—|\s]*", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
# What is around the number of a page, and no part of a head: "page # of 12", "– # –".
_AROUND_NUMBER = re.compile(r"\bpage\W*$|^\W*(?:/|of)\s*\d{1,4}\b", re.IGNORECASE)
_EDGES = re.compile(r"^\W+|\W+$")
# Heads that no text repeats are kept if they begin on the first pages: an address, a document's number and version.
_FIRST_PAGES = 4

# A text in which the number that counts the pages, if any, is replaced; and the place of its baseline.
_Key = tuple[str, int]


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """Return the font height of most of the text, in points."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[round(line.size, 1)] += len(line.text)
    return max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 10.0


def body_lines(pages: Sequence[PageLines]) -> tuple[list[list[Line]], list[Line]]:
    """Return the lines of each page without running heads and page numbers, and the heads that say something else.

    A head is at the same place on several pages; a single page has none. One that could be the title is kept on the
    first page, and the names of a table's columns where they are first.
    """
    if len(pages) < 2:
        return [list(page.lines) for page in pages], []
    heads = _Heads(pages)
    kept = []
    for page in pages:
        left_out = heads.on(page)
        kept.append([line for line in page.lines if id(line) not in left_out])
    text = " ".join(line.text.lower() for lines in kept for line in lines)
    return kept, [line for words, line in heads.first.items() if any(part not in text for part in words)]


class _Heads:
    """The texts at the top and bottom of pages, and on how many pages each is.

    Attributes:
        first: The first of each of those that were left out on the first pages, by its words before and after the
            number of the page.
    """

    def __init__(self, pages: Sequence[PageLines]) -> None:
        self._large = _LARGE * body_size([page.lines for page in pages])
        self._min_pages = max(2, min(4, len(pages) // 3))
        self._min_pages_in_bold = max(3, min(8, len(pages) // 3 + 1))
        self._min_pages_if_large = max(3, len(pages) // 2 + 1)
        self._counts: Counter[_Key] = Counter()
        for page in pages:
            self._counts.update({key for line in _outer(page) for key in self._keys(line, page)})
        self._kept: set[str] = set()
        self.first: dict[tuple[str, ...], Line] = {}

    def on(self, page: PageLines) -> set[int]:
        """Return the identities of the lines to leave out; pages must be given in order."""
        return {id(line) for line in _outer(page) if self._is_one(line, page)}

    def _is_one(self, line: Line, page: PageLines) -> bool:
        if _is_in_margin(line, page) and _PAGE_NUMBER.fullmatch(line.text):
            return True
        found = [key for key in self._keys(line, page) if self._count(key) >= self._least(line, page)]
        if not found:
            return False
        is_first = line.text not in self._kept
        self._kept.add(line.text)
        is_title = line.page == 0 and self._may_be_heading(line, page)
        if is_first and (line.table or is_title):
            return False
        if line.page < _FIRST_PAGES and not line.table and (words := _words(found[0][0])):
            self.first.setdefault(words, line)
        return True

    def _least(self, line: Line, page: PageLines) -> int:
        """Return on how many pages a running head is at least; slides in a row may have the same heading."""
        if line.size > self._large:
            return self._min_pages_if_large
        return self._min_pages_in_bold if self._may_be_heading(line, page) else self._min_pages

    def _keys(self, line: Line, page: PageLines) -> Iterator[_Key]:
        text = line.text.lower()
        is_low = line.bottom < page.height / 2
        place = round((line.bottom if is_low else line.bottom - page.height) / _HEIGHT)
        yield text, place
        if not line.table and (
            _PAGE_NUMBER.fullmatch(text) or len(text.split()) >= _FEW or not self._may_be_heading(line, page)
        ):
            for found in _NUMBER.finditer(text):
                yield f"{text[: found.start()]}#{int(found[0]) - line.page}#{text[found.end() :]}", place

    def _count(self, key: _Key) -> int:
        text, place = key
        return sum(self._counts[text, place + step] for step in (-1, 0, 1))

    def _may_be_heading(self, line: Line, page: PageLines) -> bool:
        return line.size > self._large or (line.bold and line.bottom > page.height / 2)


def _words(key: str) -> tuple[str, ...]:
    """Return the parts of a head before and after the number of the page, without what belongs to that."""
    parts = (_AROUND_NUMBER.sub("", part) for part in re.split(r"#-?\d+#", key))
    return tuple(_EDGES.sub("", part) for part in parts if any(map(str.isalnum, part)))


def _outer(page: PageLines) -> list[Line]:
    """Return the lines in the margins of a page, and the outermost ones if they are set apart."""
    heights = [line.bottom for line in page.lines]
    low, high = min(heights, default=0.0) + _BASELINE, max(heights, default=0.0) - _BASELINE
    second = min((height for height in heights if height > low), default=low)
    second_highest = max((height for height in heights if height < high), default=high)

    def is_outermost(line: Line) -> bool:
        apart = _APART * line.size
        return line.bottom < min(low, second - apart) or line.bottom > max(high, second_highest + apart)

    return [line for line in page.lines if _is_in_margin(line, page) or is_outermost(line)]


def _is_in_margin(line: Line, page: PageLines) -> bool:
    return line.bottom > (1 - _MARGIN) * page.height or line.top < _MARGIN * page.height
