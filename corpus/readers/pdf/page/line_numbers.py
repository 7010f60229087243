"""Recognise line numbers in the margin of a manuscript, which are not part of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from corpus.readers.pdf.page.characters import Box

# First character and one past the last.
Run = tuple[int, int]

_NUMBER = re.compile(r"\s*(\d{1,4})(?=\s|$)\s*")
# A page has at least this many line numbers, and at least this share of the steps between them are 1.
_MIN_NUMBERS, _MIN_IN_ORDER = 8, 0.85
# In points: how far apart their right edges may be, as the numbers may be left-aligned.
_ALIGNED = 8.0
# Text beside line numbers has more characters, as a rule; cells of a table are shorter.
_CELL = 16
# Share of other text that may lie further out, such as a running head.
_MAX_OUTSIDE = 0.05


def without_line_numbers(runs: Sequence[Run], letters: str, boxes: Sequence[Box]) -> Iterator[Run]:
    """Yield the runs of characters of a page without the line numbers in its margin."""
    numbers = sorted(_numbers(runs, letters, boxes), key=lambda number: number[0])
    number_ends: dict[int, int] = {}
    for group in _aligned(numbers):
        ordered = sorted(group, key=lambda number: -boxes[number[2] - 1][1])
        steps = [below[1] - above[1] for above, below in pairwise(ordered)]
        is_consecutive = len(ordered) >= _MIN_NUMBERS and steps.count(1) >= _MIN_IN_ORDER * len(steps)
        if is_consecutive and _is_margin(ordered, runs, boxes) and not _are_cells(ordered, runs, boxes):
            number_ends |= {first: end for _, _, end, first in ordered}
    for first, end in runs:
        if (start := number_ends.get(first, first)) < end:
            yield start, end


def _numbers(runs: Sequence[Run], letters: str, boxes: Sequence[Box]) -> Iterator[tuple[float, int, int, int]]:
    """Yield right edge, value, end and start of each number that begins a run."""
    for first, end in runs:
        if found := _NUMBER.match(letters, first, end):
            yield boxes[found.end(1) - 1][2], int(found[1]), found.end(), first


def _aligned(numbers: Sequence[tuple[float, int, int, int]]) -> Iterator[list[tuple[float, int, int, int]]]:
    group: list[tuple[float, int, int, int]] = []
    for number in numbers:
        if group and number[0] - group[0][0] > _ALIGNED:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _is_margin(group: Sequence[tuple[float, int, int, int]], runs: Sequence[Run], boxes: Sequence[Box]) -> bool:
    """Whether numbers are to the left or to the right of nearly all other text."""
    after = {first: end for _, _, end, first in group}
    rest = [(after.get(first, first), end) for first, end in runs]
    left = max(edge for edge, _, _, _ in group)
    right = min(boxes[first][0] for _, _, _, first in group)
    others = [(boxes[first][0], boxes[end - 1][2]) for first, end in rest if first < end]
    allowed = _MAX_OUTSIDE * len(others)
    return sum(begin < left for begin, _ in others) <= allowed or sum(stop > right for _, stop in others) <= allowed


def _are_cells(group: Sequence[tuple[float, int, int, int]], runs: Sequence[Run], boxes: Sequence[Box]) -> bool:
    """Whether numbers are the first cells of a table's rows: nothing long is beside them."""
    after = {first: end for _, _, end, first in group}
    heights = {round(boxes[first][1]) for first in after}
    beside = [end - after.get(first, first) for first, end in runs if round(boxes[first][1]) in heights]
    lengths = [length for length in beside if length]
    return bool(lengths) and median(lengths) <= _CELL
