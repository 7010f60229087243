"""Find the tables of a page by the gutters between columns, and join their lines into rows with bars between cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from corpus.readers.pdf.page.evidence import is_table
from corpus.readers.pdf.page.grid import Grid, GridFinder, assign_columns
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.page.rows import continues_table, join_rows
from corpus.readers.pdf.page.rules import Rule, rules_across

# In line heights: how far above or below a table's lines its rules may be.
_BEYOND = 1.5


def join_tables(lines: Sequence[Line], find_rules: Callable[[], list[Rule]]) -> Iterator[Line]:
    """Yield the lines of a page in order, those of a table joined into rows with bars between cells."""
    finder = GridFinder(lines)
    at = number = 0
    rows_above: Sequence[Line] = ()
    while at < len(lines):
        grid = finder.find_largest(at)
        rows = [] if grid is None else _table_rows(lines, finder, grid, find_rules())
        if grid is None or not rows:
            yield lines[at]
            rows_above = ()
            at += 1
            continue
        yield from lines[at : grid.start]
        if at < grid.start or not continues_table(rows_above, rows):
            number += 1
        for row in rows:
            row.table = number
            yield row
        rows_above, at = rows, grid.end


def _table_rows(lines: Sequence[Line], finder: GridFinder, grid: Grid, rules: Sequence[Rule]) -> list[Line]:
    """Return the rows of a grid; none if it is not a table."""
    lines, parts = lines[grid.start : grid.end], finder.cells[grid.start : grid.end]
    by_column = [
        [] if grid.start + at in grid.across else assign_columns(cells, grid.gutters) for at, cells in enumerate(parts)
    ]
    texts = [
        [" ".join(line.text[cell.start : cell.end] for cell in part) for part in row]
        for line, row in zip(lines, by_column, strict=True)
    ]
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    beyond = _BEYOND * median(line.size for line in lines)
    drawn = rules_across(rules, left, right, lines[-1].bottom - beyond, lines[0].top + beyond)
    return join_rows(lines, by_column, texts, drawn) if is_table(lines, parts, texts, grid.gutters, drawn) else []
