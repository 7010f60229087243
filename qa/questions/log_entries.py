"""Entries with a date, as in a diary or a log: "3 Feb  skip delivered", or a section below "3 February".

"When was the skip delivered?" is answered with the date of the entry that has the words of the question, and "when was
the tank last cleaned?" with the date of the latest one. The date may also be at the end of each line, or in a column of
a table. A question with a month, "who cleaned the tank in May?", is answered from an entry of that month or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from corpus import lazy_pattern, sentence_spans
from index import StoredPassage
from qa.language.dates import YEAR, Period, asked_time, periods_in, without_time
from qa.language.question_kinds import ASKS_WHEN
from qa.language.spans import Span
from qa.language.terms import has_form_of, surroundings, terms
from qa.language.values import MONTH
from qa.structure.dated_entries import LogEntry, dated_entries

_SLASHED = lazy_pattern(r"(?<![\d/])(\d\d?)/(\d\d?)/\d{2,4}(?![\d/])")
_MONTHS = 12
OTHER_DATE = lazy_pattern(rf"(?<!\d)(?:19|20)\d\d(?!\d)|\b{MONTH}|\d[./]\d{{1,2}}[./]")
# Not "may", as that is a month.
_PRESENT_TENSE = lazy_pattern(r"\b(?:am|are|can|do|does|is|must|shall|should|will)\b|['’](?:ll|re)\b", re.IGNORECASE)
_PAST_TENSE = lazy_pattern(r"\b(?:did|had|has|have|was|were)\b", re.IGNORECASE)
_ASKS_MORE = lazy_pattern(r"\b(?:how|what|where|which|who|why)\b", re.IGNORECASE)
_ASKS_FOR_LAST = lazy_pattern(r"\b(?:last|latest|most recent(?:ly)?)\b", re.IGNORECASE)
_ASKS_FOR_FIRST = lazy_pattern(r"\bfirst\b|\bearliest\b", re.IGNORECASE)
# Terms that say that a date is asked for.
OF_QUESTION = terms("when what which date day time last latest recent recently most first earliest ever again happen")
_WORD = lazy_pattern(r"\w+")
_NEGATIONS = frozenset({"no", "not", "never", "without"})
_PASSIVE = lazy_pattern(
    r".*\b(?:was|were)\b.*\b(?P<verb>\w+ed|bought|built|cut|made|mown|sent|sold|sown)\W*", re.IGNORECASE
)
_PREPOSITION = lazy_pattern(r"\b(?:about|at|before|beside|by|for|from|in|near|of|on|to|under|with)\b", re.IGNORECASE)
# Those that an entry with an amount lacks: "how much did the new vessel cost?"
_OF_AMOUNT = terms("cost costs many much new paid pay price")


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
    asks = ASKS_WHEN.match(question)
    if asks is None or any(periods_in(question)) or _ASKS_MORE.search(question, asks.end()):
        return False
    return bool(_PAST_TENSE.search(question) or _ASKS_FOR_LAST.search(question))


def answering_entry(question: str, passages: Sequence[StoredPassage], asked: Period | None) -> EntryAnswer | None:
    """Return the entry that tells when something was; None if none has most words of the question, or several have.

    Of several, the last or the first one answers a question for that.

    Args:
        question: A question that asks when, or what was at some time, without that time.
        passages: The passages to search, those of a document in order.
        asked: The time that the entry must be of; None for any.
    """
    topic = terms(question) - OF_QUESTION - (set() if asked is None else _OF_AMOUNT)
    matches = [
        match for passage in passages for match in _matches(topic, passage) if not _is_of_other(question, topic, match)
    ]
    if not matches:
        return None
    month_first = {path for path in {it.passage.document.path for it in matches} if _is_month_first(path, passages)}
    matches = [
        it._replace(entry=it.entry._replace(date=_swapped(it.passage, it.entry)))
        if it.passage.document.path in month_first
        else it
        for it in matches
    ]
    least = min((match.missing, -match.own) for match in matches)
    best = [match for match in matches if (match.missing, -match.own) == least]
    if asked is not None:
        of_time = [match for match in matches if match.entry.date.overlaps(asked)]
        best = [it for it in of_time if it in best] or [it for it in of_time if not it.missing]
        if not best:
            return None
    if _ASKS_FOR_LAST.search(question):
        # Those with all the words may be older than one with most: "fed syrup" after "fed the bees".
        best = [_latest(best, passages)]
    elif _ASKS_FOR_FIRST.search(question):
        best = [_latest(best, passages, first=True)]
    if len({match.entry.date for match in best}) > 1:
        return None
    # Without the time, the reader would be too sure of what lacks a word of the question, or has it elsewhere.
    if asked is not None and not asks_when(question) and (best[0].missing or not _is_one_sentence(best[0])):
        return None
    return EntryAnswer(best[0].passage, best[0].entry, not best[0].missing)


def asks_for_last_or_first(question: str) -> bool:
    """Whether a question asks when something was the last or the first time."""
    return asks_when(question) and bool(_ASKS_FOR_LAST.search(question) or _ASKS_FOR_FIRST.search(question))


def has_entries(passage: StoredPassage) -> bool:
    """Whether a passage has entries with a date."""
    return bool(dated_entries(passage))


def is_of_other_time(question: str, passage: StoredPassage, answer_span: Span) -> bool:
    """Whether the answer to what was in some month, day or year is part of an entry of another one.

    Not if the entry names that, too, or if its date is above prose that lacks words of the question. An entry of the
    time does not answer, either, if it lacks words of the question, all of which are in one of another time.
    """
    asked = asked_time(question)
    if asked is None or _PRESENT_TENSE.search(question):
        return False
    text, topic = passage.text, terms(without_time(question)) - OF_QUESTION
    around = terms(surroundings(passage))
    for entry in map(partial(_with_year, passage), dated_entries(passage)):
        start, end = min(entry.stamp[0], entry.span[0]), max(entry.stamp[1], entry.span[1])
        if not (start <= answer_span[0] and answer_span[1] <= max(end, start + 1)):
            continue
        rest = _without_stamp(text, entry)
        is_named = str(asked.year) in rest if not asked.month else any(map(asked.overlaps, periods_in(rest)))
        missing = topic - terms(rest) - around
        if is_named or (entry.stamp[0] < passage.body and 2 * len(missing) > len(topic)):
            return False
        others = [entry]
        if missing and not entry.date.excludes(asked):
            sure = [match.entry for match in _matches(topic, passage) if not match.missing]
            others = others if not sure or entry in sure else sure
        # The first number of a date may be the month.
        return all(it.date.excludes(asked) and _swapped(passage, it).excludes(asked) for it in others)
    return False


def _matches(topic: set[str], passage: StoredPassage) -> Iterator[_Match]:
    """Yield the entries of a passage that have at least half of a topic's words."""
    text, around = passage.text, terms(surroundings(passage))
    for entry in map(partial(_with_year, passage), dated_entries(passage)):
        entry_terms = terms(text[slice(*entry.span)])
        own = {term for term in topic if has_form_of(term, entry_terms)}
        missing = len(topic - own - around)
        # Below a heading there may be much else, and an entry may tell when something else was.
        is_likely = not missing or (entry.stamp[0] >= passage.body and own - around and 2 * missing <= len(topic))
        if own and is_likely and not OTHER_DATE.search(_without_stamp(text, entry)):
            yield _Match(missing, len(own), passage, entry)


def _is_of_other(question: str, topic: set[str], match: _Match) -> bool:
    """Whether an entry is about something that the question does not name, "bought oil for the pump", or does not do.

    "Pruned the apple tree" does not tell when it was planted, nor "no change" when something was changed.
    """
    passive = _PASSIVE.fullmatch(question)
    entry = terms(match.passage.text[slice(*match.entry.span)])
    if passive and not all(has_form_of(term, entry) for term in terms(passive["verb"])):
        return True
    words = list(_WORD.finditer(_without_stamp(match.passage.text, match.entry)))
    asked = [has_form_of(term, topic) if (term := next(iter(terms(word[0])), "")) else None for word in words]
    own = [at for at, is_asked in enumerate(asked) if is_asked]
    if any(words[at - 1][0].lower() in _NEGATIONS for at in own if at):
        return True
    between = range(own[0], own[-1]) if own else range(0)
    other = next((at for at in between if asked[at] is False), len(words))
    prepositions = {words[at][0].lower() for at in between if at > other and _PREPOSITION.fullmatch(words[at][0])}
    return bool(prepositions - set(_WORD.findall(question.lower())))


def _is_one_sentence(match: _Match) -> bool:
    """Whether an entry is a row, a record or a single sentence."""
    passage, (_, stamp, span) = match.passage, match.entry
    is_inside = span[0] <= stamp[0] and stamp[1] <= span[1]
    return is_inside or len(list(sentence_spans(passage.text, *span))) == 1


def _is_month_first(path: str, passages: Sequence[StoredPassage]) -> bool:
    """Whether the dates with slashes in a document are surely written as in 6/24/2024."""
    texts = (passage.text for passage in passages if passage.document.path == path)
    numbers = [(int(it[1]), int(it[2])) for text in texts for it in _SLASHED.finditer(text)]
    return any(month > _MONTHS for _, month in numbers) and not any(day > _MONTHS for day, _ in numbers)


def _swapped(passage: StoredPassage, entry: LogEntry) -> Period:
    """Return the date of an entry with day and month swapped, if they may be."""
    year, month, day = entry.date
    may_be = day <= _MONTHS and _SLASHED.search(passage.text, *entry.stamp)
    return Period(year, day, month) if may_be else entry.date


def _without_stamp(text: str, entry: LogEntry) -> str:
    return text[slice(*entry.span)].replace(text[slice(*entry.stamp)], "")


def _with_year(passage: StoredPassage, entry: LogEntry) -> LogEntry:
    """Return an entry with the only year in the headings, title and path, if it gives none itself."""
    years = set() if entry.date.year else set(YEAR.findall(surroundings(passage)))
    return entry._replace(date=entry.date._replace(year=int(*years))) if len(years) == 1 else entry


def _latest(matches: Sequence[_Match], passages: Sequence[StoredPassage], *, first: bool = False) -> _Match:
    """Return the match with the latest date, or the earliest; without years, by the order of the entries."""
    if all(match.entry.date.year for match in matches):
        return (min if first else max)(matches, key=lambda match: match.entry.date)
    path = matches[0].passage.document.path
    dates = [entry.date for passage in passages if passage.document.path == path for entry in dated_entries(passage)]
    rising = sum(later[1:] >= earlier[1:] for earlier, later in pairwise(dates))
    is_rising = 2 * rising >= len(dates) - 1
    return matches[0 if first is is_rising else -1]
