"""Find the tables in a passage.

A table is lines with bars, as in Markdown, to which other formats are converted, or drawn with boxes, or with aligned
cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from corpus import aligned_table, has_box_table, is_rule, lazy_pattern, plain_bars
from qa.language.spans import Span, lines_of, trimmed

_BAR = lazy_pattern(r"(?<!\\)\|")
_ALIGNED = lazy_pattern(r"\S  +\S|\t")

# A line, a rule and a line may be part of a grid that goes on.
_LEAST_RULED = 3


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table; spans are characters of its text, end exclusive.

    Attributes:
        span: All of its lines.
        columns: Names of the columns; empty if the text does not have them.
        rows: The cells of each row of values, without surrounding blanks.
    """

    span: Span
    columns: tuple[str, ...]
    rows: tuple[tuple[Span, ...], ...]


@lru_cache(maxsize=64)  # rules and the reader ask for those of the same passages
def tables(text: str, context: str) -> tuple[TextTable, ...]:
    """Return the tables of a text: two or more consecutive lines with bars, or else those of aligned cells.

    If a table continues from another passage, the column names are the last part of the context, and one line is
    enough.
    """
    # The splitter writes a dash for a column without a name.
    from_context = tuple(name.strip().removeprefix("–") for name in context.rsplit(" › ", 1)[-1].split("|"))
    if len(from_context) > 1 or has_box_table(text):
        text = plain_bars(text)
    if "|" not in text and not _ALIGNED.search(text):
        return ()
    lines = [(start, text[start:end]) for start, end in lines_of(text)]
    if "|" not in text:
        return tuple(_aligned(lines, from_context if len(from_context) > 1 else ()))
    blocks = [list(block) for is_part, block in groupby(lines, key=lambda line: _has_bars(line[1])) if is_part]
    text_tables = []
    for block in blocks:
        names = from_context if len(from_context) > 1 and not block[0][0] else ()
        if len(block) > 1 or (names and len(_cells(*block[0])) == len(names)):
            text_tables.append(_table(block, names))
    return tuple(table for table in text_tables if table.columns or table.rows)


def _has_bars(line: str) -> bool:
    return "|" in line or ("+" in line and is_rule(line))


def _aligned(lines: Sequence[tuple[int, str]], names: tuple[str, ...]) -> Iterator[TextTable]:
    texts, at = [line for _, line in lines], 0
    while at < len(lines):
        if table := aligned_table(texts, at, () if at else names) or aligned_table(texts, at):
            rows = (tuple((lines[i][0] + start, lines[i][0] + end) for start, end in row) for i, row in table.rows)
            end, line = lines[table.end - 1]
            yield TextTable((lines[at][0], end + len(line)), table.columns, tuple(rows))
            at = table.end
        else:
            at += 1


def _table(lines: Sequence[tuple[int, str]], columns: tuple[str, ...]) -> TextTable:
    divided = groupby(lines, key=lambda line: is_rule(line[1]))
    parts = [[_cells(*line) for line in part] for is_divider, part in divided if not is_divider]
    rows = tuple(row for part in parts for row in part)
    span = lines[0][0], lines[-1][0] + len(lines[-1][1])
    if any(line.lstrip().startswith("+") for _, line in lines) and _is_irregular(parts, has_names=bool(columns)):
        return TextTable(span, (), rows)
    if columns or not rows or not _has_header(lines):
        return TextTable(span, columns, rows)
    at, header = next(line for line in lines if not is_rule(line[1]))
    return TextTable(span, tuple(header[start - at : end - at] for start, end in rows[0]), rows[1:])


def _has_header(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether column names are on the first line: with a rule above or below it, or without outer bars.

    In a grid, where rules may be between all rows, only the rule above its first line tells, or a single one above
    several rows.
    """
    first, *second = (line.lstrip() for _, line in lines[:2])
    if any(map(is_rule, second)) and len(lines) > _LEAST_RULED and sum(is_rule(line) for _, line in lines) == 1:
        return True
    return not first.startswith("|") or any(is_rule(line) and not line.startswith("+") for line in (first, *second))


def _is_irregular(parts: Sequence[Sequence[tuple[Span, ...]]], *, has_names: bool) -> bool:
    """Whether a grid, divided by its rules, lacks a line of column names, or has cells that go on in the next line."""
    body = parts if has_names else parts[1:]
    if not body or (not has_names and len(parts[0]) > 1):
        return True
    return any(row[0][0] == row[0][1] for part in body for row in part) or max(map(len, body)) > 1 < len(body)


def _cells(at: int, line: str) -> tuple[Span, ...]:
    first = len(line) - len(line.lstrip()) + line.lstrip().startswith("|")
    last = len(line.rstrip()) - line.rstrip().endswith("|")
    spans = []
    for end in (*(bar.start() for bar in _BAR.finditer(line, first, last)), last):
        start, stop = trimmed(line, (first, end))
        spans.append((at + start, at + stop))
        first = end + 1
    return tuple(spans)
