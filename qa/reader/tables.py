"""Tables in a passage: where their rows are, and how the reader reads them, each cell behind the name of its column.

A table is lines with bars, as Markdown has them and as other formats are written. Six layers cannot count bars to find
the column of a cell, so the reader is given `Model: HX-220; Weight (kg): 7.9` in place of `| HX-220 | 7.9 |`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"(?=.*--)[\s|:-]+")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table; spans are characters of its text, end exclusive.

    Attributes:
        span: All of its lines.
        columns: Their names; empty where the text does not have them.
        rows: Those with values: the cells of each, without blanks around them.
    """

    span: Span
    columns: tuple[str, ...]
    rows: tuple[tuple[Span, ...], ...]


class Readable(NamedTuple):
    """A text as the reader reads it.

    Attributes:
        text: With each cell behind the name of its column.
        origin: `(len(text),) int32`, which character of the original each is; -1 for what is said again.
    """

    text: str
    origin: npt.NDArray[np.int32]


def tables(text: str, context: str = "") -> list[TextTable]:
    """The tables of a text: two or more lines with bars, one below the other.

    Of one that goes on from another passage, the names of the columns are the last part of the context; its last line
    may be alone.
    """
    if "|" not in text:
        return []
    above = tuple(name.strip() for name in context.rsplit(" › ", 1)[-1].split("|"))
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    blocks = [list(block) for has_bars, block in groupby(lines, key=lambda one: "|" in one[1]) if has_bars]
    found = []
    for block in blocks:
        names = above if len(above) > 1 and not block[0][0] else ()
        if len(block) > 1 or (names and len(_cells(*block[0])) == len(names)):
            found.append(_table(block, names))
    return found


def _table(lines: Sequence[tuple[int, str]], above: tuple[str, ...]) -> TextTable:
    rows = [_cells(at, line) for at, line in lines if not _RULE.fullmatch(line)]
    first, line = lines[0]
    span = first, lines[-1][0] + len(lines[-1][1])
    # Markdown has a rule below the names of the columns; without one, names have no bar on both sides.
    is_named = any(_RULE.fullmatch(line) for _, line in lines[:2]) or not line.lstrip().startswith("|")
    if above or not rows or not is_named:
        return TextTable(span, above, tuple(rows))
    return TextTable(span, tuple(line[start - first : end - first] for start, end in rows[0]), tuple(rows[1:]))


def _cells(at: int, line: str) -> tuple[Span, ...]:
    first = len(line) - len(line.lstrip()) + line.lstrip().startswith("|")
    last = len(line.rstrip()) - line.rstrip().endswith("|")
    found = []
    for end in (*(bar.start() for bar in _BAR.finditer(line, first, last)), last):
        cell = line[first:end]
        start = first + len(cell) - len(cell.lstrip())
        found.append((at + start, at + start + len(cell.strip())))
        first = end + 1
    return tuple(found)


def readable(text: str, context: str = "") -> Readable:
    """A text with its tables as the reader reads them; see `tables` for the context."""
    parts: list[str] = []
    origin: list[int] = []

    def keep(start: int, end: int) -> None:
        parts.append(text[start:end])
        origin.extend(range(start, end))

    def say(words: str) -> None:
        parts.append(words)
        origin.extend([-1] * len(words))

    done = 0
    for table in tables(text, context):
        keep(done, table.span[0])
        for row in table.rows:
            mark = ""
            for number, (start, end) in enumerate(row):
                if start < end:
                    name = table.columns[number] if number < len(table.columns) else ""
                    say(f"{mark}{name}: " if name else mark)
                    keep(start, end)
                    mark = "; "
            say(".\n")
        done = table.span[1]
    keep(done, len(text))
    return Readable("".join(parts), np.array(origin, dtype=np.int32))


def original_spans(spans: npt.NDArray[np.int32], origin: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """`(t, 2)` characters of the original that tokens of a readable text cover; (-1, -1) for what is said again."""
    if not len(spans):
        return spans
    ends = origin[spans[:, 1] - 1]
    return np.stack([origin[spans[:, 0]], np.where(ends < 0, -1, ends + 1)], axis=1).astype(np.int32)
