"""Entries with a date, as in a diary or a log: "3 Feb  skip delivered", a dated row, or all below "3 February"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from corpus import lazy_pattern
from corpus.formats import RECORDS
from index import StoredPassage
from qa.language.dates import Period, dates_in
from qa.language.spans import Span, lines_of, paragraph_around, trimmed
from qa.language.values import FIELD, MONTH
from qa.structure.tables import tables

_WEEKDAY = r"(?i:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)[a-zäöüß]*\.?,?[ \t]+"
DATE = (
    rf"(?:{_WEEKDAY})?(?:\d{{1,4}}(?P<mark>[./-])\d{{1,2}}(?P=mark)(?:\d{{1,4}})?(?!\w)"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\.?[ \t]+{MONTH}\.?(?:,?[ \t]+\d{{4}}\b)?"
    rf"|{MONTH}\.?[ \t]+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?[ \t]+\d{{4}}\b)?)"
)
_ENTRY = lazy_pattern(rf"^[ \t]*(?:[-*•+][ \t]+)?[\[(*_<]*(?P<date>{DATE})", re.MULTILINE)
# A date at the end of a line, in brackets or after a comma, a dash, a wide gap or "on".
_ENTRY_BEFORE_DATE = lazy_pattern(
    rf"(?:[,;:(\[–—-][ \t]*|[ \t]{{2,9}}|\t|\b(?:on|am)[ \t]+)[*_]{{0,3}}(?P<date>{DATE})[)\]*_]{{0,4}}"
    r"(?:[ \t]{1,3}\([^()\n]{1,40}\))?\.?[ \t]*$"
)
_LONGEST_LINE = 200
# Where a paragraph, an item of a list or a line with a date begins.
_BLOCK = lazy_pattern(
    r"\n[ \t]*(?=\n)|\n(?=[ \t]*(?:[-*•+]|\d{1,2}[.)])[ \t])"
    rf"|\n(?=[ \t]*[\[(*_<]*{DATE.replace('mark', 'sign')})"
)


class LogEntry(NamedTuple):
    """An entry with a date.

    Attributes:
        date: Its date; the year is 0 if the entry does not give it.
        stamp: The date's characters in the passage's text.
        span: The entry's characters, without the date.
    """

    date: Period
    stamp: Span
    span: Span


def entry_starts(text: str, start: int, end: int) -> list[int]:
    """Return where lines with a date begin, in part of a text; none if only one has one, as in wrapped prose."""
    starts = [entry.start() for entry in _ENTRY.finditer(text, start, end)]
    return starts if len(starts) > 1 else [entry.span[0] for entry in _lines_before_dates(text[:end], start)]


def dated_entries(passage: StoredPassage) -> list[LogEntry]:
    """Return the entries of a passage: lines with a date, a dated record or row, or all below a dated heading."""
    text, body = passage.text, passage.body
    if passage.document.media_type in RECORDS:
        return _dated_record(text, body)
    if lines := _lines_after_dates(text, body) or _dated_rows(passage) or _lines_before_dates(text, body):
        return lines
    heading = passage.heading[-1] if passage.heading else ""
    at = text.rfind(heading, 0, body) if heading else -1
    stamp = re.search(DATE, heading)
    date = parse_date(stamp[0]) if stamp else None
    if at < 0 or stamp is None or date is None:
        return []
    return [LogEntry(date, (at + stamp.start(), at + stamp.end()), (body, len(text)))]


def _lines_after_dates(text: str, body: int) -> list[LogEntry]:
    """Return the lines that begin with a date, each up to the next one or a blank line."""
    dated = ((match, parse_date(match["date"])) for match in _ENTRY.finditer(text, body))
    starts = [(match, date) for match, date in dated if date is not None]
    ends = [*(match.start() for match, _ in starts[1:]), len(text)]
    return [
        LogEntry(date, match.span("date"), (match.end("date"), paragraph_around(text[:end], match.span())[1]))
        for (match, date), end in zip(starts, ends, strict=bool(starts))
    ]


def _lines_before_dates(text: str, body: int) -> list[LogEntry]:
    """Return the lines that end with a date, if two or more follow one another: one may be wrapped prose."""
    runs: list[list[LogEntry]] = [[]]
    for start, end in lines_of(text, body):
        line = text[start:end]
        match = _ENTRY_BEFORE_DATE.search(text, start, end) if len(line) <= _LONGEST_LINE else None
        date = parse_date(match["date"]) if match else None
        if match is not None and date is not None and text[start : match.start()].strip():
            runs[-1].append(LogEntry(date, match.span("date"), (start, start + len(line.rstrip()))))
        elif line.strip():
            runs.append([])
    return [entry for run in runs if len(run) > 1 for entry in run]


def _dated_rows(passage: StoredPassage) -> list[LogEntry]:
    """Return the rows of tables in which one column, and no other, has dates and nothing else."""
    text, entries = passage.text, []
    for table in tables(text, passage.context):
        cells = [(at, cell, row) for row in table.rows for at, cell in enumerate(row) if is_date(text[slice(*cell)])]
        for _, cell, row in cells if len({at for at, *_ in cells}) == 1 else ():
            filled = [it for it in row if it[0] < it[1]]
            date = parse_date(text[slice(*cell)])
            if date is not None and len(filled) > 1 and cell[0] >= passage.body:
                entries.append(LogEntry(date, cell, (filled[0][0], filled[-1][1])))
    return entries


def is_date(text: str) -> bool:
    """Whether a text is a date and nothing else."""
    return any(date.text == text for date in dates_in(text))


def _dated_record(text: str, body: int) -> list[LogEntry]:
    """Return a record as an entry, if one of its fields is a date and nothing else."""
    dates = [match for match in FIELD.finditer(text, body) if is_date(match["value"])]
    if len(dates) != 1:
        return []
    date = parse_date(dates[0]["value"])
    return [] if date is None else [LogEntry(date, dates[0].span("value"), (body, len(text)))]


def parse_date(text: str) -> Period | None:
    """Return a date; its year is 0 if it has none."""
    found = next(iter(dates_in(text.strip(". "))), None)
    if found is not None:
        return found.period
    short = re.search(r"(?<!\d)(\d{1,2})[./-](\d{1,2})[./-](\d\d)?(?!\d)", text)
    if short is None or not (0 < int(short[1]) <= 31 and 0 < int(short[2]) <= 12):
        return None
    return Period(2000 + int(short[3]) if short[3] else 0, int(short[2]), int(short[1]))


def blocks_of(text: str, body: int) -> Iterator[Span]:
    """Return the paragraphs, list items and dated lines of a text from its body on."""
    cuts = [body, *(match.end() for match in _BLOCK.finditer(text, body)), len(text)]
    blocks = (trimmed(text, between) for between in pairwise(cuts))
    return (block for block in blocks if block[0] < block[1])


def dated_lines(text: str) -> list[tuple[int, Period]]:
    """Return where the lines of a chat or log that begin with a date begin, and their dates."""
    stamps = ((entry.start(), next(dates_in(entry["date"]), None)) for entry in _ENTRY.finditer(text))
    return [(start, date.period) for start, date in stamps if date is not None]
