"""Hours by weekday: of "Mon–Wed 9–17, Sat 10–13", the part with the day that a question names.

"When is the library open on Tuesdays?" has its answer in "Mon–Wed 9–17"; for Sundays there is none in that line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpus import path_words
from index import StoredPassage
from qa.questions.steps import terms
from qa.questions.values import Span

_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_GERMAN_NAMES = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
_NUMBERS = {name[:3]: number for names in (_NAMES, _GERMAN_NAMES) for number, name in enumerate(names)}
_DAY = (
    r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)(?:\.|s\b|\b)|(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags?\b|mittwochs?\b"
)
_DAYS = re.compile(rf"\b(?P<first>{_DAY})(?:\s?(?:[–—-]|to|until|till|through|bis)\s?(?P<last>{_DAY}))?", re.IGNORECASE)
# Between days that have the same hours.
_JOINS = re.compile(r"\s*(?:,|/|&|\+|and|und)?\s*")
# What ends a part, and what it does not end with.
_SENTENCE_END = re.compile(r"[.;](?=\s|\Z)")
_TAIL = re.compile(r"(?:[\s,;.*_]|\s(?:and|und|but|on|in)(?=\W*\Z)|\s\((?=[\s,]*\Z))+\Z")
_HOURS = re.compile(r"\d|\bclosed\b", re.IGNORECASE)
_ASKS = re.compile(r"\b(?:when|what time|which hours|until|from|hours?|opening|times?)\b", re.IGNORECASE)
_PART_OF_DAY = re.compile(r"\b(?:mornings?|afternoons?|evenings?|nights?|noon)\b", re.IGNORECASE)
# Words of a question for hours that a list of these need not have.
_OF_HOURS = terms(
    "open opens opened opening close closes closing hour hours time times until from start starts end ends"
)


class DayHours(NamedTuple):
    """The hours that a line, or a block with a line for each day, gives for weekdays.

    Attributes:
        passage: Its passage.
        span: Its characters in the passage's text.
        answer: Those of the part about the asked day; None if it has none.
    """

    passage: StoredPassage
    span: Span
    answer: Span | None


class _Part(NamedTuple):
    days: frozenset[int]
    span: Span


def asked_day(question: str) -> int | None:
    """Return the weekday for which a question asks hours, from 0 for Monday; None if it asks for none or several."""
    days = {day for match in _DAYS.finditer(question) for day in _numbers(match)}
    return days.pop() if len(days) == 1 and _ASKS.search(question) and not _PART_OF_DAY.search(question) else None


def hours_on(question: str, day: int, passages: Sequence[StoredPassage]) -> DayHours | None:
    """Return the hours of what a question names; None if no line, or several, have most of its words.

    Args:
        question: The question.
        day: The weekday that it names.
        passages: The passages to search.
    """
    topic = terms(_DAYS.sub(" ", question)) - _OF_HOURS
    found: list[tuple[int, int, StoredPassage, list[_Part]]] = []
    for passage in passages:
        around = terms(f"{path_words(passage.document.path)} {passage.title} {passage.context}")
        for parts, above in _units(passage.text, passage.body):
            own = topic & terms(f"{above} {passage.text[parts[0].span[0] : parts[-1].span[1]]}")
            missing = len(topic - own - around)
            if topic and (own or not missing) and 2 * missing < len(topic):
                found.append((missing, -len(own), passage, parts))
    best = [it for it in found if it[:2] == min(match[:2] for match in found)]
    if len(best) != 1:
        return None
    _, _, passage, parts = best[0]
    of_day = [part.span for part in parts if day in part.days]
    answer = (of_day[0][0], of_day[-1][1]) if of_day else None
    return DayHours(passage, (parts[0].span[0], parts[-1].span[1]), answer)


def _units(text: str, body: int) -> Iterator[tuple[list[_Part], str]]:
    """Yield the parts of each line with hours by weekday, or of a block of lines that each begin with a day.

    With each comes the text before them: the rest of the line, or the line above the block.
    """
    block: list[_Part] = []
    above, start = "", body
    for line in (*text[body:].split("\n"), ""):
        begins = _DAYS.match(line.lstrip(" \t*•-"))
        parts = _parts(text, start, start + len(line)) if "|" not in line else []
        if begins and parts:
            block += parts
        else:
            if block:
                yield block, above
                block = []
            if parts:
                yield parts, text[start : parts[0].span[0]]
            above = line if line.strip() else above
        start += len(line) + 1


def _parts(text: str, start: int, end: int) -> list[_Part]:
    """Return the parts of a line, each from its days to the next ones; none if the line gives no hours."""
    groups: list[tuple[set[int], int, int]] = []
    for match in _DAYS.finditer(text, start, end):
        if groups and _JOINS.fullmatch(text, groups[-1][2], match.start()):
            groups[-1] = groups[-1][0] | _numbers(match), groups[-1][1], match.end()
        else:
            groups.append((_numbers(match), match.start(), match.end()))
    ends = [*(first for _, first, _ in groups), end][1:]
    parts = []
    for (days, first, _), last in zip(groups, ends, strict=True):
        part = _TAIL.sub("", _SENTENCE_END.split(text[first:last])[0])
        parts.append(_Part(frozenset(days), (first, first + len(part))))
    return parts if any(_HOURS.search(text, *part.span) for part in parts) else []


def _numbers(match: re.Match[str]) -> set[int]:
    """Return the days of a name, or of a range."""
    first = _NUMBERS[match["first"][:3].lower()]
    last = _NUMBERS[match["last"][:3].lower()] if match["last"] else first
    return {day % len(_NAMES) for day in range(first, last + 1 if last >= first else last + 1 + len(_NAMES))}
