"""Recognise the headings of a PDF by number and font."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus.readers.pdf.paragraphs import (
    BULLETS,
    MAX_GUESSED_HEADING,
    NUMBERED,
    TABLE_GAPS,
    Paragraph,
    is_numbered_in_capitals,
)
from corpus.text.headings import could_be_heading

_NEVER_FIRST = f"({BULLETS}–—·*-"
# A line with one of these and few words is a formula.
_FORMULA = re.compile("[=<>∑∏∫√≤≥≈≡∈∉⊂⊆∂∇×·±→⇒∞∀∃\U0001d400-\U0001d7ff]")
_LONG_WORD = re.compile(r"[^\W\d_]{3,}|[\u2e80-\U0003ffff]{2}")


def heading_levels(paragraphs: Sequence[Paragraph], body: float) -> list[int]:
    """Return the heading level of each paragraph: 1 for the outermost, 0 for none.

    If headings are numbered, unnumbered ones count only in the same type.
    """
    levels = [_heading_level(paragraph, body) for paragraph in paragraphs]
    types = [paragraph.type for paragraph in paragraphs]
    numbered_types = {types[i] for i, level in enumerate(levels) if level and NUMBERED.match(paragraphs[i].text)}
    kept = [level if type_ in numbered_types else 0 for type_, level in zip(types, levels, strict=True)]
    return kept if sum(map(bool, kept)) >= 5 else levels


def _heading_level(paragraph: Paragraph, body: float) -> int:
    """Return the heading level that number and font suggest; 0 for body text."""
    text = paragraph.text
    if not _may_be_heading(paragraph) or paragraph.size < 0.95 * body:
        return 0
    is_larger = paragraph.size > 1.1 * body
    number = NUMBERED.match(text)
    title = text[number.end() :] if number else text
    if not (is_larger or paragraph.bold):
        return 1 + number["number"].count(".") if number and is_numbered_in_capitals(paragraph) else 0
    if number and len(title) >= 3 and (is_larger or could_be_heading(title) or len(title.split()) <= 6):
        return 1 + number["number"].count(".")
    if could_be_heading(title) or (is_larger and len(title.split()) <= 8 and len(title) >= 4):
        return 1 if is_larger else 2
    return 0


def _may_be_heading(paragraph: Paragraph) -> bool:
    text = paragraph.text
    words = _LONG_WORD.findall(text)
    if not words or (len(words) < 3 and _FORMULA.search(text)):
        return False
    is_short = paragraph.lines <= 3 and len(text) <= MAX_GUESSED_HEADING and paragraph.gaps < TABLE_GAPS
    return is_short and text[0] not in _NEVER_FIRST and text[-1] not in ".,;:" and any(map(str.isalpha, text))
