"""Decide by rules, or by short cells and numbers, whether lines that share gutters are a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, median, pstdev

from corpus.readers.pdf.page.cells import Cell, Interval, find_value_columns, is_value
from corpus.readers.pdf.page.line import Line

# In line heights: lines closer than this overlap; the least mean gutter of a table without rules.
_OVERLAP, _WIDE = 0.6, 0.9
# Longest cells of a table without rules, in characters: the median, and the 90th percentile.
_SHORT, _LONGEST = 20, 40
# Fewer distances between letters are no evidence; those of monospaced letters vary by less than this share.
_MIN_STEPS, _EQUAL = 4, 0.1
# The fewest rows of a ruled table that have more than one cell.
_MIN_FULL = 2
# A numbered line of code has two cells; hardly any has a third in the same column as the other lines.
_NUMBER_AND_LINE, _NEARLY_ALL = 2, 0.9
# Names of monospaced fonts.
_TYPEWRITER = re.compile(r"cour|mono?l?-|mono|typewriter|cmtt|tt\d|consol|menlo|-tt", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3}")
_LABEL = re.compile(r"\W|\(?\w{1,3}[.):]|\[\w+\]")


def is_table(
    lines: Sequence[Line],
    cells: Sequence[Sequence[Cell]],
    texts: Sequence[Sequence[str]],
    gutters: Sequence[Interval],
    drawn: Sequence[float],
) -> bool:
    """Whether lines that share gutters are a table rather than code, a list or a figure.

    Args:
        lines: The lines, from top to bottom.
        cells: Cells of each line.
        texts: Text of each line in each column; () for a line across columns.
        gutters: Gaps between columns.
        drawn: Heights of the rules that are as wide as the lines.
    """
    rows = [row for row in texts if row]
    has_form = _has_rules(rows, drawn) or _looks_like_table(rows, gutters, median(line.size for line in lines))
    return has_form and _has_words(rows) and not _overlap(lines, texts) and not _is_code(lines, cells, rows)


def are_rows(lines: Sequence[Line], cells: Sequence[Sequence[Cell]], bands: Sequence[Sequence[Sequence[str]]]) -> bool:
    """Whether each band between two rules of a grid is a row, rather than several rows, code or a diagram.

    Args:
        lines: The lines in the grid, from top to bottom.
        cells: Cells of each line.
        bands: For each band, the text of each of its lines in each column.
    """
    texts = [row for band in bands for row in band]
    rows = [[" ".join(filter(None, column)) for column in zip(*band, strict=True)] for band in bands]
    has_numbers = any(sum(map(is_value, column)) > 1 for band in bands for column in zip(*band, strict=True))
    whole = sum(len(band) > 1 and all(map(all, band)) for band in bands)
    if has_numbers or 2 * whole >= len(bands) or not all(map(any, zip(*rows, strict=True))):
        return False
    full = sum(sum(map(bool, row)) > 1 for row in rows)
    return full >= _MIN_FULL and _has_words(rows) and not _is_code(lines, cells, texts)


def _has_rules(rows: Sequence[Sequence[str]], drawn: Sequence[float]) -> bool:
    full = [row for row in rows if sum(map(bool, row)) > 1]
    min_rows = 2 if len(rows[0]) > 2 else 3
    return min(len(drawn), len(full)) >= min_rows


def _looks_like_table(rows: Sequence[Sequence[str]], gutters: Sequence[Interval], size: float) -> bool:
    """Whether lines without rules are a table: three columns, one of them of values, short cells, wide gutters."""
    columns = len(gutters) + 1
    full = [row for row in rows if sum(map(bool, row)) > columns / 2]
    if columns < 3 or len(full) < 3 or mean(right - left for left, right in gutters) < _WIDE * size:
        return False
    lengths = sorted(len(text) for row in rows for text in row if text)
    is_short = median(lengths) <= _SHORT and lengths[int(0.9 * len(lengths))] <= _LONGEST
    return is_short and max(find_value_columns(full), default=0) > 0 and not _is_list_or_contents(full)


def _has_words(rows: Sequence[Sequence[str]]) -> bool:
    word_count = sum(bool(_WORD.search(text)) for row in rows for text in row)
    return word_count >= max(2, len(rows) / 2)


def _is_code(lines: Sequence[Line], cells: Sequence[Sequence[Cell]], rows: Sequence[Sequence[str]]) -> bool:
    """Whether most lines are monospaced, or numbered consecutively without two more cells, as rows would have."""
    pairs = list(zip(lines, cells, strict=True))
    typed = sum(bool(_TYPEWRITER.search(line.font)) and _is_evenly_spaced(line, row[-1]) for line, row in pairs)
    first_cells = [line.text[row[0].start : row[0].end] for line, row in pairs]
    numbers = [int(text) for text in first_cells if text.isdecimal()]
    is_numbered = first_cells[0].isdecimal() and len(numbers) > max(1, len(lines) / 2)
    full = sum(sum(map(bool, row)) > _NUMBER_AND_LINE for row in rows)
    is_numbered &= full < _NEARLY_ALL * len(lines)
    return typed > len(lines) / 2 or (is_numbered and all(below - above == 1 for above, below in pairwise(numbers)))


def _is_evenly_spaced(line: Line, cell: Cell) -> bool:
    """Whether the letters of a cell are evenly spaced; a line of prose may begin with a word in a typewriter font."""
    places = range(cell.start, cell.end)
    middles = [(line.boxes[i][0] + line.boxes[i][2]) / 2 if line.text[i].isalnum() else None for i in places]
    steps = [after - before for before, after in pairwise(middles) if before is not None and after is not None]
    return len(steps) < _MIN_STEPS or pstdev(steps) < _EQUAL * mean(steps)


def _is_list_or_contents(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows are a table of contents or a list: labels on the left, or ascending numbers on the right."""
    last_cells = [row[-1] for row in rows if row[-1]]
    pages = [int(text) for text in last_cells if text.isdecimal()]
    if len(rows[0]) <= 4 and len(pages) >= 0.8 * len(last_cells) and pages == sorted(pages):
        return True
    return len(rows[0]) == 3 and sum(bool(_LABEL.fullmatch(row[0])) for row in rows) > len(rows) / 2


def _overlap(lines: Sequence[Line], texts: Sequence[Sequence[str]]) -> bool:
    """Whether cells of a column overlap, as in two tables side by side."""
    return any(
        above.bottom - below.bottom < _OVERLAP * below.size and any(map(all, zip(*cells, strict=True)))
        for (above, below), cells in zip(pairwise(lines), pairwise(texts), strict=True)
        if all(cells)
    )
