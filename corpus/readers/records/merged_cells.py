"""Merged cells of sheets: their text in each row that they span, and names of columns in several rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from corpus.readers.records.tables import count_filled, is_value, is_year

# Longer texts are not repeated in each row that they span.
_MAX_REPEATED = 100
# At most as many rows and columns are looked at for all merged cells of a sheet.
_MAX_SPANNED = 50_000


class Merged(NamedTuple):
    """The first and the last row and column of merged cells; rows are numbered from 1, columns from 0."""

    top: int
    left: int
    bottom: int
    right: int


NumberedRow = tuple[int, list[str]]


def fill_merged(rows: Sequence[NumberedRow], merged: Sequence[Merged]) -> list[NumberedRow]:
    """Repeat the text of merged cells in each row below, and join names of columns in consecutive rows.

    "Income" in a cell above "Plan" and "Actual" makes them "Income Plan" and "Income Actual". Other texts are not
    repeated in the columns that they span, as forms and notes often span many. Blank rows are left out of `rows`, whose
    cells are changed.
    """
    numbers = [number for number, _ in rows]
    wide: dict[int, list[Merged]] = {}
    room = _MAX_SPANNED
    for cells in merged:
        first = bisect_left(numbers, cells.top)
        if first == len(rows) or numbers[first] != cells.top or not (text := _text(rows[first][1], cells.left)):
            continue
        if cells.top == cells.bottom:
            room -= cells.right - cells.left + 1
            if room > 0:
                wide.setdefault(cells.top, []).append(cells)
        elif len(text) <= _MAX_REPEATED:
            for at in range(first + 1, len(rows)):
                room -= 1
                if room <= 0 or numbers[at] > cells.bottom:
                    break
                _repeat(text, rows[at][1], range(cells.left, cells.left + 1))
    return _with_joined_names(rows, wide)


def _with_joined_names(rows: Sequence[NumberedRow], wide: Mapping[int, Sequence[Merged]]) -> list[NumberedRow]:
    """Join rows of names at the top of a table; `wide` has the cells of each row that span several columns."""
    joined: list[NumberedRow] = []
    for number, row in rows:
        above = wide.get(number - 1, ())
        rest = row
        if above and joined and joined[-1][0] == number - 1 and _is_top(joined):
            upper, lower = _spread(joined[-1][1], above), _spread(row, wide.get(number, ()))
            if _are_names(upper, lower, above):
                names, rest = _join(upper, lower, above)
                joined[-1] = number, names
        if any(map(str.strip, rest)):
            joined.append((number, rest))
    return joined


def _is_top(rows: Sequence[NumberedRow]) -> bool:
    """Whether the last row has only a title above it, or nothing."""
    return len(rows) < 2 or rows[-2][0] < rows[-1][0] - 1 or count_filled(rows[-2][1]) < 2


def _are_names(upper: Sequence[str], lower: Sequence[str], above: Sequence[Merged]) -> bool:
    """Whether a row has several names below each of the cells `above`, and the row of these is not a title."""
    first = min(_first(upper), _first(lower))
    spanned = [[_text(lower, column) for column in range(cells.left, cells.right + 1)] for cells in above]
    if any(len(set(texts)) < 2 or not all(map(_is_name, texts)) for texts in spanned):
        return False
    # The rows below names have labels of their own.
    labels = {_text(row, first) for row in (upper, lower)} - {""}
    is_title = len(set(upper) - {""}) == 1 and _first(upper) == first
    return not is_title and (len(labels) == 1 or any(cells.left <= first <= cells.right for cells in above))


def _join(upper: Sequence[str], lower: Sequence[str], above: Sequence[Merged]) -> tuple[list[str], list[str]]:
    """Return the joined names, and what of the lower row is below a name that does not span columns."""
    columns = {column for cells in above for column in range(cells.left, cells.right + 1)}
    names, rest = [], []
    for column, (name, below) in enumerate(zip_longest(upper, lower, fillvalue="")):
        is_value_below = column not in columns and bool(name) and name != below
        names.append(name if is_value_below or name == below else f"{name} {below}".strip())
        rest.append(below if is_value_below else "")
    return names, rest


def _is_name(text: str) -> bool:
    return bool(text) and not (is_value(text) and not is_year(text))


def _spread(row: Sequence[str], merged: Sequence[Merged]) -> list[str]:
    """Return a row with the text of merged cells in each column that they span."""
    spread = [cell.strip() for cell in row]
    for cells in merged:
        _repeat(_text(row, cells.left), spread, range(cells.left, cells.right + 1))
    return spread


def _repeat(text: str, row: list[str], columns: range) -> None:
    """Write a text into the blank cells of a row."""
    row.extend([""] * (columns.stop - len(row)))
    for column in columns:
        row[column] = row[column] if row[column].strip() else text


def _text(row: Sequence[str], column: int) -> str:
    return row[column].strip() if column < len(row) else ""


def _first(row: Sequence[str]) -> int:
    return next((column for column, cell in enumerate(row) if cell.strip()), len(row))
