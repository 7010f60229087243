"""Lines that begin with a date or a time, as in a diary or a log: "3 Feb  skip delivered"."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MONTH = r"(?i:jan|feb|m[aä]r|mrz|apr|ma[iy]|ju[nl]|aug|sep|o[ck]t|nov|de[cz])[^\W\d_]*"
_WEEKDAY = r"(?i:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)[^\W\d_]*\.?,?[ \t]+"
# A model sees the marker of a list before the date.
_BEGINS = re.compile(
    rf"(?:\A|\n)[ \t]*[\[(*_<]*(?:{_WEEKDAY})?(?:\d{{1,4}}(?P<mark>[./-])\d{{1,2}}(?P=mark)(?:\d{{1,4}})?(?!\w)"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\.?[ \t]+{_MONTH}|{_MONTH}\.?[ \t]+\d{{1,2}}\b|\d\d?[:.]\d\d\b)"
)
_WORD_END = re.compile(r"[\w)\]\"'%€$£]")


def missing_stops(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where lines end without a mark before a line that begins with a date or time, in part of a text.

    A model sees no line breaks, so that the date of one entry seems to end the entry before it. A single such line may
    be wrapped prose.
    """
    entries = list(_BEGINS.finditer(text, start, end))
    for entry in entries if len(entries) > 1 else ():
        stop = len(text[: entry.start()].rstrip())
        if stop > start and _WORD_END.match(text, stop - 1):
            yield stop
