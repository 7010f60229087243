"""Drop the line numbers in the margin of a manuscript, which are not part of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from corpus.readers.pdf.page.characters import Box
from corpus.readers.pdf.page.grouping import group_if

# First character and one past the last.
Run = tuple[int, int]

_NUMBER = re.compile(r"\s*(\d{1,4})(?=\s|$)\s*")
# A page has at least this many line numbers, and at least this share of the steps between them are 1.
_MIN_NUMBERS, _MIN_IN_ORDER = 8, 0.85
# In points: how far apart their right edges may be; they differ if the numbers are left-aligned.
_ALIGNED = 8.0
# In characters: text beside line numbers is usually longer, and cells of a table are shorter.
_CELL = 16
# In points: the least gap between cells, and how far apart aligned edges may be; the least share of aligned rows.
_WIDE_GAP, _SAME_EDGE, _MIN_ROWS = 10.0, 3.0, 0.8
# Share of other text that may lie further out, such as a running head.
_MAX_OUTSIDE = 0.05


class _Number(NamedTuple):
    """A number that begins a run: its right edge in points, its value, its first character and one past the last."""

    right: float
    value: int
    start: int
    end: int


def drop_line_numbers(runs: Sequence[Run], letters: str, boxes: Sequence[Box]) -> Iterator[Run]:
    """Yield the runs of characters of a page without the line numbers in its margin."""
    numbers = [
        _Number(boxes[match.end(1) - 1][2], int(match[1]), run_start, match.end())
        for run_start, end in runs
        if (match := _NUMBER.match(letters, run_start, end))
    ]
    numbers.sort(key=lambda number: number.right)
    number_ends: dict[int, int] = {}
    for column in group_if(numbers, lambda column, number: number.right - column[0].right <= _ALIGNED):
        column.sort(key=lambda number: -boxes[number.end - 1][1])
        steps = [below.value - above.value for above, below in pairwise(column)]
        is_consecutive = len(column) >= _MIN_NUMBERS and steps.count(1) >= _MIN_IN_ORDER * len(steps)
        if is_consecutive and _are_in_margin(column, runs, letters, boxes):
            number_ends |= {number.start: number.end for number in column}
    for run_start, end in runs:
        if (start := number_ends.get(run_start, run_start)) < end:
            yield start, end


def _are_in_margin(numbers: Sequence[_Number], runs: Sequence[Run], letters: str, boxes: Sequence[Box]) -> bool:
    """Whether numbers are left or right of nearly all other text, and are not the first cells of a table's rows."""
    ends = {number.start: number.end for number in numbers}
    other_runs = [(first, start, end) for first, end in runs if (start := ends.get(first, first)) < end]
    left, right = max(number.right for number in numbers), min(boxes[first][0] for first in ends)
    further_left = sum(boxes[start][0] < left for _, start, _ in other_runs)
    further_right = sum(boxes[end - 1][2] > right for _, _, end in other_runs)
    rows: dict[int, list[Run]] = {round(boxes[first][1]): [] for first in ends}
    for first, start, end in other_runs:
        rows.get(round(boxes[first][1]), []).append((start, end))
    lengths = [end - start for row in rows.values() for start, end in row]
    are_cells = bool(lengths) and (median(lengths) <= _CELL or _have_short_cells(list(rows.values()), letters, boxes))
    return min(further_left, further_right) <= _MAX_OUTSIDE * len(other_runs) and not are_cells


def _have_short_cells(rows: Sequence[Sequence[Run]], letters: str, boxes: Sequence[Box]) -> bool:
    """Whether most rows end in a short, aligned cell that is not itself a line number."""
    last = [cells[-1] for row in rows if len(cells := sorted(_cells(row, boxes), key=lambda run: boxes[run[0]][0])) > 1]
    last = [(start, end) for start, end in last if not letters[start:end].isdecimal()]
    if not last or median(end - start for start, end in last) > _CELL:
        return False
    edges = [boxes[start][0] for start, _ in last], [boxes[end - 1][2] for _, end in last]
    middles = [median(places) for places in edges]
    aligned = [
        sum(abs(place - middle) <= _SAME_EDGE for place in places)
        for places, middle in zip(edges, middles, strict=True)
    ]
    return max(aligned) >= _MIN_ROWS * len(rows)


def _cells(row: Sequence[Run], boxes: Sequence[Box]) -> Iterator[Run]:
    """Yield the parts of a row's runs between wide gaps."""
    for start, end in row:
        visible = [i for i in range(start, end) if boxes[i][2] > boxes[i][0]]
        first = visible[0] if visible else start
        for before, following in pairwise(visible):
            if boxes[following][0] - boxes[before][2] > _WIDE_GAP:
                yield first, before + 1
                first = following
        if visible:
            yield first, visible[-1] + 1
