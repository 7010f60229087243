"""Find the tables of a page by the gutters between columns, and join their lines into rows with bars between cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import median
from typing import NamedTuple

from corpus.readers.pdf.page.cells import Cell
from corpus.readers.pdf.page.evidence import are_rows, is_table
from corpus.readers.pdf.page.grid import Grid, GridFinder, assign_columns
from corpus.readers.pdf.page.grouping import group_if
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.page.rows import continues_table, join_lines, join_rows
from corpus.readers.pdf.page.rules import Drawing, RuledTable, rules_across

# In line heights: how far above or below a table's lines its rules may be.
_BEYOND = 1.5


class _Rows(NamedTuple):
    """The rows of a table that takes up the lines `start` up to `end`."""

    start: int
    end: int
    rows: list[Line]


def join_tables(lines: Sequence[Line], drawing: Drawing) -> Iterator[Line]:
    """Yield the lines of a page in order, those of a table joined into rows with bars between cells."""
    finder = GridFinder(lines)
    ruled = dict(_find_ruled(lines, finder, drawing.tables))
    at = number = 0
    rows_above: Sequence[Line] = ()
    while at < len(lines):
        start, end, rows = ruled.get(at) or _find_rows(lines, finder, at, drawing)
        if not rows:
            yield lines[at]
            rows_above = ()
            at += 1
            continue
        yield from lines[at:start]
        if at < start or not continues_table(rows_above, rows):
            number += 1
        for row in rows:
            row.table = number
            yield row
        rows_above, at = rows, end


def _find_ruled(lines: Sequence[Line], finder: GridFinder, tables: Sequence[RuledTable]) -> Iterator[tuple[int, _Rows]]:
    """Yield the first line of each ruled table, and its rows."""
    owners = [next((table for table in tables if table.has(line)), None) for line in lines]
    end = 0
    for table, run in groupby(owners):
        start, end = end, end + len(list(run))
        if table is not None and (rows := _ruled_rows(lines[start:end], finder.cells[start:end], table)):
            yield start, _Rows(start, end, rows)


def _ruled_rows(lines: Sequence[Line], cells: Sequence[Sequence[Cell]], table: RuledTable) -> list[Line]:
    """Return the rows of a ruled table: what is between two rules is one row; none if it is no table."""
    by_column = [assign_columns(row, [(x, x) for x in table.columns]) for row in cells]
    texts = _cell_texts(lines, by_column)
    groups = group_if(range(len(lines)), lambda group, at: table.row_of(lines[group[0]]) == table.row_of(lines[at]))
    if not are_rows(lines, cells, [[texts[at] for at in group] for group in groups]):
        return []
    return [join_lines([lines[at] for at in group], [by_column[at] for at in group]) for group in groups]


def _cell_texts(lines: Sequence[Line], by_column: Sequence[Sequence[Sequence[Cell]]]) -> list[list[str]]:
    return [
        [" ".join(line.text[cell.start : cell.end] for cell in part) for part in row]
        for line, row in zip(lines, by_column, strict=True)
    ]


def _find_rows(lines: Sequence[Line], finder: GridFinder, at: int, drawing: Drawing) -> _Rows:
    """Return the rows of the table that begins at a line or just below it; none if there is no table."""
    grid = finder.find_largest(at)
    rows = [] if grid is None else _table_rows(lines, finder, grid, drawing)
    return _Rows(grid.start, grid.end, rows) if grid is not None else _Rows(at, at, rows)


def _table_rows(lines: Sequence[Line], finder: GridFinder, grid: Grid, drawing: Drawing) -> list[Line]:
    """Return the rows of a grid; none if it is not a table."""
    lines, parts = lines[grid.start : grid.end], finder.cells[grid.start : grid.end]
    by_column = [
        [] if grid.start + at in grid.across else assign_columns(cells, grid.gutters) for at, cells in enumerate(parts)
    ]
    texts = _cell_texts(lines, by_column)
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    beyond = _BEYOND * median(line.size for line in lines)
    drawn = rules_across(drawing, left, right, lines[-1].bottom - beyond, lines[0].top + beyond)
    return join_rows(lines, by_column, texts, drawn) if is_table(lines, parts, texts, grid.gutters, drawn) else []
