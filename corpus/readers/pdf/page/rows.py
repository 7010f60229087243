"""Join the lines of a table into rows, with bars between cells; a cell may have several lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median_high

from corpus.readers.pdf.page.cells import Cell, find_value_columns, is_value
from corpus.readers.pdf.page.characters import Box
from corpus.readers.pdf.page.grouping import group_if
from corpus.readers.pdf.page.line import Line

# In line heights: the largest distance between lines of one cell.
_TIGHT = 1.45
# The most lines that column names take up.
_MAX_HEADER_LINES = 3
# Rules can separate all rows only in a table of at least this many rows.
_MIN_BANDS = 3
# Lines closer than this, in line heights, overlap; lines of one row are closer than this share of the row spacing.
_OVERLAP, _CLOSER = 0.8, 0.85
# Stands for an empty first cell, which would otherwise be lost: a row cannot begin with a bar.
_EMPTY = "–"

Columns = Sequence[Sequence[Cell]]


def continues_table(above: Sequence[Line], rows: Sequence[Line]) -> bool:
    """Whether rows continue the table above: they have as many cells, and do not begin with column names."""
    cells = rows[0].text.split(" | ")
    return (
        bool(above) and len(cells) == max(row.text.count(" | ") + 1 for row in above) and any(map(is_value, cells[1:]))
    )


def join_rows(
    lines: Sequence[Line], cells: Sequence[Columns], texts: Sequence[Sequence[str]], drawn: Sequence[float]
) -> list[Line]:
    """Join the lines of a table into rows.

    Args:
        lines: Lines of the table, from top to bottom.
        cells: Cells of each line in each column; () for a line across columns.
        texts: The text of these cells.
        drawn: Heights of the rules across the table.
    """
    groups = group_if(range(len(lines)), _Table(lines, texts, drawn).is_same_row)
    return [join_lines([lines[at] for at in group], [cells[at] for at in group]) for group in groups]


class _Table:
    """The lines of a table, by number from the top, and the texts of their cells; see `join_rows`."""

    def __init__(self, lines: Sequence[Line], texts: Sequence[Sequence[str]], drawn: Sequence[float]) -> None:
        self._lines, self._texts = lines, texts
        self._values = find_value_columns([row for row in texts if row])
        # The number of rules above each line.
        self._bands = [sum(y > line.bottom + 0.3 * line.size for y in drawn) for line in lines]
        self._is_banded = self._are_rows_ruled()
        self._header_lines = self._count_header_lines()

    def _are_rows_ruled(self) -> bool:
        """Whether rules separate all rows: between two rules, no column has more than one number."""
        bands: dict[int, list[Sequence[str]]] = {}
        for band, row in zip(self._bands, self._texts, strict=True):
            bands.setdefault(band, []).append(row)
        if len(bands) < _MIN_BANDS or not all(self._texts):
            return False
        return all(
            sum(is_value(row[column]) for row in rows) <= 1 and not all(map(all, rows))
            for rows in bands.values()
            if len(rows) > 1
            for column in self._values or (0,)
        )

    def _count_header_lines(self) -> int:
        """Count the lines at the top with column names: up to a rule, a gap or the first number."""
        for at, row in enumerate(self._texts[: _MAX_HEADER_LINES + 1]):
            numeric = [row[column] for column in self._values if row and is_value(row[column])]
            if not row or any(not text.startswith("(") for text in numeric):
                return at if self._values else 1
            if at and self._is_apart(at):
                return at
        return 1

    def _is_apart(self, at: int) -> bool:
        """Whether a rule or a gap is above a line."""
        return self._bands[at] != self._bands[at - 1] or self._step_above(at) > _TIGHT * self._lines[at].size

    def _step_above(self, at: int) -> float:
        return self._lines[at - 1].bottom - self._lines[at].bottom

    def is_same_row(self, group: Sequence[int], at: int) -> bool:
        """Whether a line continues cells of the row above it."""
        texts = self._texts[at]
        if not texts or not self._texts[group[-1]]:
            return False
        if self._is_banded:
            return self._bands[at] == self._bands[at - 1]
        if self._is_apart(at):
            return False
        filled = {column for column, text in enumerate(texts) if text}
        filled_above = {column for row in group for column, text in enumerate(self._texts[row]) if text}
        step = self._step_above(at)
        if at < self._header_lines or (step < _OVERLAP * self._lines[at].size and not filled & filled_above):
            return True
        stacked = any(is_value(texts[column]) for column in filled & filled_above & self._values)
        if group[0] < self._header_lines or stacked or not filled <= filled_above:
            return False
        continues_text = texts[0][:1].islower() and self._values and not filled & self._values
        is_sparse = len(filled) <= len(texts) / 2
        return bool(continues_text) or (is_sparse and (not texts[0] or step < _CLOSER * self._median_row_step()))

    def _median_row_step(self) -> float:
        """Median distance between rows, judged by lines with most cells filled."""
        full = [
            line.bottom
            for line, row in zip(self._lines, self._texts, strict=True)
            if sum(map(bool, row)) > len(row) / 2
        ]
        return median_high([above - below for above, below in pairwise(full)] or [0.0])


def join_lines(lines: Sequence[Line], cells: Sequence[Columns]) -> Line:
    """Join the lines of a row; the text of each column is between bars."""
    first = lines[0]
    if not cells[0]:
        return first
    columns = [
        [(line, cell) for line, row in zip(lines, cells, strict=True) for cell in row[number]]
        for number in range(len(cells[0]))
    ]
    while not columns[-1]:
        columns.pop()
    left = min(line.left for line in lines)
    text = ""
    boxes: list[Box] = []

    def append_blank(text_between: str) -> None:
        nonlocal text
        _, low, x, high = boxes[-1] if boxes else (left, first.bottom, left, first.top)
        text += text_between
        boxes.extend([(x, low, x, high)] * len(text_between))

    for number, column in enumerate(columns):
        append_blank(" | " if number else "" if column else _EMPTY)
        for place, (line, cell) in enumerate(column):
            append_blank(" " if place else "")
            text += line.text[cell.start : cell.end]
            boxes += line.boxes[cell.start : cell.end]
    bold, gaps = all(line.bold for line in lines), max(line.gaps for line in lines)
    row = replace(first, text=text, boxes=boxes, bold=bold, gaps=gaps)
    row.left, row.right = left, max(line.right for line in lines)
    row.bottom, row.top = lines[-1].bottom, first.top
    return row
