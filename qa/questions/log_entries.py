"""Entries with a date, as in a diary or a log: "3 Feb  skip delivered", or a section below "3 February".

"When was the skip delivered?" is answered with the date of the entry that has the words of the question, and "when was
the tank last cleaned?" with the date of the latest one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from corpus import path_words
from corpus.formats import RECORDS
from index import StoredPassage
from qa.questions.dates import Period, dates_in, periods_in
from qa.questions.steps import terms
from qa.questions.values import MONTH, Span

_WEEKDAY = r"(?i:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)[a-zäöüß]*\.?,?[ \t]+"
_DATE = (
    rf"(?:{_WEEKDAY})?(?:\d{{1,4}}(?P<mark>[./-])\d{{1,2}}(?P=mark)(?:\d{{1,4}})?(?!\w)"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\.?[ \t]+{MONTH}\.?(?:,?[ \t]+\d{{4}}\b)?"
    rf"|{MONTH}\.?[ \t]+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?[ \t]+\d{{4}}\b)?)"
)
_ENTRY = re.compile(rf"^[ \t]*(?:[-*•+][ \t]+)?[\[(*_<]*(?P<date>{_DATE})", re.MULTILINE)
_OTHER_DATE = re.compile(rf"(?<!\d)(?:19|20)\d\d(?!\d)|\b{MONTH}|\d[./]\d{{1,2}}[./]")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_FIELD = re.compile(r"^[^\s:][^\n:]{0,39}:[ \t]+(?P<value>\S.*)$", re.MULTILINE)
_ASKS_WHEN = re.compile(
    r"\W*(?:when|(?:on )?(?:what|which) (?:day|date)|(?:what|when) was the last time|(?:the )?last time)\b",
    re.IGNORECASE,
)
_PAST_TENSE = re.compile(r"\b(?:did|had|has|have|was|were)\b", re.IGNORECASE)
_ASKS_MORE = re.compile(r"\b(?:how|what|where|which|who|why)\b", re.IGNORECASE)
_ASKS_FOR_LAST = re.compile(r"\b(?:last|latest|most recent(?:ly)?)\b", re.IGNORECASE)
_ASKS_FOR_FIRST = re.compile(r"\bfirst\b|\bearliest\b", re.IGNORECASE)
# Words that say that a date is asked for.
_OF_QUESTION = terms("when what which date day time last latest recent recently most first earliest ever again happen")
# Other forms of a verb, by stem: "fed" for "feed".
_IRREGULAR = [
    set(forms.split())
    for forms in (
        "break broke broken", "bring brought", "bui bought", "catch caught", "come came", "drive drove driven",
        "eat at eaten", "fall fell fallen", "feed fed", "find found", "fly flew flown", "get got gotten",
        "give gave given", "go went gone", "grow grew grown", "leav left", "lend lent", "lose lost", "make made",
        "meet met", "pai paid", "ride rode ridden", "ring rang rung", "see saw seen", "sell sold", "send sent",
        "shoot shot", "sow sown", "speak spoke spoken", "steal stole stolen", "swim swam swum", "take took taken",
        "teach taught", "tear tore torn", "write wrote written",
    )
]  # fmt: skip


# Where a paragraph, an item of a list or a line with a date begins.
_BLOCK = re.compile(
    r"\n[ \t]*(?=\n)|\n(?=[ \t]*(?:[-*•+]|\d{1,2}[.)])[ \t])"
    rf"|\n(?=[ \t]*[\[(*_<]*{_DATE.replace('mark', 'sign')})"
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


class EntryAnswer(NamedTuple):
    """The entry that answers.

    Attributes:
        passage: Its passage.
        entry: The entry.
        is_sure: Whether it, its headings, title and path have all words of the question.
    """

    passage: StoredPassage
    entry: LogEntry
    is_sure: bool


class _Match(NamedTuple):
    missing: int
    own: int
    passage: StoredPassage
    entry: LogEntry


def asks_when(question: str) -> bool:
    """Whether a question asks when something was, and names no date."""
    asks = _ASKS_WHEN.match(question)
    if asks is None or any(periods_in(question)) or _ASKS_MORE.search(question, asks.end()):
        return False
    return bool(_PAST_TENSE.search(question) or _ASKS_FOR_LAST.search(question))


def answering_entry(question: str, passages: Sequence[StoredPassage]) -> EntryAnswer | None:
    """Return the entry that tells when something was; None if none has most words of the question, or several have.

    Of several, the last or the first one answers a question for that.

    Args:
        question: A question that asks when.
        passages: The passages to search, those of a document in order.
    """
    topic = terms(question) - _OF_QUESTION
    matches = [match for passage in passages for match in _matches(topic, passage)]
    if not matches:
        return None
    least = min((match.missing, -match.own) for match in matches)
    best = [match for match in matches if (match.missing, -match.own) == least]
    if _ASKS_FOR_LAST.search(question):
        # Those with all the words may be older than one with most: "fed syrup" after "fed the bees".
        best = [_latest(best, passages)]
    elif _ASKS_FOR_FIRST.search(question):
        best = [_latest(best, passages, first=True)]
    if len({match.entry.date for match in best}) > 1:
        return None
    return EntryAnswer(best[0].passage, best[0].entry, not best[0].missing)


def entry_starts(text: str, start: int, end: int) -> list[int]:
    """Return where lines begin with a date, in part of a text; none if only one does, as in wrapped prose."""
    starts = [entry.start() for entry in _ENTRY.finditer(text, start, end)]
    return starts if len(starts) > 1 else []


def _matches(topic: set[str], passage: StoredPassage) -> Iterator[_Match]:
    """Yield the entries of a passage that have at least half of a topic's words."""
    text = passage.text
    above = f"{path_words(passage.document.path)} {passage.title} {passage.context}"
    around, years = terms(above), set(_YEAR.findall(above))
    for written in _entries(passage):
        is_of_year = not written.date.year and len(years) == 1
        entry = written._replace(date=written.date._replace(year=int(*years))) if is_of_year else written
        entry_terms = terms(text[slice(*entry.span)])
        own = {term for term in topic if _is_in(term, entry_terms)}
        missing = len(topic - own - around)
        # Below a heading there may be much else, and an entry may tell when something else was.
        is_likely = not missing or (entry.stamp[0] >= passage.body and own - around and 2 * missing <= len(topic))
        rest = text[slice(*entry.span)].replace(text[slice(*entry.stamp)], "")
        if own and is_likely and not _OTHER_DATE.search(rest):
            yield _Match(missing, len(own), passage, entry)


def _is_in(term: str, entry_terms: set[str]) -> bool:
    forms = next((forms for forms in _IRREGULAR if term in forms), {term})
    return not forms.isdisjoint(entry_terms)


def _entries(passage: StoredPassage) -> list[LogEntry]:
    """Return the entries of a passage: lines that begin with a date, a dated record, or all below a dated heading."""
    text, body = passage.text, passage.body
    if passage.document.media_type in RECORDS:
        return _dated_record(text, body)
    starts = [match for match in _ENTRY.finditer(text, body) if _date(match["date"]) is not None]
    if starts:
        ends = [*(match.start() for match in starts[1:]), len(text)]
        entries = []
        for match, end in zip(starts, ends, strict=True):
            blank = text.find("\n\n", match.end(), end)
            date = _date(match["date"])
            if date is not None:
                last = end if blank < 0 else blank
                entries.append(LogEntry(date, match.span("date"), (match.end("date"), last)))
        return entries
    heading = passage.heading[-1] if passage.heading else ""
    at = text.rfind(heading, 0, body) if heading else -1
    stamp = re.search(_DATE, heading)
    date = _date(stamp[0]) if stamp else None
    if at < 0 or stamp is None or date is None:
        return []
    return [LogEntry(date, (at + stamp.start(), at + stamp.end()), (body, len(text)))]


def _dated_record(text: str, body: int) -> list[LogEntry]:
    """Return a record as an entry, if one of its fields is a date and nothing else."""
    dates = [
        match
        for match in _FIELD.finditer(text, body)
        if any(date.text == match["value"] for date in dates_in(match["value"]))
    ]
    if len(dates) != 1:
        return []
    date = _date(dates[0]["value"])
    return [] if date is None else [LogEntry(date, dates[0].span("value"), (body, len(text)))]


def _date(text: str) -> Period | None:
    """Return a date; its year is 0 if it has none."""
    found = next(iter(dates_in(text.strip(". "))), None)
    if found is not None:
        return Period(found.year, found.month, found.day)
    short = re.search(r"(?<!\d)(\d{1,2})[./-](\d{1,2})[./-](\d\d)?(?!\d)", text)
    if short is None or not (0 < int(short[1]) <= 31 and 0 < int(short[2]) <= 12):
        return None
    return Period(2000 + int(short[3]) if short[3] else 0, int(short[2]), int(short[1]))


def _latest(matches: Sequence[_Match], passages: Sequence[StoredPassage], *, first: bool = False) -> _Match:
    """Return the match with the latest date, or the earliest; without years, by the order of the entries."""
    if all(match.entry.date.year for match in matches):
        return (min if first else max)(matches, key=lambda match: match.entry.date)
    path = matches[0].passage.document.path
    dates = [entry.date for passage in passages if passage.document.path == path for entry in _entries(passage)]
    rising = sum(later[1:] >= earlier[1:] for earlier, later in pairwise(dates))
    is_rising = 2 * rising >= len(dates) - 1
    return matches[0 if first is is_rising else -1]


def blocks_of(text: str, body: int) -> Iterator[Span]:
    """Yield the paragraphs, list items and dated lines of a text from its body on."""
    cuts = [body, *(match.end() for match in _BLOCK.finditer(text, body)), len(text)]
    for start, end in pairwise(cuts):
        block = text[start:end]
        if block.strip():
            yield start + len(block) - len(block.lstrip()), start + len(block.rstrip())


def dated_lines(text: str) -> list[tuple[int, Period]]:
    """Return where the lines of a chat or log that begin with a date begin, and their dates."""
    stamps = ((entry.start(), next(dates_in(entry["date"]), None)) for entry in _ENTRY.finditer(text))
    return [(start, Period(date.year, date.month, date.day)) for start, date in stamps if date is not None]
