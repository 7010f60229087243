"""Records with a date of their own, such as minutes, letters and entries of a diary: the one that a question is about.

"What did we decide in March?" is answered from the minutes of March, although those of February announce that meeting,
and "who was at the last meeting?" from the newest minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Literal

from corpus import lazy_pattern, path_words
from index import Index, StoredPassage
from qa.language.dates import YEAR, Period, periods_in, without_periods
from qa.language.spans import line_around
from qa.language.values import MONTH
from qa.reader.reading import Reading

# "The last meeting", but not "the last name" or "last year".
_RECORDS = (
    r"appointments?|bills?|calls?|check-?ups?|class(?:es)?(?! \w)|e-?mails?|edition|entr(?:y|ies)|inspections?"
    r"|invoices?|issues?|lessons?|letters?|meetings?|messages?|minutes|newsletters?|notes?|orders?|payments?|protocols?|readings?"
    r"|reports?|retro(?:spective)?s?|reviews?|sessions?|sprints?|stand-?ups?|statements?|syncs?|time|trips?|updates?|visits?"
    r"|walks?|workshops?"
)
_LAST, _FIRST = r"(?:last|latest|(?:most )?recent|newest)", r"(?:first|earliest|oldest)"
_OF_RECORD = rf"(?=\s(?:[\w-]+\s){{0,2}}?(?:{_RECORDS})\b)"
# The last record announces the next.
_ASKS_FOR_LAST = lazy_pattern(rf"\b(?:{_LAST}|next){_OF_RECORD}", re.IGNORECASE)
_ASKS_FOR_FIRST = lazy_pattern(rf"\b{_FIRST}{_OF_RECORD}", re.IGNORECASE)
_ORDINAL = lazy_pattern(rf"\b(?:{_LAST}|{_FIRST})\s+(?=(?:[\w-]+\s){{0,2}}?(?:{_RECORDS})\b)", re.IGNORECASE)
# A record that a question names besides what it asks, unlike in "who was at the meeting?".
_AT_RECORD = lazy_pattern(
    rf"(?<!\bam)(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)(?<!\bbeen)\s(?:at|during|from|in|of|on)\s(?:the|my|our)"
    rf"\s(?:[\w-]+\s)?(?:{_RECORDS})\b",
    re.IGNORECASE,
)
# What differs between the names of the records of a series: numbers, and names of months.
_VARIES = lazy_pattern(rf"\b{MONTH}|\d+", re.IGNORECASE)
_IN_NAME = lazy_pattern(r"(?<!\d)((?:19|20)\d\d)[ ._-]?(0[1-9]|1[0-2])[ ._-]?(0[1-9]|[12]\d|3[01])(?!\d)")
# A short line above others, perhaps numbered, and without the end of a sentence: "2. Figures for May:".
_ABOVE = lazy_pattern(
    r"^[ \t]*(?P<line>(?:\d{1,2}[.)]|[*#_-]+)?[ \t]*[^\W\d_][^\n.!?]{2,58})$(?=\n[^\n]*\S)", re.MULTILINE
)
_END_OF_BLOCK = lazy_pattern(r"\n[ \t]*(?:\n|\d{1,2}[.)][ \t])")
# Larger collections, and documents with more passages, are not searched for a series.
_MAX_FILES, _MAX_PASSAGES = 5000, 1000
# How many passages of one record are read.
_MAX_READ = 12

# Chooses the last date, or the first.
Pick = Callable[[Iterable[Period]], Period]


def own_period(passage: StoredPassage) -> Period | None:
    """Return the date of the record that a passage is part of, in its innermost dated heading, its title or path."""
    for text in (*reversed(passage.heading), passage.title):
        periods = set(periods_in(text))
        if periods:
            return periods.pop() if len(periods) == 1 else None
    return _date_of(PurePosixPath(passage.document.path))


def is_of_period(passage: StoredPassage, asked: Period) -> bool:
    """Whether a passage is part of a record of the asked day or month, or has some lines about it."""
    own = own_period(passage)
    blocks = (period for period, *_ in _blocks_of_periods(passage.text, passage.body))
    return any(period.overlaps(asked) for period in (*([own] if own else []), *blocks))


def is_of_other_period(passage: StoredPassage, reading: Reading, asked: Period) -> bool:
    """Whether the answer in a passage is about another date than the asked one, which its line does not name.

    It is about the date that a line right above it names ("Figures for May:"), or else that of the record.
    """
    text, answer = passage.text, reading.best(passage.body, len(passage.text))
    if answer is None:
        return False
    blocks = _blocks_of_periods(text, passage.body)
    own = next((period for period, first, last in blocks if first <= answer[0] < last), None) or own_period(passage)
    if own is None or own.overlaps(asked):
        return False
    return not any(period.overlaps(asked) for period in periods_in(text[slice(*line_around(text, answer))]))


def _blocks_of_periods(text: str, body: int) -> Iterator[tuple[Period, int, int]]:
    """Yield the blocks of lines below one that names a date, each with that date and its span."""
    for above in _ABOVE.finditer(text, body):
        periods = set(periods_in(above["line"]))
        end = _END_OF_BLOCK.search(text, above.end())
        last = end.start() if end else len(text)
        if len(periods) == 1 and above.end() < last:
            yield periods.pop(), above.end(), last


def without_record(question: str) -> str:
    """Return what a question asks about a record: "what was decided?" for "what was decided at the last meeting?"."""
    return _AT_RECORD.sub("", _ORDINAL.sub("", without_periods(question)))


def names_date(question: str) -> bool:
    """Whether a question names a day, month or year."""
    return bool(periods_in(question) or YEAR.search(question))


def edition_of(passage: StoredPassage) -> tuple[str, int] | None:
    """Return what a passage is an edition of and its year, by the path or else a heading; None without one year.

    "prices 2024.md" and "prices 2025.md" are editions of the same, as are 2024/prices.md and 2025/prices.md, and
    sections called "Prices 2024" and "Prices 2025", but not two papers of the same author: their titles differ.
    """
    path = passage.document.path
    for name in (path, *(f"{path}\n{heading}" for heading in passage.heading)):
        years = set(YEAR.findall(name.removeprefix(f"{path}\n")))
        if years:
            is_year = len(years) == 1 and not periods_in(path_words(name)) and not _IN_NAME.search(name)
            series = YEAR.sub("", f"{name}\n{passage.document.title}")
            return (series, int(years.pop())) if is_year else None
    return None


def asks_for_last(question: str) -> Literal["last", "first"] | None:
    """Return which record of a series a question is about; None if about neither the last nor the first."""
    if _ASKS_FOR_LAST.search(question):
        return "last"
    return "first" if _ASKS_FOR_FIRST.search(question) else None


def passages_of_record(
    snapshot: Index, passage: StoredPassage, *, pick: Pick, documents: frozenset[int] | None
) -> Sequence[StoredPassage]:
    """Return the first passages of the last or first record of a passage's series, or none.

    A series are the sections of a file, or else the files of a folder, whose names differ only in their dates.

    Args:
        snapshot: The collection.
        passage: A passage of a record.
        pick: Chooses the date of the record.
        documents: Row numbers of the documents to choose from; None for all.
    """
    return _section(snapshot, passage, pick, documents) or _file(snapshot, passage, pick, documents)


def _section(
    snapshot: Index, passage: StoredPassage, pick: Pick, documents: frozenset[int] | None
) -> Sequence[StoredPassage]:
    """Return the passages below the last or first of the dated headings beside the one above a passage."""
    depth = next((at for at, heading in enumerate(passage.heading) if periods_in(heading)), None)
    if depth is None or passage.document.passages > _MAX_PASSAGES:
        return ()
    above, pattern = passage.heading[:depth], _VARIES.sub("", passage.heading[depth])
    series: dict[Period, list[StoredPassage]] = {}
    for other in snapshot.passages_of(passage.document.path):
        headings = other.heading[depth : depth + 1]
        if documents is not None and other.document.id not in documents:
            continue
        if other.heading[:depth] == above and headings and _VARIES.sub("", headings[0]) == pattern:
            for period in periods_in(headings[0])[:1]:
                series.setdefault(period, []).append(other)
    return series[pick(series)][:_MAX_READ] if len(series) > 1 else ()


def _file(
    snapshot: Index, passage: StoredPassage, pick: Pick, documents: frozenset[int] | None
) -> Sequence[StoredPassage]:
    """Return the passages of the last or first file beside that of a passage whose names differ only in their dates."""
    path = PurePosixPath(passage.document.path)
    if not _order_of(path) or snapshot.info.files > _MAX_FILES:
        return ()
    among = (document for document in snapshot.documents() if documents is None or document.id in documents)
    paths = (PurePosixPath(document.path) for document in among)
    beside = [it for it in paths if it.parent == path.parent and _VARIES.sub("", it.name) == _VARIES.sub("", path.name)]
    series = {date: str(it) for it in beside if (date := _order_of(it))}
    return snapshot.passages_of(series[pick(series)])[:_MAX_READ] if len(series) > 1 else ()


def _date_of(path: PurePosixPath) -> Period | None:
    """Return the date in the name of a file: 2026-03-09, 20260309 or 2026_03_09, or with the month's name."""
    figures = _IN_NAME.search(path.stem)
    return Period(*map(int, figures.groups())) if figures else next(iter(periods_in(path_words(path.name))), None)


def _order_of(path: PurePosixPath) -> Period | None:
    """Return the date in the name of a file, or the only year in it."""
    years = set(YEAR.findall(path.stem))
    return _date_of(path) or (Period(int(years.pop()), 0) if len(years) == 1 else None)
