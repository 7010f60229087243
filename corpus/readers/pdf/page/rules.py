"""Lines that are drawn across a page, such as those above and below the rows of a table."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

# Of a drawing with more parts none is looked at.
_MAX_PARTS = 4000
# In points: how thick a rule is at most, how long at least, and how far apart parts of one are.
_THICK, _LONG, _SAME = 2.5, 6.0, 2.0
# Share of the width of a table that a rule has at least.
_SHARE = 0.7
# Share of its width, and points, by which a rule is wider than a table at most.
_BEYOND, _MARGIN = 0.12, 12.0


class Rule(NamedTuple):
    """A horizontal line, or an edge of a box."""

    y: float
    left: float
    right: float


def rules_of(page: Any) -> list[Rule]:
    """The horizontal lines of a page, from top to bottom."""
    count = pdfium.FPDFPage_CountObjects(page.raw)
    return sorted(_rules(page.raw, count), reverse=True) if count <= _MAX_PARTS else []


def _rules(page: Any, count: int) -> Iterator[Rule]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for number in range(count):
        part = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(part) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium.FPDFPageObj_GetBounds(part, left, bottom, right, top) or right.value - left.value < _LONG:
            continue
        yield Rule(top.value, left.value, right.value)
        if top.value - bottom.value > _THICK:
            yield Rule(bottom.value, left.value, right.value)


def across(rules: Sequence[Rule], left: float, right: float, low: float, high: float) -> list[float]:
    """Heights of the rules that are between two heights and as wide as a table, from top to bottom."""
    found: list[float] = []
    at: list[Rule] = []
    for rule in [*(one for one in rules if low <= one.y <= high), None]:
        if at and (rule is None or at[0].y - rule.y > _SAME):
            if _is_across(at, left, right):
                found.append(at[0].y)
            at = []
        if rule is not None:
            at.append(rule)
    return found


def _is_across(rules: Sequence[Rule], left: float, right: float) -> bool:
    """Whether rules on one height begin and end where a table does, and are nowhere far apart."""
    beyond = _BEYOND * (right - left) + _MARGIN
    near = [rule for rule in rules if rule.right > left - beyond and rule.left < right + beyond]
    if not near or min(rule.left for rule in near) < left - beyond or max(rule.right for rule in near) > right + beyond:
        return False
    total, end = 0.0, left
    for rule in sorted(near, key=lambda one: one.left):
        start, stop = max(end, rule.left), min(right, rule.right)
        if stop > start:
            total += stop - start
            end = stop
    return total >= _SHARE * (right - left)
