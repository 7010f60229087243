"""Find rules: lines drawn across a page, such as those above and below the rows of a table."""

from __future__ import annotations

import ctypes
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from operator import itemgetter, neg
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from corpus.readers.pdf.page.characters import Box
from corpus.readers.pdf.page.frame import Frame
from corpus.readers.pdf.page.grouping import group_if
from corpus.readers.pdf.page.line import Line

# A page with more drawn objects is not searched for rules.
_MAX_OBJECTS = 4000
# In points: the thickest and the shortest rule, and how much the heights of its parts may differ.
_THICK, _LONG, _SAME = 2.5, 6.0, 2.0
# A ruled table has at least this many horizontal rules; how far within it, in points, columns end.
_MIN_RULES, _INNER = 3, 6.0
# In points: the smallest gap between cells on both sides of a line.
_CELL_GAP = 5.0
# In line heights: the middle of small letters above the baseline.
_MIDDLE = 0.25
# A rule covers at least this share of a table's width.
_SHARE = 0.7
# On either side, a rule extends beyond a table by at most this share of the table's width plus this many points.
_BEYOND, _MARGIN = 0.12, 12.0


class Rule(NamedTuple):
    """A horizontal line, or an edge of a box."""

    y: float
    left: float
    right: float


class RuledTable(NamedTuple):
    """A table with lines between its cells.

    Attributes:
        left: Its left edge.
        right: Its right edge.
        heights: Heights of its horizontal lines from top to bottom.
        columns: The x of the lines between its columns.
    """

    left: float
    right: float
    heights: tuple[float, ...]
    columns: tuple[float, ...]

    def has(self, line: Line) -> bool:
        """Whether a line or a part of one is in the table."""
        is_beside = self.left - _SAME <= line.left and line.right <= self.right + _SAME
        return is_beside and 0 < self.row_of(line) < len(self.heights)

    def row_of(self, line: Line) -> int:
        """Return the number of rules above the middle of a line."""
        return bisect(self.heights, -line.bottom - _MIDDLE * line.size, key=neg)


class _Row(NamedTuple):
    """The rules above and below the cells of a row, and the x of the lines between them."""

    above: Rule
    below: Rule
    columns: Sequence[float]


class Drawing(NamedTuple):
    """The horizontal rules of a page, from top to bottom, and the tables that have vertical ones, too."""

    rules: Sequence[Rule] = ()
    tables: Sequence[RuledTable] = ()


def find_rules(page: Any, frame: Frame) -> Drawing:
    """Return what is ruled on a page in its frame."""
    count = pdfium.FPDFPage_CountObjects(page.raw)
    if count > _MAX_OBJECTS:
        return Drawing()
    boxes = list(_boxes(page, count, frame))
    rules = [
        Rule(y, left, right)
        for left, bottom, right, top in boxes
        if right - left >= _LONG
        for y in ((top, bottom) if top - bottom > _THICK else (top,))
    ]
    rules.sort(reverse=True)
    return Drawing(rules, list(_ruled_tables(rules, boxes)))


def _boxes(page: Any, count: int, frame: Frame) -> Iterator[Box]:
    """Yield the boxes of drawn lines and shapes."""
    edges = [ctypes.c_float() for _ in range(4)]
    for number in range(count):
        part = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(part) == pdfium.FPDF_PAGEOBJ_PATH and pdfium.FPDFPageObj_GetBounds(part, *edges):
            yield from frame.move([(edges[0].value, edges[1].value, edges[2].value, edges[3].value)])


def _ruled_tables(rules: Sequence[Rule], boxes: Sequence[Box]) -> Iterator[RuledTable]:
    """Yield the tables with at least two rows: between rules with the same ends, there are lines between columns."""
    by_ends: dict[tuple[int, int], list[Rule]] = {}
    for level in group_if(rules, lambda level, rule: level[0].y - rule.y <= _SAME):
        for rule in _join_touching(level):
            by_ends.setdefault((round(rule.left / _SAME), round(rule.right / _SAME)), []).append(rule)
    lines = [box for box in boxes if box[3] - box[1] >= _LONG]
    for levels in by_ends.values():
        if len(levels) >= _MIN_RULES:
            left, right = levels[0].left + _INNER, levels[0].right - _INNER
            inner = [(x, box[1], box[3]) for box in lines for x in {box[0], box[2]} if left < x < right]
            rows = [_Row(above, below, _crossing(above, below, inner)) for above, below in pairwise(levels)]
            for has_columns, run in groupby(rows, key=lambda row: bool(row.columns)):
                if has_columns and len(table := list(run)) >= _MIN_RULES - 1:
                    yield _build_table(table)


def _crossing(above: Rule, below: Rule, lines: Sequence[tuple[float, float, float]]) -> list[float]:
    middle = (above.y + below.y) / 2
    return [x for x, bottom, top in lines if bottom < middle < top]


def _build_table(rows: Sequence[_Row]) -> RuledTable:
    """Build a table; a line between columns is in at least half of its rows."""
    columns = group_if(sorted(x for row in rows for x in row.columns), lambda group, x: x - group[-1] <= _SAME)
    first, last = rows[0].above, rows[-1].below
    return RuledTable(
        max(first.left, last.left),
        min(first.right, last.right),
        (first.y, *(row.below.y for row in rows)),
        tuple(column[0] for column in columns if 2 * len(column) >= len(rows)),
    )


def _join_touching(rules: Sequence[Rule]) -> list[Rule]:
    """Join rules at one height that touch each other, such as those of the cells of a row."""
    joined: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: rule.left):
        if joined and rule.left <= joined[-1].right + _SAME:
            joined[-1] = Rule(rules[0].y, joined[-1].left, max(joined[-1].right, rule.right))
        else:
            joined.append(Rule(rules[0].y, rule.left, rule.right))
    return joined


def rules_across(drawing: Drawing, left: float, right: float, low: float, high: float) -> Sequence[float]:
    """Return the heights, from top to bottom, of the rules between `low` and `high` that are as wide as a table.

    The last column of a ruled table may be much wider than its text.
    """
    for table in drawing.tables:
        heights = [y for y in table.heights if low <= y <= high]
        if len(heights) >= _MIN_RULES and table.left <= left + _SAME and right <= table.right + _SAME:
            return heights
    in_range = [rule for rule in drawing.rules if low <= rule.y <= high]
    levels = group_if(in_range, lambda level, rule: level[0].y - rule.y <= _SAME)
    return [level[0].y for level in levels if _span_table(level, left, right)]


def _span_table(rules: Sequence[Rule], left: float, right: float) -> bool:
    """Whether rules at one height cover most of a table's width, and do not extend far beyond it."""
    beyond = _BEYOND * (right - left) + _MARGIN
    near = [rule for rule in rules if rule.right > left - beyond and rule.left < right + beyond]
    if any(rule.left < left - beyond or rule.right > right + beyond for rule in near):
        return False
    total, end = 0.0, left
    for rule in sorted(near, key=lambda rule: rule.left):
        total += max(0.0, min(right, rule.right) - max(end, rule.left))
        end = max(end, min(right, rule.right))
    return total >= _SHARE * (right - left)


def cut_at_columns(line: Line, tables: Sequence[RuledTable]) -> list[Line]:
    """Cut a line at the spaces between the columns of the ruled table that it is in; cells may have other baselines."""
    columns = next((table.columns for table in tables if table.has(line)), ())
    parts: list[Line] = []
    first = 0
    for x in columns:
        at = bisect(line.boxes, x, first, key=itemgetter(0))
        if first + 1 < at < len(line.text) and line.text[at - 1] == " ":
            end = line.boxes[at - 2][2]
            if end <= x and line.boxes[at][0] - end > _CELL_GAP:
                parts.append(replace(line, text=line.text[first : at - 1], boxes=line.boxes[first : at - 1]))
                first = at
    return [*parts, replace(line, text=line.text[first:], boxes=line.boxes[first:])] if parts else [line]
