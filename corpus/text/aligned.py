"""Tables without bars, whose cells are below each other: two blanks or more, or a tab, are between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

# Two blanks after the full stop of a word are those of a typewriter; "20.04." is a date.
_GAP = re.compile(r"(?<![!?:;,])(?<![^\W\d]\.) {2,}| {3,}")
_RULE = re.compile(r"\s*[-=_+ ]{3,}\s*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
# The fewest columns, cells of a row, and rows without and with column names.
_COLUMNS, _FEWEST_CELLS, _ROWS, _NAMED_ROWS = 3, 2, 3, 2

Span = tuple[int, int]


class AlignedTable(NamedTuple):
    """A table among the lines of a text.

    Attributes:
        end: The line after its last one.
        columns: The names of its columns; "" for the one of row names. Empty if no line has them.
        rows: For each line with values its number and the span of each cell in it; an empty one has no characters.
    """

    end: int
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[Span, ...]], ...]


def aligned_table(lines: Sequence[str], at: int = 0, names: Sequence[str] = ()) -> AlignedTable | None:
    """Return the table that begins in a line; None if none does.

    The first line has the column names if a rule is below it, or if it has no numbers (years aside), or none written
    like one below it, but a column of values has. `names` are those of a table that continues here.
    """
    if "  " not in lines[at] and "\t" not in lines[at]:
        return None
    header = _cells(lines[at])
    if len(header) < _FEWEST_CELLS or at + 1 >= len(lines) + bool(names):
        return None
    if names:
        # Only a row without empty cells shows where the columns are.
        full = (cells for cells in map(_cells, lines[at:]) if len(cells) == len(names))
        return _table(lines, at, next(full, []), names=tuple(names), least=1)
    has_rule = _is_rule(lines[at + 1])
    below = _cells(lines[min(at + 1 + has_rule, len(lines) - 1)])[0]
    if below[1] <= header[0][0]:  # row names need none themselves
        header.insert(0, (below[0], below[0]))
    found = tuple(lines[at][slice(*cell)] for cell in header)
    named = _table(lines, at + 1, header, names=found, least=_NAMED_ROWS)
    if named is not None and (has_rule or _names_columns(lines, named)):
        return named
    return _table(lines, at, _cells(lines[at]), names=(), least=_ROWS)


def _table(
    lines: Sequence[str], first: int, columns: Sequence[Span], *, names: tuple[str, ...], least: int
) -> AlignedTable | None:
    """Return the table with these columns whose values begin with line `first`, if it has enough rows."""
    if len(columns) < _COLUMNS:
        return None
    rows: list[tuple[int, tuple[Span, ...]]] = []
    for number in range(first, len(lines)):
        if _is_rule(lines[number]):
            continue
        if not (row := _row(lines[number], columns)):
            break
        rows.append((number, row))
    return AlignedTable(rows[-1][0] + 1, names, tuple(rows)) if len(rows) >= least else None


def _names_columns(lines: Sequence[str], table: AlignedTable) -> bool:
    """Whether the first line has no values, but a column below it does.

    Of a column named by a number, such as "1-5 years", no value may be written like that; nor may a word without one be
    like those of a column without values.
    """
    _, *columns = zip(*([lines[number][slice(*cell)] for cell in row] for number, row in table.rows), strict=True)
    first, *names = table.columns
    if not any(map(_has_values, columns)):
        return False
    if not any(_DIGIT.search(_YEAR.sub("", name)) for name in table.columns):
        return True
    compared = [pair for pair in zip(names, columns, strict=True) if _DIGIT.search(pair[0]) or not _has_values(pair[1])]
    return not _DIGIT.search(first) and not any(_form(name) in map(_form, column) for name, column in compared)


def _has_values(column: Sequence[str]) -> bool:
    return 2 * sum(map(bool, map(_DIGIT.search, column))) >= len(column)


def _form(cell: str) -> str:
    """For example "9-9 a" for "1-5 years"."""
    return _LETTERS.sub("a", _NUMBER.sub("9", cell))


def _is_rule(line: str) -> bool:
    return _RULE.fullmatch(line) is not None


def _cells(line: str) -> list[Span]:
    if "\t" in line.strip():
        return list(_tabbed(line, line.count("\t") + 1))
    found, at = [], len(line) - len(line.lstrip())
    end = len(line.rstrip())
    for gap in _GAP.finditer(line, at, end):
        found.append((at, gap.start()))
        at = gap.end()
    return [*found, (at, end)]


def _tabbed(line: str, count: int) -> tuple[Span, ...]:
    """Return the cells between the tabs of a line; () if it has too many, or nothing in them."""
    found, at = [], 0
    for cell in line.split("\t"):
        start = at + len(cell) - len(cell.lstrip())
        found.append((start, start + len(cell.strip())))
        at += len(cell) + 1
    return (*found, *[(len(line), len(line))] * (count - len(found))) if line.strip() and len(found) <= count else ()


def _row(line: str, columns: Sequence[Span]) -> tuple[Span, ...]:
    """Return the cells of a line, one for each column; () if they are not below the columns' own."""
    if "\t" in line:
        return _tabbed(line, len(columns))
    cells = _cells(line)
    if len(cells) < len(columns) and len(divided := list(_divided(line, cells, columns))) == len(columns):
        return tuple(divided)
    exact = [[i for i, (first, last) in enumerate(columns) if start == first or end == last] for start, end in cells]
    if len(cells) < _FEWEST_CELLS or not any(map(any, exact)):
        return ()
    if len(cells) == len(columns) and not all(exact):  # a long cell has moved the others
        return tuple(cells)
    found: dict[int, Span] = {}
    for (start, end), same in zip(cells, exact, strict=True):
        at = next((i for i, (first, last) in enumerate(columns) if start < max(last, first + 1)), len(columns) - 1)
        at = same[0] if same else at
        if found and at < max(found):
            return ()
        # A remark behind the last column belongs to it.
        found[at] = (found[at][0] if at in found else start, end)
    return tuple(found.get(i, (len(line), len(line))) for i in range(len(columns)))


def _divided(line: str, cells: Sequence[Span], columns: Sequence[Span]) -> Iterator[Span]:
    """Yield the cells of a line; one so long that a single blank follows ends where a number begins the next column."""
    for start, end in cells:
        inside = [at for at, _ in columns if start < at < end and line[at - 1] == " " and line[at].isdigit()]
        for left, right in pairwise((start, *inside, end)):
            yield left, left + len(line[left:right].rstrip())
