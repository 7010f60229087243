"""The end of the text before a passage, which the reader gets as context: what "it" or a list item is about."""

from __future__ import annotations

import re

# Maximum characters between a passage and the one before it: headings, not left-out text.
LARGEST_GAP = 100
# The last sentence or line says what a passage continues; more distracts from the passage.
_LONGEST = 200
_END = re.compile(r"(?<=[.!?])\s+|\n")


def with_preceding(context: str, text: str) -> str:
    """Append the end of the text before a passage to its context (title › headings)."""
    return " › ".join(filter(None, (context, end_of(text))))


def end_of(text: str) -> str:
    """Return the last sentence of a text's last line, or the last 200 characters of that; "" if it has no text."""
    last = _END.split(text.strip())[-1]
    return " ".join(last.split())[-_LONGEST:]
