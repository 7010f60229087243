"""Find the tables of a page by the gutters between columns; write them as rows with bars between cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from statistics import median

from corpus.readers.pdf.page.evidence import is_table
from corpus.readers.pdf.page.grid import Grid, GridFinder, columns
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.page.rows import continues_table, rows_of
from corpus.readers.pdf.page.rules import Rule, across

# In line heights: how far above and below a table's lines its rules may be.
_BEYOND = 1.5


def with_tables(lines: Sequence[Line], find_rules: Callable[[], list[Rule]]) -> Iterator[Line]:
    """Yield the lines of a page in order, those of a table joined into rows with bars between cells."""
    finder = GridFinder(lines)
    rules_of_page = cache(find_rules)
    at = number = 0
    last: Sequence[Line] = ()
    while at < len(lines):
        grid = finder.best(at)
        rows = [] if grid is None else _rows(lines, finder, grid, rules_of_page())
        if grid is None or not rows:
            yield lines[at]
            last = ()
            at += 1
            continue
        yield from lines[at : grid.start]
        if at < grid.start or not continues_table(last, rows):
            number += 1
        for row in rows:
            row.table = number
            yield row
        last, at = rows, grid.end


def _rows(lines: Sequence[Line], finder: GridFinder, grid: Grid, rules: Sequence[Rule]) -> list[Line]:
    """Return the rows of a grid; none if it is not a table."""
    lines, parts = lines[grid.start : grid.end], finder.cells[grid.start : grid.end]
    split = [[] if grid.start + at in grid.across else columns(cells, grid.gutters) for at, cells in enumerate(parts)]
    texts = [
        [" ".join(line.text[cell.start : cell.end] for cell in column) for column in row]
        for line, row in zip(lines, split, strict=True)
    ]
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    beyond = _BEYOND * median(line.size for line in lines)
    drawn = across(rules, left, right, lines[-1].bottom - beyond, lines[0].top + beyond)
    return rows_of(lines, split, texts, drawn) if is_table(lines, parts, texts, grid.gutters, drawn) else []
