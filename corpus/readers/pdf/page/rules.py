"""Find rules: lines drawn across a page, such as those above and below the rows of a table."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from corpus.readers.pdf.page.frame import Frame
from corpus.readers.pdf.page.grouping import group_if

# A page with more drawn objects is not searched for rules.
_MAX_OBJECTS = 4000
# In points: the thickest and the shortest rule, and how much the heights of its parts may differ.
_THICK, _LONG, _SAME = 2.5, 6.0, 2.0
# A rule covers at least this share of a table's width.
_SHARE = 0.7
# On either side, a rule extends beyond a table by at most this share of the table's width plus this many points.
_BEYOND, _MARGIN = 0.12, 12.0


class Rule(NamedTuple):
    """A horizontal line, or an edge of a box."""

    y: float
    left: float
    right: float


def find_rules(page: Any, frame: Frame) -> list[Rule]:
    """Return the horizontal rules of a page in its frame, from top to bottom."""
    count = pdfium.FPDFPage_CountObjects(page.raw)
    return sorted(_rules(page.raw, count, frame), reverse=True) if count <= _MAX_OBJECTS else []


def _rules(page: Any, count: int, frame: Frame) -> Iterator[Rule]:
    edges = [ctypes.c_float() for _ in range(4)]
    for number in range(count):
        part = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(part) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium.FPDFPageObj_GetBounds(part, *edges):
            continue
        ((left, bottom, right, top),) = frame.move([(edges[0].value, edges[1].value, edges[2].value, edges[3].value)])
        if right - left < _LONG:
            continue
        yield Rule(top, left, right)
        if top - bottom > _THICK:
            yield Rule(bottom, left, right)


def rules_across(rules: Sequence[Rule], left: float, right: float, low: float, high: float) -> list[float]:
    """Return the heights, from top to bottom, of the rules between `low` and `high` that are as wide as a table."""
    in_range = [rule for rule in rules if low <= rule.y <= high]
    levels = group_if(in_range, lambda level, rule: level[0].y - rule.y <= _SAME)
    return [level[0].y for level in levels if _span_table(level, left, right)]


def _span_table(rules: Sequence[Rule], left: float, right: float) -> bool:
    """Whether rules at one height cover most of a table's width, and do not extend far beyond it."""
    beyond = _BEYOND * (right - left) + _MARGIN
    near = [rule for rule in rules if rule.right > left - beyond and rule.left < right + beyond]
    if any(rule.left < left - beyond or rule.right > right + beyond for rule in near):
        return False
    total, end = 0.0, left
    for rule in sorted(near, key=lambda rule: rule.left):
        total += max(0.0, min(right, rule.right) - max(end, rule.left))
        end = max(end, min(right, rule.right))
    return total >= _SHARE * (right - left)
