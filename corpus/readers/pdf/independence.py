"""Split text into columns of any width where the paragraphs of both sides are independent, unlike the cells of rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from corpus.readers.pdf.bands import connect, rows_of, split_at
from corpus.readers.pdf.gutters import ALIGNED, COLUMN_LINE, EDGE, is_column
from corpus.readers.pdf.page.grouping import group_if
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.page.rules import Drawing, rules_across

# How many left edges are tried as that of a column, and how far they are right of the leftmost, in points.
_MAX_EDGES, _INDENT = 8, 20.0
# The fewest lines on each side, and the narrowest gutter, in line heights.
_MIN_LINES, _MIN_GAP = 3, 0.75
# As many rules across both sides are those of a table.
_TABLE_RULES = 2
# More than this share of the text in columns is letters, unlike that in tables of numbers.
_LETTERS = 0.6
# The fewest pairs of paragraphs that are beside each other and not aligned, also relative to aligned pairs.
_MIN_PAIRS, _UNALIGNED = 2, 0.5
# In line heights: how far below a baseline another may be if their lines overlap.
_OVERLAP = 0.7
# In line heights: how far aligned paragraphs are shifted at most at their first lines, and at their middles; the
# largest distance between the lines of a paragraph, which may also be this many times the usual one.
_SAME_TOP, _SAME_MIDDLE, _TIGHT, _USUAL = 0.4, 0.3, 1.45, 1.1
# The largest relative difference in size, within a paragraph.
_SAME_SIZE = 0.08
# In line heights: a space, and how much more of a line may be free before a word that did not fit.
_FREE = 1.0
_SENTENCE_END = re.compile(r"[.!?:;。！？]['\"”’)\]]*$")

# The pieces on one baseline, from left to right.
_Row = list[Line]


class _Block(NamedTuple):
    """A paragraph, or a cell, in the left or right column: its edges and the baseline of its first line."""

    baseline: float
    is_right: bool
    top: float
    bottom: float
    size: float


def split_independent(pieces: Sequence[Line], width: float, drawing: Drawing) -> list[list[Line]]:
    """Split pieces on a page of a width into columns and what is between them, in reading order; [] if none are found.

    A gutter is left of an edge at which many pieces begin. In a table, cells are aligned with those beside them, at
    their first lines or their middles; but paragraphs begin anywhere beside those of another column.
    """
    runs = connect(pieces)
    for x in _gutters(pieces):
        parts: list[list[Line]] = [[]]
        for band in split_at(runs, [x], drawing.tables):
            left = [piece for piece in band.pieces if piece.left <= x]
            right = [piece for piece in band.pieces if piece.left > x]
            if not band.is_across and _are_columns(left, right, width, drawing):
                parts += [left, right, []]
            else:
                parts[-1] += band.pieces
        if len(parts) > 1:
            return list(filter(None, parts))
    return []


def _gutters(pieces: Sequence[Line]) -> Iterator[float]:
    """Yield an x left of each edge at which many pieces begin, but not the leftmost."""
    edges = Counter(int(piece.left // EDGE) for piece in pieces)
    first = min((piece.left for piece in pieces), default=0.0)
    for edge, count in edges.most_common(_MAX_EDGES):
        # A piece that begins a little further left, such as a bullet, is part of the column.
        x = min(piece.left for piece in pieces if edge - 1 <= piece.left // EDGE <= edge) - EDGE / 2
        if x > first + _INDENT and count >= _MIN_LINES:
            yield x


def _beside(pieces: Sequence[Line], others: Sequence[Line]) -> list[Line]:
    """Return the pieces that are neither above nor below all others."""
    low = min((other.bottom for other in others), default=0.0)
    high = max((other.top for other in others), default=0.0)
    return [piece for piece in pieces if low <= piece.top and piece.bottom <= high]


def _are_columns(left: Sequence[Line], right: Sequence[Line], width: float, drawing: Drawing) -> bool:
    """Whether the text on both sides of a gutter is in columns rather than in the rows of a table."""
    left_beside, right_beside = _beside(left, right), _beside(right, left)
    left_rows, right_rows = rows_of(left_beside), rows_of(right_beside)
    if min(len(left_rows), len(right_rows)) < _MIN_LINES:
        return False
    start, end = max(piece.right for piece in left_beside), min(piece.left for piece in right_beside)
    main = max(left_beside, right_beside, key=_count_characters)
    letters = sum(sum(map(str.isalpha, piece.text)) for piece in main)
    is_prose = letters > _LETTERS * _count_characters(main) and is_column(main, width, ALIGNED)
    if not is_prose or end - start < _MIN_GAP * main[0].size or not _are_independent(left, right, width):
        return False
    low = max(left_rows[-1][0].bottom, right_rows[-1][0].bottom)
    high = min(left_rows[0][0].bottom, right_rows[0][0].bottom)
    edges = min(piece.left for piece in left_beside), max(piece.right for piece in right_beside)
    return len(rules_across(drawing, *edges, low, high)) < _TABLE_RULES


def _count_characters(pieces: Sequence[Line]) -> int:
    return sum(len(piece.text) for piece in pieces)


def _are_independent(left: Sequence[Line], right: Sequence[Line], width: float) -> bool:
    """Whether many paragraphs in one column begin beside the middle of one in the other."""
    blocks = [*_blocks(rows_of(left), width, is_right=False), *_blocks(rows_of(right), width, is_right=True)]
    blocks.sort(key=lambda block: -block.baseline)
    latest: dict[bool, _Block] = {}
    with_neighbour: set[_Block] = set()
    aligned = unaligned = 0
    for block in blocks:
        other = latest.get(not block.is_right)
        latest[block.is_right] = block
        if other is None or not _is_beside(block, other):
            continue
        if _have_same_top(block, other) or (other not in with_neighbour and _have_same_middle(block, other)):
            aligned += 1
        else:
            unaligned += 1
        with_neighbour.add(other)
    return unaligned >= max(_MIN_PAIRS, _UNALIGNED * aligned)


def _is_beside(block: _Block, other: _Block) -> bool:
    """Whether a block begins beside another, which begins above it or at the same height."""
    return block.baseline > other.bottom - _OVERLAP * min(block.size, other.size)


def _have_same_top(block: _Block, other: _Block) -> bool:
    return abs(block.baseline - other.baseline) <= _SAME_TOP * min(block.size, other.size)


def _have_same_middle(block: _Block, other: _Block) -> bool:
    shift = (block.top + block.bottom - other.top - other.bottom) / 2
    return abs(shift) <= _SAME_MIDDLE * min(block.size, other.size)


def _blocks(rows: Sequence[_Row], width: float, *, is_right: bool) -> Iterator[_Block]:
    """Yield the paragraphs, or the cells, of a column on a page of a width."""
    steps = [above[0].bottom - below[0].bottom for above, below in pairwise(rows)]
    usual = _USUAL * median(steps)
    edge = max(row[-1].right for row in rows)

    def continues(block: Sequence[_Row], row: _Row) -> bool:
        """Whether a row continues a paragraph: its first word did not fit on the row above."""
        above, first = block[-1], row[0]
        last = above[-1]
        is_near = above[0].bottom - first.bottom <= max(usual, _TIGHT * first.size)
        if not is_near or last.bold != first.bold or abs(last.size - first.size) > _SAME_SIZE * first.size:
            return False
        word = first.text.partition(" ")[0]
        if edge - last.right > first.boxes[len(word) - 1][2] - first.left + _FREE * first.size:
            return False
        if last.right - above[0].left > COLUMN_LINE * width:
            return first.text[0].islower() or not _SENTENCE_END.search(last.text)
        return first.text[0].islower() and " " in last.text  # one word is a label rather than a line of prose

    for block in group_if(rows, continues):
        first, last = block[0][0], block[-1][0]
        yield _Block(first.bottom, is_right, first.top, last.bottom, first.size)
