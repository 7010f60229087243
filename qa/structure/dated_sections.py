"""Sections below the heading of a day: "Panel: Soil data" below "Day 2 - Tuesday 9 September".

"When was the panel on soil data?" is answered with the day, if the section's own heading has the words of the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpus import DAY, lazy_pattern
from index import StoredPassage
from qa.language.dates import YEAR
from qa.language.question_kinds import ASKS_WHEN_IT_IS
from qa.language.terms import terms
from qa.structure.sections import Part, PassagesOf, Section, around, sections

_DAY = lazy_pattern(rf"\b{DAY}", re.IGNORECASE)
# What may be before and after the day in a heading that is about it.
_BEFORE = lazy_pattern(r"[\W_]*(?:day \d{1,2}\b[\W_]*|on )?", re.IGNORECASE)
_AFTER = lazy_pattern(r"\s*(?:\Z|[:;,.(–—-])")
_ASKS_ALSO = lazy_pattern(r"\b(?:how|why|where|what time|who)\b", re.IGNORECASE)
# A section that says when, or that it was not then.
_MOVED = lazy_pattern(r"\b(?:cancel\w{2,4}|moved|postponed|rescheduled)\b", re.IGNORECASE)
_OF_QUESTION = terms(
    "ceremony date day event gave give given happened held hold place planned presentation presented scheduled session"
    " speak spoke take talk talked took"
)


class DatedSections(NamedTuple):
    """Headings that answer: the parts of passages they are, and the words of them that do if not all."""

    parts: tuple[Part, ...]
    name: str


class _Dated(NamedTuple):
    section: Section
    name: str
    day: str
    heading: str


def dated_sections(question: str, passages: Sequence[StoredPassage], passages_of: PassagesOf) -> DatedSections | None:
    """Return the day of the section that a question asks when it was; None if no section or several may be meant.

    Args:
        question: The question.
        passages: The passages to search, best first.
        passages_of: Gives all passages of a document.
    """
    asks = ASKS_WHEN_IT_IS.match(question)
    if asks is None or _DAY.search(question) or _ASKS_ALSO.search(question, asks.end()):
        return None
    asked = terms(question) - _OF_QUESTION
    found: dict[tuple[str, str], tuple[int, _Dated]] = {}
    for passage in passages if asked else ():
        for dated in _below_days(passage):
            own = asked & terms(dated.name)
            # A year may be that of what is asked, which the event is only about.
            has_time = any(pattern.search(dated.section.text) for pattern in (_DAY, _MOVED, YEAR))
            if not own or has_time:
                continue
            above = around(dated.section, passages_of(passage.document.path))
            if asked - own <= above and not own <= above - terms(dated.name):
                found.setdefault((passage.document.path, dated.heading), (len(asked - own), dated))
    least = min((missing for missing, _ in found.values()), default=0)
    best = [dated for missing, dated in found.values() if missing == least]
    if len(best) > 1:
        best = [it for it in best if it.section.parts[0][0].document.path == passages[0].document.path]
    return _with_day(best[0], passages_of) if len(best) == 1 else None


def _plain_day(heading: str) -> str:
    """Return the day that a heading is about; "" if there is none, or several."""
    days = list(_DAY.finditer(heading))
    is_plain = len(days) == 1 and _BEFORE.fullmatch(heading[: days[0].start()]) and _AFTER.match(heading, days[0].end())
    return days[0][0] if is_plain else ""


def _below_days(passage: StoredPassage) -> Iterator[_Dated]:
    """Yield the sections of a passage whose heading is below that of a day, or has it."""
    for section in sections(passage):
        for heading in (section.name, *reversed(section.outer)):
            day = _plain_day(heading)
            if day and section.heading is not None:
                name = heading.partition(day)[2] if heading == section.name else section.name
                yield _Dated(section, name, day, heading)
                break


def _with_day(dated: _Dated, passages_of: PassagesOf) -> DatedSections | None:
    """Return the heading of a section, with that of its day, which may be in a passage before."""
    passage = dated.section.parts[0][0]
    start, end = dated.section.heading or (0, 0)
    if dated.day in passage.text[start:end]:
        return DatedSections(((passage, (start, end)),), dated.day)
    at = passage.text.rfind(dated.heading, 0, start)
    if at >= 0:
        return DatedSections(((passage, (at, end)),), dated.day)
    for before in reversed([it for it in passages_of(passage.document.path) if it.start < passage.start]):
        at = before.text.find(dated.heading, 0, before.body)
        if at >= 0:
            return DatedSections(((passage, (start, end)), (before, (at, at + len(dated.heading)))), dated.day)
    return None
