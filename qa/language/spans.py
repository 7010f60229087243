"""Spans of a text, its lines and its paragraphs: first character, and one past the last."""

from __future__ import annotations

from collections.abc import Iterator

Span = tuple[int, int]


def line_start(text: str, at: int) -> int:
    """Return where the line of a character begins."""
    return text.rfind("\n", 0, at) + 1


def line_around(text: str, span: Span, body: int = 0) -> Span:
    """Return the lines of some characters, from the body of a passage on and without what is blank at their end."""
    end = text.find("\n", span[1])
    return max(line_start(text, span[0]), body), len(text[: end if end >= 0 else None].rstrip())


def lines_of(text: str, start: int = 0) -> Iterator[Span]:
    """Yield the lines of a text from a character on, without line breaks."""
    for line in text[start:].split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def paragraph_around(text: str, span: Span, body: int = 0) -> Span:
    """Return the paragraph of some characters, from the body of a passage on and up to two line breaks."""
    start, end = text.rfind("\n\n", body, span[0]), text.find("\n\n", span[1])
    return body if start < 0 else start + 2, len(text) if end < 0 else end


def spans_overlap(span: Span, other_span: Span) -> bool:
    """Return whether two spans share a character."""
    return span[0] < other_span[1] and other_span[0] < span[1]


def trimmed(text: str, span: Span, chars: str | None = None) -> Span:
    """Return a span without the blanks, or some characters, around it; its end twice if it has nothing else."""
    part = text[slice(*span)]
    start = span[0] + len(part) - len(part.lstrip(chars))
    return start, start + len(part.strip(chars))
