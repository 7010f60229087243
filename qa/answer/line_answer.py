"""Answer with the line that a question names: a field or setting, "the IP of db02", an entry of a log, hours, a reply.

Every word of the question has to be accounted for: by the name of the field, by another value of its record or the name
of its section, or else by the headings, title and path of the document. In the same way, questions name the entry of a
log, a weekday of opening hours, or whose telephone number they ask for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from corpus import lazy_pattern, path_words
from corpus.formats import format_of
from index import StoredPassage
from qa.answer.extract import Extract
from qa.answer.results import Highlight
from qa.language.dates import YEAR, Period, asked_period, spell_out_dates
from qa.language.question_kinds import asks_yes_or_no
from qa.language.spans import Span, line_around
from qa.language.terms import terms
from qa.language.values import MONTH, WEEKDAY
from qa.questions.bands import asked_day, hours_on
from qa.questions.log_entries import answering_entry, asks_when
from qa.questions.long_numbers import phone_number_of
from qa.questions.message_dates import message_date
from qa.questions.sender import chat_reply
from qa.structure.candidate_spans import LONGEST_SPAN
from qa.structure.records import Field, records

# The date says the same.
_WEEKDAY = lazy_pattern(rf"{WEEKDAY},?", re.IGNORECASE)
_CAMEL = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|[_.]+")
# Words that a question may add to the name of a field.
_GENERIC = terms(
    "address amount big charge cost date day down each entry field get give got have left month name need number"
    " offer one option parameter pay per price record sell setting shift since single size stock take time until value"
    " week year"
)
_COLUMN_NAMES = lazy_pattern(r"(?:\A| › )[^›]* \| [^›]*\Z")
# Short forms that are no words of their own, unlike the "rent" of "rental" or the "port" of "portable".
_SHORT_FORMS = terms(
    "addr amt avg conc config dept desc dev freq hum info lat len lon max mem min msg num param pref qty ref reg spec"
    " std tel temp tot vol"
)
_LEAST_WORDS = 2
_MOST_UNKNOWN = 1
_MEASURE = lazy_pattern(
    r"\bhow (?:long|much|many|old|far|often|tall|high|big|large|fast|deep|wide|heavy)\b", re.IGNORECASE
)
# Questions that need not name the field they ask for, and names of such fields.
_IMPLIED = (
    (
        lazy_pattern(r"\b(?:what|how much)\b.{1,60}\b(?:charge|sell for)\b", re.IGNORECASE),
        lazy_pattern(r"\b(?:charges?|fees?|prices?|rates?|tariffs?)\b", re.IGNORECASE),
    ),
    (
        lazy_pattern(
            r"\bhow much (?:do|does|did|for|is|are|was|were|to|will|would)\b(?! (?:in|left|on|there)\b)"
            r"|\bwhat (?:do|does|did|will|would)\b.{1,60}\bcost\b",
            re.IGNORECASE,
        ),
        lazy_pattern(
            r"\b(?:charges?|costs?|fees?|prices?|rates?|tariffs?)\b|[€$£]|\b(?:chf|eur|gbp|usd)\b", re.IGNORECASE
        ),
    ),
    (
        lazy_pattern(r"\bhow (?:many|much)\b.{1,80}\b(?:left|got|in stock|(?:have|do) (?:i|we))\b", re.IGNORECASE),
        lazy_pattern(r"\b(?:available|left|on hand|qty|quantity|remaining|stock)\b", re.IGNORECASE),
    ),
)
_DIGIT = lazy_pattern(r"\d")
# Questions that no field answers.
_ASKS_FOR_MORE = lazy_pattern(
    r"\A\W*(?:why|explain|describe|compare|list|how (?:do|does|did|can|could|should|would|must|to|is|are|was|were)\b"
    r"|what (?:happens|happened|if|about|do|does|did)\b)|\bwhat (?:do|does|did)\b",
    re.IGNORECASE,
)
_ASKS_FOR_NUMBER = lazy_pattern(r"\b(?:when|how (?:much|many|long|old|often|far))\b", re.IGNORECASE)
_ASKS_WHO = lazy_pattern(r"\W*who\b", re.IGNORECASE)
# "Who cleaned it?", but not "who was seen?"
_ASKS_WHO_DID = lazy_pattern(
    r"\W*who\s+(?!(?:else|is|are|am|was|were|do|does|did|can|could|will|would|shall|should|must)\b)", re.IGNORECASE
)
_PART = r"(?:(?:[A-Z]\.){1,3}|(?:Dr|Mrs?|Ms|Prof|St)\.|[A-Z][\w&'’-]{0,30})"
_NAME = rf"{_PART}(?: {_PART}){{0,3}}"
_DAY = rf"(?:{MONTH}|(?i:{WEEKDAY}))"
_DOER = lazy_pattern(
    rf"\((?!{_DAY})(?P<brackets>{_NAME})\)(?=\W*$)|\bby (?!{_DAY})(?P<by>{_NAME})(?=[ \t]*(?:[,;.(–—-]|$))",
    re.MULTILINE,
)


class _Match(NamedTuple):
    """A field that a question may name; better ones are less.

    Attributes:
        unknown: How many words of the question are neither in its record nor around it.
        is_longer: Whether the first field of the record, such as an item of a price list, says more than the question.
        unasked: How many words of its name the question does not have.
        field: The field.
        is_first: Whether it is the first of its record, which often only numbers it.
    """

    unknown: int
    is_longer: bool
    unasked: int
    field: Field
    is_first: bool


class LineAnswer(NamedTuple):
    """The line that answers: a field, a dated entry, hours, a telephone number, a message or a reply.

    Attributes:
        passage: Its passage.
        extract: The extract that highlights it.
        is_of_other_day: Whether these are only the hours of other days.
        is_sure: Whether a dated entry has all words of the question.
    """

    passage: StoredPassage
    extract: Extract
    is_of_other_day: bool = False
    is_sure: bool = False


def named_field(question: str, passages: Sequence[StoredPassage]) -> LineAnswer | None:
    """Return the field that a question names; None if there is none, or several that have different values.

    One word of the question may be unknown for a setting, as in "port of the legacy host" with a section `[legacy]`:
    that is no sure answer.

    Args:
        question: The question, or only the words of a lookup.
        passages: The passages to search.
    """
    asked = _terms(_MEASURE.sub(" ", question if asked_period(question) is None else _WEEKDAY.sub(" ", question)))
    implied = next((name for asks, name in _IMPLIED if asks.search(question)), None)
    asks_more = implied is None and _ASKS_FOR_MORE.search(question)
    if len(asked) < (_LEAST_WORDS if implied is None else 1) or asks_more or asks_yes_or_no(question):
        return None
    found = [(match, passage) for passage in passages for match in _fields_named(asked, implied, passage)]
    if implied or _ASKS_FOR_NUMBER.search(question):
        found = [it for it in found if _DIGIT.search(it[0].field.value)]
    if _MEASURE.search(question):
        # "How long is leg 2?" does not ask for "Leg: 2".
        found = [it for it in found if not (it[0].is_first and it[0].field.value.isdecimal())]
    if _ASKS_WHO.match(question):
        found = [it for it in found if not _DIGIT.search(it[0].field.value)]
    least = min((match[:3] for match, _ in found), default=None)
    best = [it for it in found if it[0][:3] == least]
    if not best or len({match.field.value for match, _ in best}) > 1:
        return None
    match, passage = best[0]
    name = passage.text[slice(*match.field.value_span)]
    return LineAnswer(passage, _extract(passage, match.field.span, name, is_certain=not match.unknown))


def dated_entry(question: str, passages: Sequence[StoredPassage], asked: Period | None) -> LineAnswer | None:
    """Return the entry of a log or diary that answers; None if none surely does, or several do.

    If the question asks when something was, its date is the answer; else the reader has to find that in the entry.

    Args:
        question: A question that asks when, or what was at some time, without that time.
        passages: The passages to search.
        asked: That time.
    """
    found = answering_entry(question, passages, asked)
    # What is below a dated heading is too much to find something in.
    if found is None or not (asks_when(question) or found.entry.stamp[0] >= found.passage.body):
        return None
    passage, (_, stamp, span), is_sure = found
    text = passage.text
    start = min(stamp[0], span[0])
    end = stamp[1] if span[0] == passage.body and stamp[1] <= passage.body else len(text[: span[1]].rstrip())
    doer = doer_of(question, text[start:end]) if is_sure else None
    name = text[slice(*stamp)] if asks_when(question) else text[start:end][slice(*doer)] if doer else ""
    extracted = _extract(passage, (start, end), name, is_certain=is_sure and bool(name))
    return LineAnswer(passage, extracted, is_sure=is_sure)


def doer_of(question: str, text: str) -> Span | None:
    """Return who did what an entry notes, if that is asked: "(Ann)" at its end, or "by Ann"."""
    doers = list(_DOER.finditer(text)) if _ASKS_WHO_DID.match(question) else []
    return doers[0].span("brackets" if doers[0]["brackets"] else "by") if len(doers) == 1 else None


def written_on(question: str, passages: Sequence[StoredPassage]) -> LineAnswer | None:
    """Return the date of a message by whom a question names that tells what it asks; None if none plainly does."""
    found = message_date(question, passages)
    if found is None:
        return None
    passage, span, date = found
    # The day of a chat may be written in an earlier passage.
    if not any(date in part for part in (passage.text, *passage.heading, passage.title)):
        return None
    return LineAnswer(passage, _extract(passage, span, date))


def day_hours(question: str, passages: Sequence[StoredPassage]) -> LineAnswer | None:
    """Return the hours on the weekday that a question names, or else those of other days."""
    day = asked_day(question)
    found = None if day is None or asks_yes_or_no(question) else hours_on(question, day, passages)
    if found is None:
        return None
    passage, span, answer = found
    name = passage.text[slice(*answer)] if answer else ""
    line = line_around(passage.text, answer or span, passage.body)
    extracted = _extract(passage, line, name, is_certain=answer is not None)
    return LineAnswer(passage, extracted, is_of_other_day=answer is None)


def phone_number(question: str, passages: Sequence[StoredPassage]) -> LineAnswer | None:
    """Return the telephone number of whom a question names, in a line of an address list; None if it is not plain."""
    found = phone_number_of(question, passages)
    if found is None:
        return None
    passage, (first, last) = found
    line = line_around(passage.text, (first, last), passage.body)
    return LineAnswer(passage, _extract(passage, line, passage.text[first:last]))


def reply(question: str, passages: Sequence[StoredPassage]) -> LineAnswer | None:
    """Return the reply to the same question in a chat, with that; None if none plainly is one."""
    found = chat_reply(question, passages)
    if found is None:
        return None
    passage, asked, turn, name = found
    start, end = (turn if asked is None else asked).line[0], turn.line[1]
    if end - start > LONGEST_SPAN:
        start = turn.line[0]
    return LineAnswer(passage, replace(_extract(passage, (start, end), name), answer_span=turn.words))


def _extract(passage: StoredPassage, span: Span, name: str, *, is_certain: bool = True) -> Extract:
    """Extract part of a passage, of which the words given as `name` answer."""
    mark = Highlight.of(passage, span)
    return Extract((mark,), 1.0, span, mark.text, name=name, is_certain=is_certain)


def _fields_named(asked: set[str], implied: re.Pattern[str] | None, passage: StoredPassage) -> Iterator[_Match]:
    """Yield the fields of a passage that a question with these terms may name, or imply: the only one of its kind."""
    # Of a table that continues, the context ends with the names of columns, which are only in the fields' names.
    context = _COLUMN_NAMES.sub("", passage.context)
    around = terms(f"{path_words(passage.document.path)} {passage.title} {context}")
    kind = format_of(passage.document.path)
    most_unknown = _MOST_UNKNOWN if kind is not None and kind.reader == "source.code" else 0
    for record in records(passage):
        names = [_terms(field.name) for field in record.fields]
        values = [_terms(field.value) for field in record.fields]
        path = {term for name in record.path for term in _terms(name)}
        only = _newest([field for field in record.fields if implied and implied.search(_CAMEL.sub(" ", field.name))])
        for at, field in enumerate(record.fields):
            named = {term for term in asked if any(_is_same(term, other) for other in names[at])}
            rest = asked - named
            others = [other for other in range(len(names)) if other != at]
            identity = path.union(*(values[other] for other in others))
            identity = identity.union(*(names[other] for other in others if values[other] & rest))
            unknown = rest - _GENERIC - identity - around
            is_known = len(unknown) <= most_unknown and not any(map(_DIGIT.search, unknown))
            is_only = sum(not named.isdisjoint(name) for name in names) == 1
            is_named = named - _GENERIC or (named and (named == names[at] or is_only)) or only == [field]
            if is_named and rest & identity and is_known and field.value and not values[at] <= asked:
                unasked = sum(not any(_is_same(term, other) for term in asked) for other in names[at])
                yield _Match(len(unknown), not values[0] <= asked, unasked, field, is_first=not at)


def _newest(fields: list[Field]) -> list[Field]:
    """Return the field with the latest year in its name, if each of several has another: "2024 (EUR)", "2025 (EUR)"."""
    years = [max(YEAR.findall(field.name), default="") for field in fields]
    return (
        [fields[years.index(max(years))]] if len(fields) > 1 and all(years) and len({*years}) == len(years) else fields
    )


def _terms(text: str) -> set[str]:
    """Return the terms of a text, with its dates written alike, and names such as maxSize and max_size in words."""
    return terms(_CAMEL.sub(" ", spell_out_dates(text, all_alike=True)))


def _is_same(term: str, other: str) -> bool:
    """Whether two terms are the same, or one abbreviates the other: "temp"."""
    short, long = sorted((term, other), key=len)
    return short == long or (short in _SHORT_FORMS and long.startswith(short))
