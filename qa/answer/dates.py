"""Dates in the forms in which people write them: 4 June, 2024-06-04, 04/06/2024, 4.6.2024."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from index import Among, Index, word_terms
from qa.answer.values import MONTH

_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_DAYS = 31
# Dates of a question that are looked at, passages in which other forms are looked for, and how many the question gets.
_MAX_DATES, _MAX_PASSAGES, _MAX_FORMS = 5, 20, 2
_DAY = r"(?P<day{0}>\d\d?)(?:st|nd|rd|th)?"
_DATES = re.compile(
    r"(?<![\w./-])(?:"
    r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)"
    r"|(?P<day1>\d\d?)(?P<mark>[./-])(?P<month1>\d\d?)(?P=mark)(?P<year1>\d{4})"
    rf"|{_DAY.format(2)}(?:\.?\s|-|\sof\s)(?P<month2>{MONTH})(?:(?:\.?,?\s|-)(?P<year2>\d{{4}}))?"
    rf"|(?P<month3>{MONTH})\.?\s{_DAY.format(3)}(?:,?\s(?P<year3>\d{{4}}))?"
    r")(?![\w/-]|[.,:]\d)"
)


class WrittenDate(NamedTuple):
    """A date in a text.

    Attributes:
        day: Of the month, the first number where both are written as numbers.
        month: From 1.
        year: 0 where it is not written.
        text: As it is written.
        end: One past its last character.
        has_name: Whether the month is written by its name.
    """

    day: int
    month: int
    year: int
    text: str
    end: int
    has_name: bool

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all its forms."""
        day, month, year = self.day, self.month, self.year
        numbers = {str(day), f"{day:02}", str(month), f"{month:02}", *([str(year)] if year else [])}
        whole = (f"{year}-{month:02}-{day:02}", f"{day:02}.{month:02}.{year}", f"{day}.{month}.{year}") if year else ()
        return (*sorted(numbers), *whole, _NAMES[month - 1][:3], _NAMES[month - 1])

    def is_other_form_of(self, other: WrittenDate) -> bool:
        """Whether it is the same date, as far as both tell, and written with other words."""
        is_same = self[:2] == other[:2] and (self.year == other.year or not (self.year and other.year))
        return is_same and self.text != other.text and not (self.has_name and other.has_name)


def dates_in(text: str) -> Iterator[WrittenDate]:
    """Yield the dates of a text that have at least a day and a month."""
    for found in _DATES.finditer(text):
        groups = {name.rstrip("123"): value for name, value in found.groupdict().items() if value}
        month = groups["month"]
        number = int(month) if month.isdecimal() else [name[:3] for name in _NAMES].index(month[:3].lower()) + 1
        if 1 <= number <= len(_NAMES) and 1 <= int(groups["day"]) <= _DAYS:
            year = int(groups.get("year", 0))
            yield WrittenDate(int(groups["day"]), number, year, found[0], found.end(), not month.isdecimal())


def with_other_forms(question: str, snapshot: Index, among: Among) -> str:
    """A question with the other forms in which the collection writes its dates, in brackets behind each."""
    pieces, at = [], 0
    for one in islice(dates_in(question), _MAX_DATES):
        wanted = {term: 1.0 for word in one.words for term in word_terms(word)}
        hits = snapshot.keyword(wanted, _MAX_PASSAGES, documents=among)
        passages = snapshot.passages([hit.passage for hit in hits])
        others = (other for passage in passages for other in dates_in(f"{passage.context}\n{passage.text}"))
        forms = Counter(other.text for other in others if other.is_other_form_of(one)).most_common(_MAX_FORMS)
        if forms:
            pieces += [question[at : one.end], f" ({', '.join(form for form, _ in forms)})"]
            at = one.end
    return "".join([*pieces, question[at:]])
