"""Tables without bars, whose columns are aligned by two or more blanks or separated by tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

# Not two blanks after the full stop of a word, as written with a typewriter; "20.04." is a date.
_GAP = re.compile(r"(?<![!?:;,])(?<![^\W\d]\.) {2,}| {3,}")
_RULE = re.compile(r"\s*[-=_+ ]{3,}\s*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
# Minimum number of columns, of cells in a row, and of rows without and with column names.
_MIN_COLUMNS, _MIN_CELLS, _MIN_ROWS, _MIN_NAMED_ROWS = 3, 2, 3, 2

Span = tuple[int, int]


class AlignedTable(NamedTuple):
    """A table among the lines of a text.

    Attributes:
        end: The line after its last line.
        columns: The names of its columns; "" for a column of row names. Empty if no line has the names.
        rows: For each line with values, its number and the span of each cell in it; that of an empty cell is empty.
    """

    end: int
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[Span, ...]], ...]


def aligned_table(lines: Sequence[str], at: int = 0, names: Sequence[str] = ()) -> AlignedTable | None:
    """Return the table without bars that begins on a line, or None.

    The first line has the column names if a rule is below it, or if some column has numbers, and the first line has
    none (years aside) or none of the same shape. For a table that continues here, pass its column `names`.
    """
    if ("  " not in lines[at] and "\t" not in lines[at]) or "|" in lines[at]:
        return None
    # reStructuredText has a rule above the column names, too.
    is_framed = _is_rule(lines[at]) and at + 2 < len(lines) and _is_rule(lines[at + 2])
    at += is_framed
    header = _split_cells(lines[at])
    if len(header) < _MIN_CELLS or at + 1 >= len(lines) + bool(names):
        return None
    if names:
        # The columns are those of a row without empty cells.
        full_rows = (cells for cells in map(_split_cells, lines[at:]) if len(cells) == len(names))
        return _read_table(lines, at, next(full_rows, []), names=tuple(names), min_rows=1)
    has_rule = _is_rule(lines[at + 1])
    below = _split_cells(lines[min(at + 1 + has_rule, len(lines) - 1)])[0]
    if below[1] <= header[0][0]:  # a column of row names may have no name
        header.insert(0, (below[0], below[0]))
    column_names = tuple(lines[at][slice(*cell)] for cell in header)
    named = _read_table(lines, at + 1, header, names=column_names, min_rows=1 if is_framed else _MIN_NAMED_ROWS)
    if named is not None and (has_rule or _has_column_names(lines, named)):
        return named
    return _read_table(lines, at, _split_cells(lines[at]), names=(), min_rows=_MIN_ROWS)


def _read_table(
    lines: Sequence[str], first: int, columns: Sequence[Span], *, names: tuple[str, ...], min_rows: int
) -> AlignedTable | None:
    """Return the table with these columns whose values begin on line `first`, or None if it has too few rows."""
    if len(columns) < _MIN_COLUMNS:
        return None
    rows: list[tuple[int, tuple[Span, ...]]] = []
    for number in range(first, len(lines)):
        if _is_rule(lines[number]):
            continue
        if not (row := _row_cells(lines[number], columns)):
            break
        rows.append((number, row))
    return AlignedTable(rows[-1][0] + 1, names, tuple(rows)) if len(rows) >= min_rows else None


def _has_column_names(lines: Sequence[str], table: AlignedTable) -> bool:
    """Whether the first line has no values, but a column below it does.

    If a name has a number, as in "1-5 years", no value below it may have its shape. Then no name of a column without
    values may have the shape of a cell below it either.
    """
    _, *columns = zip(*([lines[number][slice(*cell)] for cell in row] for number, row in table.rows), strict=True)
    first, *names = table.columns
    if not any(map(_has_values, columns)):
        return False
    if not any(_DIGIT.search(_YEAR.sub("", name)) for name in table.columns):
        return True
    pairs = [pair for pair in zip(names, columns, strict=True) if _DIGIT.search(pair[0]) or not _has_values(pair[1])]
    return not _DIGIT.search(first) and not any(_shape(name) in map(_shape, column) for name, column in pairs)


def _has_values(column: Sequence[str]) -> bool:
    return 2 * sum(map(bool, map(_DIGIT.search, column))) >= len(column)


def _shape(cell: str) -> str:
    """Return the shape of a cell: "9-9 a" for "1-5 years"."""
    return _LETTERS.sub("a", _NUMBER.sub("9", cell))


def _is_rule(line: str) -> bool:
    return _RULE.fullmatch(line) is not None


def _split_cells(line: str) -> list[Span]:
    if "\t" in line.strip():
        return list(_tab_separated_cells(line, line.count("\t") + 1))
    cells, at = [], len(line) - len(line.lstrip())
    end = len(line.rstrip())
    for gap in _GAP.finditer(line, at, end):
        cells.append((at, gap.start()))
        at = gap.end()
    return [*cells, (at, end)]


def _tab_separated_cells(line: str, count: int) -> tuple[Span, ...]:
    """Return the cells between the tabs of a line; () if there are too many, or all are empty."""
    cells, at = [], 0
    for cell in line.split("\t"):
        start = at + len(cell) - len(cell.lstrip())
        cells.append((start, start + len(cell.strip())))
        at += len(cell) + 1
    return (*cells, *[(len(line), len(line))] * (count - len(cells))) if line.strip() and len(cells) <= count else ()


def _row_cells(line: str, columns: Sequence[Span]) -> tuple[Span, ...]:
    """Return the cells of a line, one for each column; () if they are not aligned with the columns."""
    if "\t" in line:
        return _tab_separated_cells(line, len(columns))
    cells = _split_cells(line)
    if len(cells) < len(columns) and len(divided := list(_divide_cells(line, cells, columns))) == len(columns):
        return tuple(divided)
    aligned = [[i for i, (first, last) in enumerate(columns) if start == first or end == last] for start, end in cells]
    if len(cells) < _MIN_CELLS or not any(map(any, aligned)):
        return ()
    if len(cells) == len(columns) and not all(aligned):  # a long cell has moved the others
        return tuple(cells)
    by_column: dict[int, Span] = {}
    for (start, end), aligned_columns in zip(cells, aligned, strict=True):
        column = next((i for i, (first, last) in enumerate(columns) if start < max(last, first + 1)), len(columns) - 1)
        column = aligned_columns[0] if aligned_columns else column
        if by_column and column < max(by_column):
            return ()
        # A remark after the last column belongs to that column.
        by_column[column] = (by_column[column][0] if column in by_column else start, end)
    return tuple(by_column.get(i, (len(line), len(line))) for i in range(len(columns)))


def _divide_cells(line: str, cells: Sequence[Span], columns: Sequence[Span]) -> Iterator[Span]:
    """Yield the cells of a line, after splitting long cells at a single blank where a number begins the next column."""
    for start, end in cells:
        starts = [at for at, _ in columns if start < at < end and line[at - 1] == " " and line[at].isdigit()]
        for left, right in pairwise((start, *starts, end)):
            yield left, left + len(line[left:right].rstrip())
