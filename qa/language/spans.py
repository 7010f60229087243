"""Spans of a text, its lines and its paragraphs: first character, and one past the last."""

from __future__ import annotations

Span = tuple[int, int]


def line_start(text: str, at: int) -> int:
    """Return where the line of a character begins."""
    return text.rfind("\n", 0, at) + 1


def line_around(text: str, span: Span, body: int = 0) -> Span:
    """Return the lines of some characters, from the body of a passage on and without what is blank at their end."""
    end = text.find("\n", span[1])
    return max(line_start(text, span[0]), body), len(text[: end if end >= 0 else None].rstrip())


def spans_overlap(span: Span, other_span: Span) -> bool:
    """Return whether two spans share a character."""
    return span[0] < other_span[1] and other_span[0] < span[1]
