"""Merged cells of a sheet: their text in each row and column, and names of columns in two rows as one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Longer texts are not repeated, and no more cells than this are filled.
_MAX_REPEATED = 100
_MAX_FILLED = 50_000
_RANGE = re.compile(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})")
# A year may be a name.
_NUMBER = re.compile(r"(?!(?:19|20)\d\d\Z)[-+]?\d[\d.,:%-]*")

NumberedRow = tuple[int, list[str]]


class Merge(NamedTuple):
    """A range of merged cells; rows are numbered from 1, columns from 0, and both ends are included."""

    top: int
    left: int
    bottom: int
    right: int


def parse_range(reference: str) -> Merge | None:
    """Parse a reference such as "B1:C1"; None if it is none."""
    match = _RANGE.fullmatch(reference)
    return Merge(int(match[2]), column_index(match[1]), int(match[4]), column_index(match[3])) if match else None


def column_index(letters: str) -> int:
    """Return the index of a column, from 0: "AB" is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter.upper()) - 64
    return max(0, number - 1)


def spread(rows: Sequence[NumberedRow], merges: Sequence[Merge]) -> list[NumberedRow]:
    """Return rows with the text of merged cells in each of their rows and columns.

    A title across all columns stays as it is. Names across columns are joined with those below: "Income Plan".
    """
    by_number = dict(rows)
    width = max((len(cells) for cells in by_number.values()), default=0)
    room = _MAX_FILLED
    headers = set()
    for top, left, bottom, right in merges:
        text = _cell(by_number.get(top, ()), left)
        is_title = top == bottom and right - left + 1 >= width
        if not text or len(text) > _MAX_REPEATED or is_title:
            continue
        for number in range(top, min(bottom, top + room) + 1):
            if number in by_number and room > 0:
                cells = by_number[number]
                last = min(right, width - 1)
                cells.extend([""] * (last + 1 - len(cells)))
                cells[left : last + 1] = [text] * (last + 1 - left)
                room -= last + 1 - left
        if top == bottom and right > left and _are_names(by_number[top], by_number.get(top + 1, ())[left : right + 1]):
            headers.add(top)
    return list(_joined(by_number, headers))


def _are_names(upper: Sequence[str], lower: Sequence[str]) -> bool:
    """Whether a row above cells of text is one of names: neither has numbers."""
    return bool(lower) and all(lower) and not any(_NUMBER.fullmatch(text) for text in (*upper, *lower))


def _joined(rows: dict[int, list[str]], headers: set[int]) -> Iterator[NumberedRow]:
    """Yield rows; names across columns are joined with those in the row below, instead of a row of their own."""
    for number, cells in rows.items():
        if number in headers and number + 1 not in headers:
            continue
        above = rows[number - 1] if number - 1 in headers else ()
        yield number, [_join(_cell(above, column), text) for column, text in enumerate(cells)]


def _join(upper: str, lower: str) -> str:
    return lower if upper in ("", lower) else f"{upper} {lower}".strip()


def _cell(cells: Sequence[str], column: int) -> str:
    return cells[column].strip() if column < len(cells) else ""
