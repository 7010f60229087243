"""Lines that do not continue the one before: of a diary or log, "3 Feb  skip delivered", or of a list, "Beds 32"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from corpus import is_line_list, lazy_pattern
from qa.language.spans import lines_of
from qa.structure.dated_entries import DATE

# A model sees the marker of a list before the date.
_BEGINS = lazy_pattern(rf"(?:\A|\n)[ \t]*[\[(*_<]*(?:{DATE}|\d\d?[:.]\d\d\b)")
_WORD_END = lazy_pattern(r"[\w)\]\"'%€$£]")


def missing_stops(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where lines end without a mark before another entry or item, in part of a text.

    A model sees no line breaks, so that the date or value of one line seems to belong to the next. A single line that
    begins with a date may be wrapped prose.
    """
    entries = [entry.start() for entry in _BEGINS.finditer(text, start, end)]
    begins = {*(entries if len(entries) > 1 else ()), *_items(text, start, end)}
    for begin in sorted(begins):
        stop = len(text[:begin].rstrip())
        if stop > start and _WORD_END.match(text, stop - 1):
            yield stop


def _items(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where the lines of lists without bullets end, but the last line of each."""
    for _, lines in groupby(lines_of(text[:end], start), key=lambda line: not text[slice(*line)].strip()):
        block = list(lines)
        if is_line_list([text[slice(*line)] for line in block]):
            yield from (stop for _, stop in block[:-1])
