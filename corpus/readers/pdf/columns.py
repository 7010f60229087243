"""Put the pieces of a page in reading order: column by column, between the lines across columns."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise

from corpus.readers.pdf.bands import connect, join_pieces, split_at
from corpus.readers.pdf.gutters import find_gutters
from corpus.readers.pdf.independence import split_independent
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.page.rules import Drawing

# How many times columns may be split into columns.
_MAX_DEPTH = 4


def in_reading_order(pieces: list[Line], width: float, drawing: Drawing) -> Iterator[Line]:
    """Yield the lines of a page in reading order.

    A page, each of its columns, and what is between columns are split in turn (a recursive XY-cut; G. Nagy and S. Seth,
    Hierarchical representation of optically scanned documents, 1984).
    """

    def split(pieces: Sequence[Line], depth: int) -> Iterator[Sequence[Line]]:
        parts = [] if depth else _split_equal(pieces, width, drawing)
        parts = parts or split_independent(pieces, width, drawing)
        if not parts or depth == _MAX_DEPTH:
            yield pieces
            return
        for part in parts:
            yield from split(part, depth + 1)

    parts = list(split(pieces, 0))
    for number, part in enumerate(parts, int(len(parts) > 1)):
        for line in join_pieces(part):
            line.column = number
            yield line


def _split_equal(pieces: Sequence[Line], width: float, drawing: Drawing) -> list[list[Line]]:
    """Return columns of about equal width and what is between them, in reading order; [] for a single column."""
    gutters = find_gutters(pieces, width)
    if not gutters:
        return []
    parts: list[list[Line]] = [[]]
    for band in split_at(connect(pieces), gutters, drawing.tables):
        columns: list[list[Line]] = [[] for _ in range(len(gutters) + 1)]
        for piece in band.pieces:
            columns[bisect(gutters, (piece.left + piece.right) / 2)].append(piece)
        if band.is_across or _is_right_above_left(list(filter(None, columns))):
            parts[-1] += band.pieces
        else:
            parts += [*columns, []]
    return list(filter(None, parts))


def _is_right_above_left(columns: Sequence[Sequence[Line]]) -> bool:
    """Whether columns are not beside each other, such as the totals of a bill above the terms of payment."""
    return len(columns) > 1 and all(
        min(piece.bottom for piece in right) >= max(piece.top for piece in left) for left, right in pairwise(columns)
    )
