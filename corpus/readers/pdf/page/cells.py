"""Cells of a line, and the gutters that they leave free."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from corpus.readers.pdf.page.line import Line

# In line heights: the least gap between cells, and what a gutter has at least where lines are one below the other.
_GAP, GUTTER = 0.45, 0.38
# The blank of a typewriter is wider than others.
_TYPED_GAP = 0.8
_TYPEWRITER = re.compile(r"cour|mono?l?-|mono|typewriter|cmtt|tt\d|consol|menlo|-tt", re.IGNORECASE)
# Characters: no line of a table is longer; longer lines are no headings, and their gaps are not counted.
_MAX_LINE, _SHORT = 300, 160
# So many gaps, none of them wide, in a line of which this share are small letters are those of justified prose.
_MANY, _PROSE = 4, 0.6
_FAR = 1e6
# A number, perhaps with its unit, or what stands for one.
_VALUE = re.compile(r"[<>≤≥~≈±+−–—-]{0,2}\s?[$€£]?[\d.]\d*.*|[–—−-]+|[✓✔✗✘×]|n/?a|yes|no", re.IGNORECASE | re.DOTALL)
_MAX_LETTERS = 6

# From and to, in points.
Interval = tuple[float, float]


class Cell(NamedTuple):
    """Characters of a line from `start` up to `end`, between two edges in points."""

    start: int
    end: int
    left: float
    right: float


def cells_of(line: Line) -> list[Cell]:
    """The parts of a line between which there is clearly more than a blank; counts the wide gaps of the line."""
    text, boxes, size = line.text, line.boxes, line.size
    if len(text) > _MAX_LINE:
        return [Cell(0, len(text), line.left, line.right)]
    least = size * (_TYPED_GAP if is_typewriter(line.font) else _GAP)
    gaps = [(boxes[i + 1][0] - boxes[i - 1][2], i) for i in _blanks(text)]
    ends = [i for gap, i in gaps if gap > least]
    wide = sum([gap > size for gap, _ in gaps]) if ends else 0
    line.gaps = wide if len(text) <= _SHORT else 0
    if not wide and len(ends) >= _MANY and sum(map(str.islower, text)) > _PROSE * len(text):
        ends = []
    return [
        Cell(first + 1, end, boxes[first + 1][0], boxes[end - 1][2]) for first, end in pairwise([-1, *ends, len(text)])
    ]


def _blanks(text: str) -> Iterator[int]:
    at = text.find(" ", 1)
    while at > 0:
        yield at
        at = text.find(" ", at + 1)


@lru_cache(1024)
def is_typewriter(font: str) -> bool:
    """Whether a font's letters are all of one width, by its name."""
    return _TYPEWRITER.search(font) is not None


def free(cells: Sequence[Cell]) -> list[Interval]:
    """Where a line has no cell: left of it, between its cells, and right of it."""
    edges = [(-_FAR, -_FAR), *((cell.left, cell.right) for cell in cells), (_FAR, _FAR)]
    return [(before[1], after[0]) for before, after in pairwise(edges)]


def common(some: Sequence[Interval], others: Sequence[Interval], least: float) -> list[Interval]:
    """Where both are free, if it is as wide as `least`."""
    found: list[Interval] = []
    i = j = 0
    while i < len(some) and j < len(others):
        left, right = max(some[i][0], others[j][0]), min(some[i][1], others[j][1])
        if right - left >= least:
            found.append((left, right))
        if some[i][1] < others[j][1]:
            i += 1
        else:
            j += 1
    return found


def is_value(text: str) -> bool:
    """Whether a cell holds a number, or what stands for one."""
    return len(text) <= 30 and bool(_VALUE.fullmatch(text)) and sum(map(str.isalpha, text)) <= _MAX_LETTERS
