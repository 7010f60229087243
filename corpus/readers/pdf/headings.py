"""Headings of a PDF, by their numbers and their fonts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus.readers.pdf.paragraphs import (
    BULLETS,
    MAX_HEADING,
    NUMBERED,
    TABLE_GAPS,
    Paragraph,
    is_numbered_in_capitals,
)
from corpus.text.headings import could_be_heading

_MARKS = f"({BULLETS}–—·*-"
# A line with one of these and few words is a formula.
_FORMULA = re.compile("[=<>∑∏∫√≤≥≈≡∈∉⊂⊆∂∇×·±→⇒∞∀∃\U0001d400-\U0001d7ff]")
_LONG_WORD = re.compile(r"[^\W\d_]{3,}|[\u2e80-\U0003ffff]{2}")


def heading_levels(found: Sequence[Paragraph], body: float) -> list[int]:
    """Return the level of each paragraph as a heading, 1 the outermost and 0 for none.

    Where headings are numbered, those without a number count only in the same type.
    """
    levels = [_heading_level(one, body) for one in found]
    numbered = {_type(one) for one, level in zip(found, levels, strict=True) if level and NUMBERED.match(one.text)}
    in_type = [level if _type(one) in numbered else 0 for one, level in zip(found, levels, strict=True)]
    return in_type if sum(map(bool, in_type)) >= 5 else levels


def _type(one: Paragraph) -> tuple[int, bool, str]:
    return round(one.size), one.bold, one.font


def _heading_level(found: Paragraph, body: float) -> int:
    """The level of a heading by its number and its font; 0 for a paragraph."""
    text = found.text
    if not _may_be_heading(found) or found.size < 0.95 * body:
        return 0
    larger = found.size > 1.1 * body
    numbered = NUMBERED.match(text)
    rest = text[numbered.end() :] if numbered else text
    if not (larger or found.bold):
        return 1 + numbered["number"].count(".") if numbered and is_numbered_in_capitals(found) else 0
    if numbered and len(rest) >= 3 and (larger or could_be_heading(rest) or len(rest.split()) <= 6):
        return 1 + numbered["number"].count(".")
    if could_be_heading(rest) or (larger and len(rest.split()) <= 8 and len(rest) >= 4):
        return 1 if larger else 2
    return 0


def _may_be_heading(found: Paragraph) -> bool:
    text = found.text
    words = _LONG_WORD.findall(text)
    if not words or (len(words) < 3 and _FORMULA.search(text)):
        return False
    few = found.lines <= 3 and len(text) <= MAX_HEADING and found.gaps < TABLE_GAPS
    return few and text[0] not in _MARKS and text[-1] not in ".,;:" and any(map(str.isalpha, text))
