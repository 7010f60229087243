"""Rewrite a passage for the reader: each cell of a table after its column's name, and a stop after each log entry.

Six layers cannot count bars or blanks to find the column of a cell, so the reader is given `Model: HX-220; Weight (kg):
7.9` instead of `| HX-220 | 7.9 |`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qa.structure.log_lines import missing_stops
from qa.structure.tables import tables


class Readable(NamedTuple):
    """A text rewritten for the reader.

    Attributes:
        text: The text, with each cell after the name of its column.
        origin: `(len(text),) int32`, the position of each character in the original; -1 for inserted ones.
    """

    text: str
    origin: npt.NDArray[np.int32]


def readable(text: str, context: str) -> Readable:
    """Rewrite the tables and the dated entries of a text for the reader; see `tables` for the context."""
    parts: list[str] = []
    origin: list[int] = []

    def keep(start: int, end: int) -> None:
        parts.append(text[start:end])
        origin.extend(range(start, end))

    def insert(words: str) -> None:
        parts.append(words)
        origin.extend([-1] * len(words))

    def keep_prose(start: int, end: int) -> None:
        for stop in missing_stops(text, start, end):
            keep(start, stop)
            insert(".")
            start = stop
        keep(start, end)

    done = 0
    for table in tables(text, context):
        keep_prose(done, table.span[0])
        for row in table.rows:
            separator = ""
            for number, (start, end) in enumerate(row):
                if start < end:
                    name = table.columns[number] if number < len(table.columns) else ""
                    insert(f"{separator}{name}: " if name else separator)
                    keep(start, end)
                    separator = "; "
            insert(".\n")
        done = table.span[1]
    keep_prose(done, len(text))
    return Readable("".join(parts), np.array(origin, dtype=np.int32))


def original_spans(spans: npt.NDArray[np.int32], origin: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Map spans of tokens in a rewritten text, `(t, 2)`, to the original; (-1, -1) for inserted tokens."""
    if not len(spans):
        return spans
    ends = origin[spans[:, 1] - 1]
    return np.stack([origin[spans[:, 0]], np.where(ends < 0, -1, ends + 1)], axis=1).astype(np.int32)
