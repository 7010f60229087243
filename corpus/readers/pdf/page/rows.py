"""Join the lines of a table into rows, with cells of several lines whole and bars between cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus.readers.pdf.page.cells import Cell, is_value
from corpus.readers.pdf.page.characters import Box
from corpus.readers.pdf.page.line import Line

# In line heights: the largest distance between lines of one cell.
_TIGHT = 1.45
# The most lines that column names take up.
_MAX_HEADER_LINES = 3
# Rules can separate all rows only in a table of at least this many rows.
_MIN_BANDS = 3
# Lines closer than this, in line heights, overlap; lines of one row are closer than this share of the row spacing.
_OVERLAP, _CLOSER = 0.8, 0.85
# Stands for an empty first cell, which readers of rows with bars would miss otherwise.
_EMPTY = "–"

Columns = Sequence[Sequence[Cell]]


def continues_table(above: Sequence[Line], below: Sequence[Line]) -> bool:
    """Whether rows continue the table above: they have as many cells, and do not begin with column names."""
    cells = below[0].text.split(" | ")
    return (
        bool(above) and len(cells) == max(row.text.count(" | ") + 1 for row in above) and any(map(is_value, cells[1:]))
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """The lines of a table from top to bottom, and the text of their cells.

    Attributes:
        texts: Text of each line in each column; () for a line across columns.
        values: Columns of numbers.
        header_lines: Number of lines at the top with column names.
        bands: Number of rules above each line.
        banded: Whether rules separate all rows.
    """

    lines: Sequence[Line]
    texts: Sequence[Sequence[str]]
    values: frozenset[int]
    header_lines: int
    bands: Sequence[int]
    banded: bool


def rows_of(
    lines: Sequence[Line], cells: Sequence[Columns], texts: Sequence[Sequence[str]], drawn: Sequence[float]
) -> list[Line]:
    """Join the lines of a table into rows.

    Args:
        lines: Lines of the table, from top to bottom.
        cells: Cells of each line in each column; () for a line across columns.
        texts: The text of these cells.
        drawn: Heights of the rules across the table.
    """
    values = _value_columns([row for row in texts if row])
    bands = [sum(y > line.bottom + 0.3 * line.size for y in drawn) for line in lines]
    banded = _is_banded(bands, texts, values)
    table = _Table(lines, texts, values, _count_header_lines(lines, texts, values, bands), bands, banded)
    groups: list[list[int]] = []
    for at in range(len(lines)):
        if groups and texts[at] and texts[groups[-1][-1]] and _is_same_row(table, groups[-1], at):
            groups[-1].append(at)
        else:
            groups.append([at])
    return [_row([lines[at] for at in group], [cells[at] for at in group]) for group in groups]


def _is_banded(bands: Sequence[int], texts: Sequence[Sequence[str]], values: frozenset[int]) -> bool:
    """Whether rules separate all rows: no two lines between the same rules have a number in the same column."""
    groups: dict[int, list[Sequence[str]]] = {}
    for band, row in zip(bands, texts, strict=True):
        groups.setdefault(band, []).append(row)
    if len(groups) < _MIN_BANDS or not all(texts):
        return False
    several = [group for group in groups.values() if len(group) > 1]
    return all(
        sum(is_value(row[column]) for row in group) <= 1 and not all(all(row) for row in group)
        for group in several
        for column in values or (0,)
    )


def _value_columns(texts: Sequence[Sequence[str]]) -> frozenset[int]:
    numeric = set()
    for number, column in enumerate(zip(*texts[1:], strict=True)):
        filled = [text for text in column if text]
        if filled and sum(map(is_value, filled)) >= 0.5 * len(filled):
            numeric.add(number)
    return frozenset(numeric)


def _count_header_lines(
    lines: Sequence[Line], texts: Sequence[Sequence[str]], values: frozenset[int], bands: Sequence[int]
) -> int:
    """Count the lines at the top with column names: up to a rule, a gap or the first number."""
    for at, row in enumerate(texts[: _MAX_HEADER_LINES + 1]):
        numeric = [row[column] for column in values if row and is_value(row[column])]
        if not row or any(not text.startswith("(") for text in numeric):
            return at if values else 1
        if at and (bands[at] != bands[at - 1] or lines[at - 1].bottom - lines[at].bottom > _TIGHT * lines[at].size):
            return at
    return 1


def _is_same_row(table: _Table, group: Sequence[int], at: int) -> bool:
    """Whether a line continues cells of the row above it."""
    lines, texts = table.lines, table.texts
    step = lines[at - 1].bottom - lines[at].bottom
    if table.banded:
        return table.bands[at] == table.bands[at - 1]
    if table.bands[at] != table.bands[at - 1] or step > _TIGHT * lines[at].size:
        return False
    filled = {column for column, text in enumerate(texts[at]) if text}
    filled_above = {column for row in group for column, text in enumerate(texts[row]) if text}
    if at < table.header_lines or (step < _OVERLAP * lines[at].size and not filled & filled_above):
        return True
    stacked = any(column in table.values and is_value(texts[at][column]) for column in filled & filled_above)
    if group[0] < table.header_lines or stacked or not filled <= filled_above:
        return False
    continues_text = texts[at][0][:1].islower() and table.values and not filled & table.values
    is_sparse = len(filled) <= len(texts[at]) / 2
    return bool(continues_text) or (is_sparse and (not texts[at][0] or step < _CLOSER * _row_step(lines, texts)))


def _row_step(lines: Sequence[Line], texts: Sequence[Sequence[str]]) -> float:
    """Median distance between rows, judged by lines with most cells filled."""
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
