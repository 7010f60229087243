"""Rows of tables as records, with the names of their columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from statistics import median, median_high

from corpus.readers.assemble.fields import Row

# Maximum length of most names, and of any name, such as a question of a survey.
_MAX_USUAL_NAME, _MAX_NAME = 80, 300
_YEAR = re.compile(r"\s*(?:19|20)\d\d\s*")
_NUMBER, _CURRENCY = r"\d[\d.,'’ ]*", r"(?:[A-Z]{3}|[$€£¥%])"
# What is a value, not a name, if the cell below is alike.
_VALUES = (
    # a date with or without a time
    re.compile(r"\d{1,4}[-./ ]{1,2}\w{1,9}[-./ ]{1,2}\d{1,4}(?:[T ]\d.*)?"),
    # a signed number, an amount
    re.compile(rf"[+−-]\s?{_NUMBER}|[+−-]?{_CURRENCY}\s?[+−-]?{_NUMBER}|[+−-]?{_NUMBER}{_CURRENCY}"),
    # an address
    re.compile(r"[^\s@]+@[^\s@]+|\w+://\S+"),
    # what is missing
    re.compile(r"n/?a|nan|null|[-–—?]+", re.IGNORECASE),
    # the label of a form's field
    re.compile(r"[^:]+:"),
)

NumberedRow = tuple[int, Sequence[str]]


def to_records(rows: Sequence[tuple[int, Sequence[str]]]) -> tuple[list[str], list[tuple[int, Row]]]:
    """Return the column names, or [], and the records of numbered rows; blank cells and rows are left out.

    Rows above the names, such as a title, are records without names. If there are several tables, the names of the
    first that has any are returned.
    """
    names: list[str] = []
    records: list[tuple[int, Row]] = []
    for table in _tables([(number, row) for number, row in rows if count_filled(row)]):
        own_names, own_records = _table_records(table)
        names = names or own_names
        records += own_records
    return names, records


def _table_records(rows: Sequence[NumberedRow]) -> tuple[list[str], list[tuple[int, Row]]]:
    head = _head([row for _, row in rows])
    names = _column_names([row for _, row in rows[head:]])
    records: list[tuple[int, Row]] = []
    for i, (number, row) in enumerate(rows):
        if names and i == head:
            continue
        padded = [*(names if i > head else []), *[""] * len(row)]
        fields = [(name, value) for name, value in zip(padded, row, strict=False) if value.strip()]
        records.append((number, fields))
    return names, records


def _tables(rows: Sequence[NumberedRow]) -> Iterator[Sequence[NumberedRow]]:
    """Split rows where names of columns follow blank rows, whose numbers are missing, and perhaps a title."""
    starts = [i for i in range(1, len(rows)) if rows[i][0] > rows[i - 1][0] + 1]
    # The index of the first row of the last table, and of the titles, if any, above the next part.
    begin = title = 0
    # The rows of the last table, up to the first blank one and without its titles.
    top: Sequence[Sequence[str]] = ()
    for start, end in pairwise([0, *starts, len(rows)]):
        part = [row for _, row in rows[start:end]]
        is_title = all(count_filled(row) == 1 for row in part)
        part = part[_head(part) :]
        if top and _begins_table(part, top):
            yield rows[begin:title]
            begin, top = title, part
        elif not top or 2 * count_filled(top[0]) <= count_filled(part[0]):
            top = part
        title = title if is_title else end
    yield rows[begin:]


def _begins_table(part: Sequence[Sequence[str]], top: Sequence[Sequence[str]]) -> bool:
    """Whether rows below a blank one begin with names of columns rather than continue the table that begins with `top`.

    That is if they repeat a name, or are above values, or that table is only a note, "Created | 2025-02-01 | Ann".
    """
    names = _column_names(part)
    if count_filled(names) < 2 or any(is_value(name) and not is_year(name) for name in names):
        return False
    if any(name and name == above.strip() for name, above in zip(names, top[0], strict=False)):
        return True
    values = sum(map(is_value, top[0]))
    is_note = len(top) == 1 and 0 < values < count_filled(top[0]) - 1
    return is_note or any(name and _has_only_values(part[1:], column) for column, name in enumerate(names))


def _has_only_values(rows: Sequence[Sequence[str]], column: int) -> bool:
    cells = [row[column] for row in rows if column < len(row) and row[column].strip()]
    return bool(cells) and all(map(is_value, cells))


def _head(rows: Sequence[Sequence[str]]) -> int:
    """Return the index of the first row that is not a title, with more than half of the usual number of cells."""
    filled = list(map(count_filled, rows))
    usual = median(filled or [0])
    # In a table of two columns, the first may be unnamed.
    return next((i for i, row in enumerate(rows) if 2 * filled[i] + (not any(row[:1])) > usual), 0)


def _column_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the first row if it has short names and neither values nor numbers but years, otherwise [].

    Names may be repeated, unlike values, which recur in the rows below.
    """
    names = [name.strip() for name in rows[0]] if len(rows) > 1 else []
    filled = [name for name in names if name]
    repeated = {name for name, count in Counter(filled).items() if count > 1}
    if not filled or (repeated and any(cell.strip() in repeated for row in rows[1:] for cell in row)):
        return []
    lengths = list(map(len, filled))
    pairs = list(zip_longest(names, rows[1][: len(names)], fillvalue=""))
    if any(value.fullmatch(name) and value.fullmatch(below.strip()) for name, below in pairs for value in _VALUES):
        return []
    numbers = [(name, below) for name, below in pairs if _is_number(name)]
    # A single year may be a quantity, and years above years are data.
    are_years = len(numbers) > 1 and all(is_year(name) and not is_year(it) for name, it in numbers)
    is_short = median_high(lengths) <= _MAX_USUAL_NAME and max(lengths) <= _MAX_NAME
    return names if is_short and (are_years or not numbers) else []


def is_value(text: str) -> bool:
    """Whether a cell is a number, a date, an amount, or something else that is hardly ever a name of a column."""
    return _is_number(text) or any(value.fullmatch(text.strip()) for value in _VALUES)


def is_year(text: str) -> bool:
    """Whether a cell is a year."""
    return _YEAR.fullmatch(text) is not None


def _is_number(text: str) -> bool:
    return text.strip().replace(".", "").replace(",", "").isdigit()


def count_filled(row: Sequence[str]) -> int:
    """Return the number of cells that are not blank."""
    return sum(map(bool, map(str.strip, row)))
