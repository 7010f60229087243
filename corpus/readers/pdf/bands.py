"""Join the pieces of text on a baseline, and split a page into bands with and without columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from corpus.readers.pdf.page.grouping import group_if
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.page.rules import RuledTable
from corpus.readers.pdf.page.superscripts import separate_marks

# In line heights: the smallest gap between columns, and between baselines.
COLUMN_GAP, _BASELINE_GAP = 1.2 * 1.4, 0.4
# In points: how far a piece across a gutter extends beyond it, at least.
_CROSSING = 4.0


class Band(NamedTuple):
    """Pieces of a page between two heights: of lines across a gutter, or beside gutters."""

    is_across: bool
    pieces: list[Line]


def join_pieces(pieces: Iterable[Line]) -> Iterator[Line]:
    """Return lines from top to bottom, each with the pieces on its baseline from left to right."""
    return map(_merge_row, rows_of(pieces))


def rows_of(pieces: Iterable[Line]) -> list[list[Line]]:
    """Group pieces by baseline, from top to bottom, each row from left to right."""
    ordered = sorted(pieces, key=lambda piece: -piece.bottom)
    gap = _BASELINE_GAP
    rows = group_if(ordered, lambda row, piece: row[0].bottom - piece.bottom <= gap * min(row[0].size, piece.size))
    for row in rows:
        row.sort(key=lambda piece: piece.left)
    return rows


def connect(pieces: Iterable[Line]) -> list[list[Line]]:
    """Group pieces that are next to each other on a baseline."""
    return [run for row in rows_of(pieces) for run in group_if(row, lambda run, piece: _is_next_to(run[-1], piece))]


def split_at(runs: Iterable[Sequence[Line]], gutters: Sequence[float], tables: Sequence[RuledTable]) -> list[Band]:
    """Split connected pieces into bands from top to bottom, by turns across a gutter and beside gutters.

    What is in a ruled table across a gutter is across it.
    """
    tables = [table for table in tables if any(table.left < x < table.right for x in gutters)]
    across: list[Line] = []
    beside: list[Line] = []
    for run in runs:
        is_across = any(piece.left < x - _CROSSING and piece.right > x + _CROSSING for piece in run for x in gutters)
        is_across = is_across or any(table.has(piece) for table in tables for piece in run)
        (across if is_across else beside).extend(run)
    parts = [
        *((max(piece.bottom for piece in row), True, row) for row in rows_of(across)),
        *((piece.bottom, False, [piece]) for piece in beside),
    ]
    parts.sort(key=lambda part: (-part[0], not part[1]))
    bands = groupby(parts, key=itemgetter(1))
    return [Band(is_across, [piece for _, _, part in band for piece in part]) for is_across, band in bands]


def _is_next_to(piece: Line, neighbour: Line) -> bool:
    return neighbour.left - piece.right < COLUMN_GAP * min(piece.size, neighbour.size)


def _merge_row(row: list[Line]) -> Line:
    first, *following = row
    if not following:
        return separate_marks(first, row)
    text, boxes = first.text, list(first.boxes)
    for piece in following:
        text += " " + piece.text
        boxes += [(boxes[-1][2], piece.boxes[0][1], piece.left, piece.boxes[0][3]), *piece.boxes]
    return separate_marks(Line(text, boxes, first.size, all(piece.bold for piece in row), first.font), row)
