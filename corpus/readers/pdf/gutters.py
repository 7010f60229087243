"""Find the gutters between columns of about equal width."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Sequence

from corpus.readers.pdf.page.line import Line

# A page has two columns if each has at least this share of its text, and at most this share crosses the gutter.
_MIN_SIDE, _MAX_ACROSS = 0.15, 0.4
# The right column of a last page may have less, if hardly any text crosses the gutter.
_LAST_SIDE, _LAST_ACROSS = 0.03, 0.1
# Where the gutters between three columns lie, as shares of the width of the text.
_THIRDS = ((0.28, 0.39), (0.61, 0.72))
# More than this share of a column's text begins at its edge.
ALIGNED, _LAST_ALIGNED = 0.35, 0.6
# Full lines of a column are wider than this share of the page.
COLUMN_LINE = 0.18
# In points: lines with left edges this close share an edge.
EDGE = 8


def find_gutters(pieces: Sequence[Line], width: float) -> list[float]:
    """Return the x of each gap between columns; none for a single column."""
    if len(pieces) < 8:
        return []
    total = sum(len(piece.text) for piece in pieces)
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    (at_x, x), (at_y, y) = (_find_gap(pieces, left, right - left, *between) for between in _THIRDS)
    columns: list[list[Line]] = [[], [], []]
    for piece in pieces:
        columns[bisect((x, y), (piece.left + piece.right) / 2)].append(piece)
    if max(at_x, at_y) <= _MAX_ACROSS / 2 * total and all(_is_third(column, total, right - left) for column in columns):
        return [x, y]
    gutter = _find_gutter(pieces, total, width)
    return [] if gutter is None else [gutter]


def _is_third(pieces: Sequence[Line], total: int, width: float) -> bool:
    return sum(len(piece.text) for piece in pieces) >= _MIN_SIDE * total and is_column(pieces, width, ALIGNED)


def _find_gap(pieces: Sequence[Line], left: float, width: float, first: float, last: float) -> tuple[int, float]:
    """Return the number of characters that cross x, and the x that the fewest cross, between two shares of a width."""
    spans = [(piece.left, piece.right, len(piece.text)) for piece in pieces]

    def count_crossing(x: float) -> int:
        return sum([length for begin, end, length in spans if begin < x - 1 and end > x + 1])

    candidates = [left + width * (first + 0.005 * step) for step in range(round((last - first) / 0.005) + 1)]
    crossing, _, x = min((count_crossing(x), abs(x - left - width * (first + last) / 2), x) for x in candidates)
    return crossing, x


def _find_gutter(pieces: Sequence[Line], total: int, width: float) -> float | None:
    """Return the x of the gap between two columns, or None for one column; the page has `total` characters."""
    crossing, x = _find_gap(pieces, 0.0, width, 0.35, 0.65)
    if crossing > _MAX_ACROSS * total:
        return None
    right = [piece for piece in pieces if piece.left >= x - 1]
    left_characters = sum(len(piece.text) for piece in pieces if piece.right <= x + 1)
    smaller = min(left_characters, sum(len(piece.text) for piece in right))
    is_short = smaller < _MIN_SIDE * total
    if is_short and (smaller < _LAST_SIDE * total or _count_across(pieces, right, x, width) > _LAST_ACROSS * total):
        return None
    return x if is_column(right, width, _LAST_ALIGNED if is_short else ALIGNED) else None


def _count_across(pieces: Sequence[Line], right: Sequence[Line], x: float, width: float) -> int:
    """Count the characters across a gutter, except those above both columns, such as a title."""
    top = float("inf")
    if is_column([piece for piece in pieces if piece.right <= x + 1], width, _LAST_ALIGNED):
        top = max((piece.top for piece in right if piece.right - piece.left > COLUMN_LINE * width), default=top)
    below = [piece for piece in pieces if piece.bottom < top]
    return sum(len(piece.text) for piece in below if piece.left < x - 1 and piece.right > x + 1)


def is_column(pieces: Sequence[Line], width: float, aligned: float) -> bool:
    """Whether more than a share `aligned` of the text is in long lines at one left edge; cells of tables are short."""
    total = sum(len(piece.text) for piece in pieces)
    edges: Counter[int] = Counter()
    for piece in pieces:
        if piece.right - piece.left > COLUMN_LINE * width:
            edges[int(piece.left // EDGE)] += len(piece.text)
    return max((count + edges[edge + 1] for edge, count in list(edges.items())), default=0) > aligned * total
