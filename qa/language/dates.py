"""Find and rewrite dates in the forms that people use: 4 June, 4. Juni, 2024-06-04, 04/06/2024, 4.6.2024, 6/24/2024."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from corpus import lazy_pattern
from index import Among, Index, word_terms
from qa.language.spans import Span
from qa.language.values import GERMAN_MONTH_NAMES, MONTH, MONTH_NAMES, month_of

_DAYS = 31
YEAR = lazy_pattern(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# How many dates of a question are expanded, how many passages are searched for other forms, and how many forms added.
_MAX_DATES, _MAX_PASSAGES, _MAX_FORMS = 5, 20, 2
_DAY = r"(?P<day{0}>\d\d?)(?:st|nd|rd|th)?"
# After a date in figures: 2024-06-04T10:15, 2024-06-04-standup.md.
_TIME_OR_NAME = r"(?=T\d\d:|[-_][^\W\d_])"
_DATES = lazy_pattern(
    r"(?<![\w./-])(?:"
    r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)"  # 2024-06-04
    # 4.6.2024, 04.06.24
    r"|(?P<day1>\d\d?)(?P<mark>[./-])(?P<month1>\d\d?)(?P=mark)(?P<year1>\d{4}|(?<=\d\d\.\d\d\.)[12]\d)"
    rf"|{_DAY.format(2)}(?:\.?\s|-|\sof\s)(?P<month2>{MONTH}|march\b|may\b(?!\s[a-z]))"  # 4th of June
    r"(?:(?:\.?,?\s|-)(?P<year2>\d{4}))?"
    rf"|(?P<month3>{MONTH}|march|may(?=\s\S{{1,5}}\s\d{{4}}\b))\.?\s{_DAY.format(3)}"  # June 4, 2024
    r"(?:,?\s(?P<year3>\d{4}))?"
    rf")(?:(?![\w/-]|[.,:]\d)|(?<=\d{{4}}-\d\d-\d\d){_TIME_OR_NAME})"
)
# In lower case, two months are other words, too.
_BY_NAME = rf"(?:{MONTH}|(?:(?<=\bin )|(?<=\bsince ))(?:march|may)\b|(?:march|may)(?=,? \d{{4}}\b))"
# A month by its name, without a day but perhaps with a year, and in figures, perhaps with a day.
_NAMED_MONTH = lazy_pattern(
    rf"(?!^May\b(?! \d{{4}}))(?<!\d )\b(?P<month>{_BY_NAME})(?:\.?,? (?P<year>\d{{4}})\b|(?!\.? ?\d))"
)
_MONTH_IN_FIGURES = lazy_pattern(
    rf"(?<![\w./-])(\d{{4}})-(0[1-9]|1[0-2])(?:-\d\d)?(?:(?![\w/-]|[.:]\d)|{_TIME_OR_NAME})"
)

# Before a date that limits another one: "since March".
_LIMITS = lazy_pattern(r"\b(?:since|until|till|before|after|by|from|to|between)\s+(?:the\s+)?\Z", re.IGNORECASE)
_MONTH_OR_NUMBER = lazy_pattern(rf"\b{MONTH}|\d+", re.IGNORECASE)
_IN_YEAR = lazy_pattern(r"\s*\b(?:in|during)\s+((?:19|20)\d\d)\b(?![./-]\d)", re.IGNORECASE)
_PREPOSITION = lazy_pattern(r"\s+(?:dated|for|from|in|of|on)(?:\s+the)?\Z", re.IGNORECASE)


class WrittenDate(NamedTuple):
    """A date in a text.

    Attributes:
        day: Day of the month; the first number if either could be the month.
        month: From 1.
        year: 0 if it is not given.
        text: The date as written.
        span: Its characters.
        name: The month's name as written, in lower case; "" if the month is a number.
    """

    day: int
    month: int
    year: int
    text: str
    span: Span
    name: str

    @property
    def period(self) -> Period:
        """The day as a period."""
        return Period(self.year, self.month, self.day)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all forms in which the date may be written."""
        day, month, year = self.day, self.month, self.year
        numbers = {str(day), f"{day:02}", str(month), f"{month:02}", *([str(year)] if year else [])}
        whole = (f"{year}-{month:02}-{day:02}", f"{day:02}.{month:02}.{year}", f"{day}.{month}.{year}") if year else ()
        names = MONTH_NAMES[month - 1], GERMAN_MONTH_NAMES[month - 1]
        return (*sorted(numbers), *whole, *dict.fromkeys([*names, *(name[:3] for name in names)]))

    @property
    def spelled_out(self) -> str:
        """The date as in 24 May 2023, or if it has no year 24 May."""
        return f"{self.day} {MONTH_NAMES[self.month - 1].title()} {self.year or ''}".rstrip()

    def is_same_day(self, other: WrittenDate) -> bool:
        """Whether both have the same day and month, and the same year if both have one."""
        return self[:2] == other[:2] and (self.year == other.year or not (self.year and other.year))

    def is_other_form_of(self, other: WrittenDate) -> bool:
        """Whether both are the same day, written differently."""
        return self.is_same_day(other) and self.text != other.text and (self.name != other.name or not self.name)


class Period(NamedTuple):
    """A day, month or year; what is not given is 0."""

    year: int
    month: int
    day: int = 0

    def overlaps(self, other: Period) -> bool:
        """Whether one may be in the other: the 9th of March, in March 2026."""
        pairs = [(mine, others) for mine, others in zip(self, other, strict=True) if mine and others]
        return bool(pairs) and all(mine == others for mine, others in pairs)

    def excludes(self, other: Period) -> bool:
        """Whether neither may be in the other: the 9th of March and May, but not 2025 and May."""
        return any(mine and others and mine != others for mine, others in zip(self, other, strict=True))


def dates_in(text: str) -> Iterator[WrittenDate]:
    """Yield the dates of a text that have at least a day and a month."""
    for match in _DATES.finditer(text):
        groups = {name.rstrip("123"): value for name, value in match.groupdict().items() if value}
        day, name = int(groups["day"]), "" if groups["month"].isdecimal() else groups["month"].lower()
        month = month_of(name) if name else int(groups["month"])
        if groups.get("mark") in {"/", "-"} and day <= len(MONTH_NAMES) < month:
            day, month = month, day  # as in 6/24/2024
        if 1 <= month <= len(MONTH_NAMES) and 1 <= day <= _DAYS:
            year = f"20{groups['year']}" if len(groups.get("year", "")) == 2 else groups.get("year", 0)
            yield WrittenDate(day, month, int(year), match[0], match.span(), name)


def periods_in(text: str) -> list[Period]:
    """Return the days of a text, and the months that it names without a day, in no particular order."""
    found = [date.period for date in dates_in(text)]
    named = [Period(int(it["year"] or 0), month_of(it["month"])) for it in _NAMED_MONTH.finditer(text)]
    figures = [Period(int(year), int(month)) for year, month in _MONTH_IN_FIGURES.findall(text)]
    return found + named + [month for month in figures if not any(month.overlaps(day) for day in found)]


def asked_period(question: str) -> Period | None:
    """Return the day or month that a question is about; None if it names none or several, or only as a limit."""
    periods = set(periods_in(question))
    is_limit = any(_LIMITS.search(question[: match.start()]) for match in _MONTH_OR_NUMBER.finditer(question))
    return periods.pop() if len(periods) == 1 and not is_limit else None


def asked_time(question: str) -> Period | None:
    """Return the day, month or year that a question is about, as `asked_period` does."""
    years = set(_IN_YEAR.findall(question)) if not periods_in(question) else set()
    return asked_period(question) or (Period(int(years.pop()), 0) if len(years) == 1 else None)


def without_time(question: str) -> str:
    """Leave out the days, months and years that a question names."""
    return _IN_YEAR.sub("", without_periods(question))


def without_periods(question: str) -> str:
    """Leave out the days and months that a question names: "who came?" for "who came on 4 June?"."""
    spans = [date.span for date in dates_in(question)]
    spans += [match.span() for match in _NAMED_MONTH.finditer(question)]
    spans += [
        it.span() for it in _MONTH_IN_FIGURES.finditer(question) if not any(a <= it.start() < b for a, b in spans)
    ]
    for start, end in sorted(spans, reverse=True):
        question = _PREPOSITION.sub("", question[:start].rstrip()) + question[end:]
    return question


def spell_out_dates(text: str, *, all_alike: bool = False) -> str:
    """Write the dates of a text that are in figures, with a year, as 24 May 2023; or all of them in this form."""
    return _with_dates(text, lambda date: date.spelled_out if all_alike or (date.year and not date.name) else date.text)


def add_date_forms(question: str, snapshot: Index, among: Among) -> str:
    """Add to each date of a question, in brackets, the other forms in which the collection writes it."""

    def with_forms(date: WrittenDate) -> str:
        dates = (written for text in _texts_with(date.words, snapshot, among) for written in dates_in(text))
        forms = Counter(written.text for written in dates if written.is_other_form_of(date)).most_common(_MAX_FORMS)
        return f"{date.text} ({', '.join(form for form, _ in forms)})" if forms else date.text

    return _with_dates(question, with_forms, most=_MAX_DATES)


def _texts_with(words: Iterable[str], snapshot: Index, among: Among) -> Iterator[str]:
    """Yield the passages, with their paths and headings, that have the most of some words."""
    terms = {term: 1.0 for word in words for term in word_terms(word)}
    hits = snapshot.keyword(terms, _MAX_PASSAGES, documents=among)
    for passage in snapshot.passages([hit.passage for hit in hits]):
        yield f"{passage.document.path.replace('/', ' ')}\n{passage.context}\n{passage.text}"


def _with_dates(text: str, form: Callable[[WrittenDate], str], *, most: int | None = None) -> str:
    """Write each date of a text, or the first few, in the form that a function gives it."""
    pieces, at = [], 0
    for date in islice(dates_in(text), most):
        pieces += [text[at : date.span[0]], form(date)]
        at = date.span[1]
    return "".join([*pieces, text[at:]])
