"""The cells of a line, and the gutters between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from corpus.readers.pdf.page.line import Line

# In line heights: the smallest gap between cells of a line, and the smallest gutter that lines share.
_CELL_GAP, GUTTER = 0.45, 0.38
# In characters: the longest line of a table, and the longest whose wide gaps are counted; headings are shorter.
_MAX_LINE, _SHORT = 300, 160
# A line with at least this many gaps, none wide, and more than this share of lower case is justified prose.
_MANY, _PROSE = 4, 0.6
_FAR = 1e6
_SPACE = re.compile(" ")
# A number, perhaps with its unit, or a placeholder such as a dash, a tick or "yes".
_VALUE = re.compile(r"[<>≤≥~≈±+−–—-]{0,2}\s?[$€£]?[\d.]\d*.*|[–—−-]+|[✓✔✗✘×]|n/?a|yes|no", re.IGNORECASE | re.DOTALL)
_MAX_LETTERS = 6
# At least this share of the cells in a column of values are numbers.
_NUMBERS = 0.6

# Left and right edge, in points.
Interval = tuple[float, float]


class Cell(NamedTuple):
    """Characters of a line from `start` up to `end`, between two edges in points."""

    start: int
    end: int
    left: float
    right: float


def split_cells(line: Line) -> list[Cell]:
    """Split a line at gaps clearly wider than a space, and set its number of wide gaps."""
    text, boxes, size = line.text, line.boxes, line.size
    if len(text) > _MAX_LINE:
        return [Cell(0, len(text), line.left, line.right)]
    gaps = [(boxes[i + 1][0] - boxes[i - 1][2], i) for i in map(re.Match.start, _SPACE.finditer(text, 1))]
    ends = [i for gap, i in gaps if gap > _CELL_GAP * size]
    wide = sum([gap > size for gap, _ in gaps]) if ends else 0
    line.gaps = wide if len(text) <= _SHORT else 0
    if not wide and len(ends) >= _MANY and sum(map(str.islower, text)) > _PROSE * len(text):
        ends = []
    return [
        Cell(first + 1, end, boxes[first + 1][0], boxes[end - 1][2]) for first, end in pairwise([-1, *ends, len(text)])
    ]


def free_intervals(cells: Sequence[Cell]) -> list[Interval]:
    """Return the intervals without a cell in a line: left of, between and right of its cells."""
    edges = [(-_FAR, -_FAR), *((cell.left, cell.right) for cell in cells), (_FAR, _FAR)]
    return [(before[1], after[0]) for before, after in pairwise(edges)]


def intersect(first: Sequence[Interval], second: Sequence[Interval], min_width: float) -> list[Interval]:
    """Intersect two lists of intervals; parts narrower than `min_width` are dropped."""
    # A single pass, as all pairs could be thousands; cells drawn over each other have intervals out of order.
    shared: list[Interval] = []
    i = j = 0
    while i < len(first) and j < len(second):
        left, right = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if right - left >= min_width:
            shared.append((left, right))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return shared


def is_value(text: str) -> bool:
    """Whether a cell is a number or a placeholder for one."""
    return len(text) <= 30 and bool(_VALUE.fullmatch(text)) and sum(map(str.isalpha, text)) <= _MAX_LETTERS


def find_value_columns(rows: Sequence[Sequence[str]]) -> frozenset[int]:
    """Return the columns in which most cells below the first row are numbers."""
    columns = [list(filter(None, column)) for column in zip(*rows[1:], strict=True)]
    return frozenset(
        number for number, cells in enumerate(columns) if cells and sum(map(is_value, cells)) >= _NUMBERS * len(cells)
    )
