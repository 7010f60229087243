"""Separate running heads, running feet and page numbers from the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.reading_order import PageLines

# Running heads are within this share of a page's height from its top or bottom, or are its outermost lines.
_MARGIN = 0.12
# In points: how much the heights of lines on one baseline may differ, and those of a head on two pages.
_BASELINE, _HEIGHT = 3.0, 4.0
# In line heights: the least distance between the outermost lines and all others.
_APART = 1.7
# A line this many times larger than the body text may be a heading.
_LARGE = 1.15
# "Day 2" on the second page is a heading: it has fewer words than a running head in bold type.
_FEW = 5
_PAGE_NUMBER = re.compile(
    r"(?:page\s+)?[-–—|\s]*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:/|of)\s*\d{1,4})?[-–—|\s]*", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
# The words around a page number, which are not part of a head: "page # of 12", "– # –".
_AROUND_NUMBER = re.compile(r"\bpage\W*$|^\W*(?:/|of)\s*\d{1,4}\b", re.IGNORECASE)
_EDGES = re.compile(r"^\W+|\W+$")
# Heads that first occur on these pages and are not repeated in the text are kept: an address, a document's number.
_FIRST_PAGES = 4

# A text in which the page number, if any, is replaced; and the place of its baseline.
_Key = tuple[str, int]


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """Return the font height of most of the text, in points."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[round(line.size, 1)] += len(line.text)
    return max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 10.0


def split_running_heads(pages: Sequence[PageLines]) -> tuple[list[list[Line]], list[Line]]:
    """Return the lines of each page without running heads and page numbers, and the heads that add to the text.

    A running head is at the same place on several pages; a single page has none. A head that could be the title stays
    on the first page, and the column names of a table stay where they first occur.
    """
    if len(pages) < 2:
        return [list(page.lines) for page in pages], []
    heads = _RunningHeads(pages)
    kept = []
    for page in pages:
        head_ids = heads.ids_on(page)
        kept.append([line for line in page.lines if id(line) not in head_ids])
    body_text = " ".join(line.text.lower() for lines in kept for line in lines)
    return kept, [line for parts, line in heads.first_lines.items() if any(part not in body_text for part in parts)]


class _RunningHeads:
    """Counts the pages that have each text at their top or bottom.

    Attributes:
        first_lines: The first line of each head that was left out on the first pages, by its words before and after
            the page number.
    """

    def __init__(self, pages: Sequence[PageLines]) -> None:
        self._large_size = _LARGE * body_size([page.lines for page in pages])
        self._min_pages = max(2, min(4, len(pages) // 3))
        self._min_pages_in_bold = max(3, min(8, len(pages) // 3 + 1))
        self._min_pages_if_large = max(3, len(pages) // 2 + 1)
        self._counts: Counter[_Key] = Counter()
        for page in pages:
            self._counts.update({key for line in _outer_lines(page) for key in self._keys(line, page)})
        self._kept: set[str] = set()
        self.first_lines: dict[tuple[str, ...], Line] = {}

    def ids_on(self, page: PageLines) -> set[int]:
        """Return the identities of the running heads on a page; call it for each page in order."""
        return {id(line) for line in _outer_lines(page) if self._is_running_head(line, page)}

    def _is_running_head(self, line: Line, page: PageLines) -> bool:
        if _is_in_margin(line, page) and _PAGE_NUMBER.fullmatch(line.text):
            return True
        frequent_keys = [key for key in self._keys(line, page) if self._count(key) >= self._min_count(line, page)]
        if not frequent_keys:
            return False
        is_first = line.text not in self._kept
        self._kept.add(line.text)
        is_title = line.page == 0 and self._may_be_heading(line, page)
        if is_first and (line.table or is_title):
            return False
        if line.page < _FIRST_PAGES and not line.table and (parts := _head_parts(frequent_keys[0][0])):
            self.first_lines.setdefault(parts, line)
        return True

    def _min_count(self, line: Line, page: PageLines) -> int:
        """Return the fewest pages that a running head is on; consecutive slides may have the same heading."""
        if line.size > self._large_size:
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
            for number in _NUMBER.finditer(text):
                yield f"{text[: number.start()]}#{int(number[0]) - line.page}#{text[number.end() :]}", place

    def _count(self, key: _Key) -> int:
        text, place = key
        return sum(self._counts[text, place + step] for step in (-1, 0, 1))

    def _may_be_heading(self, line: Line, page: PageLines) -> bool:
        return line.size > self._large_size or (line.bold and line.bottom > page.height / 2)


def _head_parts(key: str) -> tuple[str, ...]:
    """Return the words of a head before and after the page number, without those around the number."""
    parts = (_AROUND_NUMBER.sub("", part) for part in re.split(r"#-?\d+#", key))
    return tuple(_EDGES.sub("", part) for part in parts if any(map(str.isalnum, part)))


def _outer_lines(page: PageLines) -> list[Line]:
    """Return the lines in the margins of a page, and its outermost lines if they are set apart."""
    bottoms = [line.bottom for line in page.lines]
    lowest, highest = min(bottoms, default=0.0) + _BASELINE, max(bottoms, default=0.0) - _BASELINE
    second_lowest = min((bottom for bottom in bottoms if bottom > lowest), default=lowest)
    second_highest = max((bottom for bottom in bottoms if bottom < highest), default=highest)

    def is_outermost(line: Line) -> bool:
        apart = _APART * line.size
        return line.bottom < min(lowest, second_lowest - apart) or line.bottom > max(highest, second_highest + apart)

    return [line for line in page.lines if _is_in_margin(line, page) or is_outermost(line)]


def _is_in_margin(line: Line, page: PageLines) -> bool:
    return line.bottom > (1 - _MARGIN) * page.height or line.top < _MARGIN * page.height
