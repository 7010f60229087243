"""Find consecutive lines of a page that share the gutters between their cells."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corpus.readers.pdf.page.cells import GUTTER, Cell, Interval, free_intervals, intersect, split_cells
from corpus.readers.pdf.page.line import Line

# In line heights: the largest distance between baselines in a table, and within one row.
_MAX_STEP, _TIGHT = 3.0, 1.45
# Relative to the rows above: a line this many times further down is no part of the table; how much its size may differ.
_FURTHER, _SIZES = 1.6, 0.3
# How many lines are tried as the first of a table.
_LOOK_AHEAD = 3
# The fewest lines with cells on both sides of a gutter: a wide one, and one narrower than the line height.
_MIN_WIDE, _MIN_NARROW = 2, 3
# Leaders of a table of contents, or blanks of a form.
_LEADERS = re.compile(r"(?:[.·…] ?){4}|_{4}")


@dataclass(frozen=True, slots=True)
class Grid:
    """Lines `start` up to `end` of a page, the gutters between their columns, and the lines across columns."""

    start: int
    end: int
    gutters: tuple[Interval, ...]
    across: frozenset[int]

    @property
    def score(self) -> int:
        """Number of gutters, times the number of lines that have them."""
        return len(self.gutters) * (self.end - self.start - len(self.across))


class GridFinder:
    """Finds grids among the lines of a page; `cells` are the cells of each line."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.cells = [split_cells(line) for line in lines]
        self._lines = lines
        self._has_wide_gap = [
            len(cells) > 1 and any(after.left - before.right > line.size for before, after in pairwise(cells))
            for line, cells in zip(lines, self.cells, strict=True)
        ]
        self._free = list(map(free_intervals, self.cells))
        self._grids: dict[int, Grid | None] = {}

    def find_largest(self, at: int) -> Grid | None:
        """Return the largest grid, if any, that begins at a line, or just below a line that spans its columns."""
        if len(self.cells[at]) < 2 or sum(self._has_wide_gap[at : at + _LOOK_AHEAD + 1]) < _MIN_WIDE:
            return None
        for start in range(at, min(at + _LOOK_AHEAD, len(self._lines))):
            if start not in self._grids:
                self._grids[start] = self._grow_grid(start)
        grids = (self._grids.get(start) for start in range(at, at + _LOOK_AHEAD))
        return max((grid for grid in grids if grid), key=lambda grid: grid.score, default=None)

    def _grow_grid(self, start: int) -> Grid | None:
        if len(self.cells[start]) < 2 or _LEADERS.search(self._lines[start].text):
            return None
        gutters = self._free[start]
        spanning: set[int] = set()
        steps: list[float] = []
        end = start + 1
        while end < len(self._lines) and self._follows(end, steps):
            shared = self._shared_gutters(gutters, end)
            is_second = end == start + 1 and len(self.cells[end]) > 1
            min_width = 0 if end - start > _MIN_NARROW else self._lines[end].size
            steps.append(self._lines[end - 1].bottom - self._lines[end].bottom)
            if len(shared) > 2 and (is_second or _all_remain(gutters, shared, min_width)):
                gutters = shared
            elif end - 1 not in spanning and self._has_row_below(end, gutters, steps):
                spanning.add(end)
            else:
                break
            end += 1
        return self._trim(start, end, gutters[1:-1], spanning) if end > start + 1 else None

    def _trim(self, start: int, end: int, gutters: Sequence[Interval], spanning: set[int]) -> Grid | None:
        """Return the grid without unsupported gutters, and without lines at its ends that do not belong to it."""
        inner = self._supported_gutters(start, end, gutters)
        while inner and end > start + 1 and (end - 1 in spanning or not self._can_be_last(end - 1, inner)):
            end -= 1
            spanning.discard(end)
        while inner and end > start + 1 and self._is_heading_above(start, inner):
            start += 1
        return Grid(start, end, inner, frozenset(spanning)) if inner and end > start + 1 else None

    def _shared_gutters(self, gutters: Sequence[Interval], at: int) -> list[Interval]:
        return intersect(gutters, self._free[at], GUTTER * self._lines[at].size)

    def _supported_gutters(self, start: int, end: int, gutters: Sequence[Interval]) -> tuple[Interval, ...]:
        """Return the gutters with cells on both sides in enough lines; narrow ones need more lines."""
        size = median(line.size for line in self._lines[start:end])
        kept = list(gutters) if end - start >= _MIN_NARROW or any(b - a >= size for a, b in gutters) else []
        min_rows = _MIN_WIDE if end - start > _MIN_NARROW else 1
        while kept:
            rows = [assign_columns(cells, kept) for cells in self.cells[start:end]]
            unsupported = [
                (right - left, number)
                for number, (left, right) in enumerate(kept)
                if sum(bool(row[number]) and bool(row[number + 1]) for row in rows)
                < (_MIN_NARROW if right - left < size else min_rows)
            ]
            if not unsupported:
                break
            del kept[min(unsupported)[1]]
        return tuple(kept)

    def _follows(self, at: int, steps: Sequence[float]) -> bool:
        """Whether a line is close below the one before it, in letters of about the same size."""
        before, line = self._lines[at - 1], self._lines[at]
        step = before.bottom - line.bottom
        if not 0 < step <= _MAX_STEP * line.size or before.column != line.column:
            return False
        if len(steps) > 1 and step > _FURTHER * max(median(steps), line.size):
            return False
        return abs(before.size - line.size) <= _SIZES * line.size and not _LEADERS.search(line.text)

    def _has_row_below(self, at: int, gutters: Sequence[Interval], steps: Sequence[float]) -> bool:
        """Whether a line across columns has rows of the same table below it."""
        if at + 1 >= len(self._lines) or len(self.cells[at + 1]) < 3 or len(gutters) < 4:
            return False
        fewer = len(self.cells[at]) < len(self.cells[at + 1])
        return fewer and self._follows(at + 1, steps) and len(self._shared_gutters(gutters, at + 1)) >= len(gutters)

    def _can_be_last(self, at: int, gutters: Sequence[Interval]) -> bool:
        """Whether a line may end a grid; a single cell may if it continues the cell above."""
        if len(self.cells[at]) > 1:
            return True
        (cell,) = self.cells[at]
        above, line = self._lines[at - 1], self._lines[at]
        is_tight = above.bottom - line.bottom <= _TIGHT * line.size and above.bold == line.bold
        return is_tight and (bisect([left for left, _ in gutters], cell.left) > 0 or line.text[0].islower())

    def _is_heading_above(self, at: int, gutters: Sequence[Interval]) -> bool:
        """Whether a line is a heading above a table rather than its first line."""
        first, second = (sum(map(bool, assign_columns(self.cells[at + offset], gutters))) for offset in (0, 1))
        line = self._lines[at + 1]
        is_apart = self._lines[at].bottom - line.bottom > _TIGHT * line.size
        return is_apart and first < second and first <= max(1, (len(gutters) + 1) / 2)


def _all_remain(gutters: Sequence[Interval], kept: Sequence[Interval], width: float) -> bool:
    """Whether each gutter at least `width` wide overlaps one of the kept ones."""
    return all(
        any(gap[0] < right and gap[1] > start for gap in kept) for start, right in gutters if right - start >= width
    )


def assign_columns(cells: Sequence[Cell], gutters: Sequence[Interval]) -> list[list[Cell]]:
    """Assign the cells of a line to columns."""
    middles = [(left + right) / 2 for left, right in gutters]
    in_columns: list[list[Cell]] = [[] for _ in range(len(gutters) + 1)]
    for cell in cells:
        in_columns[bisect(middles, (cell.left + cell.right) / 2)].append(cell)
    return in_columns
