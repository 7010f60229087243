"""The rows of a table from its lines: cells that go on in the next line are whole, and bars are between cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus.readers.pdf.page.cells import Cell, is_value
from corpus.readers.pdf.page.characters import Box
from corpus.readers.pdf.page.line import Line

# In line heights: how far apart the lines of one cell are at most.
_TIGHT = 1.45
# How many lines the names of columns have at most.
_MAX_NAMES = 3
# Rules are between rows if there are so many rows at least.
_MIN_BANDS = 3
# In line heights, the distance of lines that overlap; the share of that of two rows that lines of one have at most.
_OVERLAP, _CLOSER = 0.8, 0.85
# Shows that the first cell of a row is empty; readers of rows with bars would miss it otherwise.
_EMPTY = "–"

Columns = Sequence[Sequence[Cell]]


def goes_on(above: Sequence[Line], below: Sequence[Line]) -> bool:
    """Whether rows are of the same table as those above: as many cells, and no names of columns."""
    cells = below[0].text.split(" | ")
    return (
        bool(above) and len(cells) == max(row.text.count(" | ") + 1 for row in above) and any(map(is_value, cells[1:]))
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """Lines from top to bottom, and what their cells say.

    Attributes:
        texts: Of each line, in each column; () of one across columns.
        values: Columns of numbers.
        names: How many lines at the top have the names of the columns.
        bands: Of each line, how many rules are above it.
        banded: Whether rules are between all rows.
    """

    lines: Sequence[Line]
    texts: Sequence[Sequence[str]]
    values: frozenset[int]
    names: int
    bands: Sequence[int]
    banded: bool


def rows_of(
    lines: Sequence[Line], cells: Sequence[Columns], texts: Sequence[Sequence[str]], drawn: Sequence[float]
) -> list[Line]:
    """The rows of a table.

    Args:
        lines: Those of the table, from top to bottom.
        cells: Of each line, in each column; () of one across columns.
        texts: The same as text.
        drawn: Heights of the rules across the table.
    """
    values = _value_columns([row for row in texts if row])
    bands = [sum(y > line.bottom + 0.3 * line.size for y in drawn) for line in lines]
    banded = _is_banded(bands, texts, values)
    table = _Table(lines, texts, values, _names(lines, texts, values, bands), bands, banded)
    groups: list[list[int]] = []
    for at in range(len(lines)):
        if groups and texts[at] and texts[groups[-1][-1]] and _is_same_row(table, groups[-1], at):
            groups[-1].append(at)
        else:
            groups.append([at])
    return [_row([lines[at] for at in group], [cells[at] for at in group]) for group in groups]


def _is_banded(bands: Sequence[int], texts: Sequence[Sequence[str]], values: frozenset[int]) -> bool:
    """Whether rules are between all rows: no two lines between the same rules have a number in the same column."""
    groups: dict[int, list[Sequence[str]]] = {}
    for band, row in zip(bands, texts, strict=True):
        groups.setdefault(band, []).append(row)
    if len(groups) < _MIN_BANDS or not all(texts):
        return False
    several = [group for group in groups.values() if len(group) > 1]
    return all(
        sum(is_value(row[number]) for row in group) <= 1 and not all(all(row) for row in group)
        for group in several
        for number in values or (0,)
    )


def _value_columns(texts: Sequence[Sequence[str]]) -> frozenset[int]:
    found = set()
    for number, column in enumerate(zip(*texts[1:], strict=True)):
        filled = [text for text in column if text]
        if filled and sum(map(is_value, filled)) >= 0.5 * len(filled):
            found.add(number)
    return frozenset(found)


def _names(lines: Sequence[Line], texts: Sequence[Sequence[str]], values: frozenset[int], bands: Sequence[int]) -> int:
    """How many lines at the top have the names of the columns: up to a rule, a gap or the first number."""
    for at, row in enumerate(texts[: _MAX_NAMES + 1]):
        numbers = [row[number] for number in values if row and is_value(row[number])]
        if not row or any(not text.startswith("(") for text in numbers):
            return at if values else 1
        if at and (bands[at] != bands[at - 1] or lines[at - 1].bottom - lines[at].bottom > _TIGHT * lines[at].size):
            return at
    return 1


def _is_same_row(table: _Table, group: Sequence[int], at: int) -> bool:
    """Whether a line goes on with cells of the row above it."""
    lines, texts = table.lines, table.texts
    step = lines[at - 1].bottom - lines[at].bottom
    if table.banded:
        return table.bands[at] == table.bands[at - 1]
    if table.bands[at] != table.bands[at - 1] or step > _TIGHT * lines[at].size:
        return False
    filled = {number for number, text in enumerate(texts[at]) if text}
    had = {number for row in group for number, text in enumerate(texts[row]) if text}
    if at < table.names or (step < _OVERLAP * lines[at].size and not filled & had):
        return True
    stacked = any(number in table.values and is_value(texts[at][number]) for number in filled & had)
    if group[0] < table.names or stacked or not filled <= had:
        return False
    goes_on = texts[at][0][:1].islower() and table.values and not filled & table.values
    few = len(filled) <= len(texts[at]) / 2
    return bool(goes_on) or (few and (not texts[at][0] or step < _CLOSER * _row_step(lines, texts)))


def _row_step(lines: Sequence[Line], texts: Sequence[Sequence[str]]) -> float:
    """The usual distance of two rows, by lines that have most of their cells."""
    full = [line.bottom for line, row in zip(lines, texts, strict=True) if sum(map(bool, row)) > len(row) / 2 and row]
    steps = sorted(above - below for above, below in pairwise(full))
    return steps[len(steps) // 2] if steps else 0.0


def _row(lines: Sequence[Line], cells: Sequence[Columns]) -> Line:
    first = lines[0]
    if not cells[0]:
        return first
    texts: list[str] = []
    boxes: list[Box] = []
    bold = all(line.bold for line in lines)
    columns = [
        [(line, cell) for line, row in zip(lines, cells, strict=True) for cell in row[number]]
        for number in range(len(cells[0]))
    ]
    while not columns[-1]:
        columns.pop()
    x = min(line.left for line in lines)
    here: Box = (x, first.bottom, x, first.top)
    for number, column in enumerate(columns):
        if number:
            texts.append(" | ")
            boxes += [here] * 3
        elif not column:
            texts.append(_EMPTY)
            boxes.append(here)
        for place, (line, cell) in enumerate(column):
            if place:
                texts.append(" ")
                boxes.append(here)
            texts.append(line.text[cell.start : cell.end])
            boxes += line.boxes[cell.start : cell.end]
            here = (boxes[-1][2], boxes[-1][1], boxes[-1][2], boxes[-1][3])
    row = Line("".join(texts), boxes, first.size, bold, first.font)
    row.left, row.right = x, max(line.right for line in lines)
    row.bottom, row.top = lines[-1].bottom, first.top
    row.column, row.gaps = first.column, max(line.gaps for line in lines)
    row.page = first.page
    return row
