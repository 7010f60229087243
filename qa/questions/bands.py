"""Find the band of a passage that includes an amount or weekday of the question: "70–89 kg" for 75 kg.

So "when is the library open on Tuesdays?" has its answer in "Mon–Wed 9–17"; for Sundays there is none in that line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import inf, nextafter
from typing import NamedTuple

from corpus import lazy_pattern
from index import STOP_WORDS, StoredPassage, word_terms
from qa.language.spans import Span, lines_of
from qa.language.terms import surroundings, terms
from qa.language.values import MONTH, WEEKDAY, WEEKDAY_NAMES
from qa.questions.numbered import UNIT_AFTER, cells_at

_NUMBER = r"\d+(?:,\d{3}(?!\d))*(?:\.\d+)?"
_UNIT = rf"(?:[ -]?(?!(?:{'|'.join(sorted(STOP_WORDS))}|younger|less)\b)(?:%|°?[^\W\d_]+(?:/[^\W\d_]+)?))"
# "under 5 kg", "between 5 and 9", "£5", "5 kg to 9 kg", "5–9", "5 and over"; a sum of money has no other unit.
_AMOUNT = lazy_pattern(
    r"(?<![\w.,:/–-])(?:(?P<between>between )|(?P<sign>(?:below|under|less than|up to|at most|above|over|more than"
    rf"|at least|from) |[<≤>≥] ?))?(?P<money>[€$£])?(?P<first>{_NUMBER})"
    rf"(?:{_UNIT}? ?(?(between)and|(?:[-–—]|to)) ?[€$£]?(?P<last>{_NUMBER}))?(?P<unit>(?(money)(?!)|{_UNIT}))?"
    r"(?P<behind> ?\+| (?:and|or) (?:above|over|more|older|longer|higher|below|under|less|younger|lower)\b)?"
    r"(?!\w|[-–/:.,]?\d)",
    re.IGNORECASE,
)
# Words of upper bounds, and words before bounds that include the number itself.
_UPPER = lazy_pattern(r"below|under|less|up|at most|younger|lower|[<≤]", re.IGNORECASE)
_INCLUSIVE = lazy_pattern(r"up|at|from|[≤≥]", re.IGNORECASE)
# A year, perhaps before a word, or the day of a month; and the code of a flat or class, such as 2C.
_DATE = lazy_pattern(rf"(?:19|20)\d\d\b|\S+ {MONTH}")
_CODE = lazy_pattern(r"\d+[A-Z]")
_END = lazy_pattern(r"[\n|]|[.;]\s")
_WORD = lazy_pattern(r"[^\W\d_]+")
# A question is compared with the same few passages several times.
_CACHED = 64


_GERMAN_NAMES = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
_NUMBERS = {name[:3]: number for names in (WEEKDAY_NAMES, _GERMAN_NAMES) for number, name in enumerate(names)}
_WEEKDAY = rf"{WEEKDAY}(?:(?<!day)(?<!days)\.)?|(?:{'|'.join(_GERMAN_NAMES)})s?\b"
_WEEKDAYS = lazy_pattern(
    rf"\b(?P<first>{_WEEKDAY})(?:\s?(?:[–—-]|to|until|till|through|bis)\s?(?P<last>{_WEEKDAY}))?", re.IGNORECASE
)
# Between days that have the same hours.
_JOINS = lazy_pattern(r"\s*(?:,|/|&|\+|and|und)?\s*")
# What ends a part, what it does not end with, and what is before a clause.
_SENTENCE_END = lazy_pattern(r"[.;](?=\s|\Z)")
_TAIL = lazy_pattern(r"(?:[\s,;.*_]|\s(?:and|und|but|on|in)(?=\W*\Z)|\s\((?=[\s,]*\Z))+\Z")
_CLAUSE_START = lazy_pattern(r"(?:[.;](?=\s)|,|:(?=\s)|\b(?:and|but|und)\b|^)[\s*_•–-]*", re.MULTILINE)
_HOURS = lazy_pattern(r"\d|\bclosed\b", re.IGNORECASE)
_ASKS_FOR_HOURS = lazy_pattern(
    r"\W*(?:(?:at|from|until|till) )?(?:when|what time|how (?:early|late))\b"
    r"|(?!\W*(?:who|whom|whose|where|why|how)\b).*\b(?:(?:which|what) hours|hours|opening|opening times)\b",
    re.IGNORECASE,
)
_PART_OF_DAY = lazy_pattern(r"\b(?:mornings?|afternoons?|evenings?|nights?|noon)\b", re.IGNORECASE)
# Words of a question for hours that a list of these need not have.
_OF_HOURS = terms(
    "open opens opened opening close closes closing hour hours time times until from start starts end ends"
)


class _Band(NamedTuple):
    """An amount or a band of amounts in a text, with the stem of the unit or other word after it, "" if it has none."""

    match: re.Match[str]
    least: float
    most: float
    unit: str

    @property
    def is_measured(self) -> bool:
        """Whether it has a unit of measurement or money, rather than any word."""
        is_word = self.unit.isalpha() and UNIT_AFTER.fullmatch(self.match["unit"].lstrip("-")) is None
        return bool(self.unit) and not is_word

    @property
    def is_date(self) -> bool:
        """Whether it is a year or the day of a month."""
        return not self.is_measured and _DATE.match(self.match[0]) is not None


def write_as_bands(passage: StoredPassage, question: str) -> str:
    """Replace each amount of a question by the band of a passage that includes it, if there is only one.

    Amount and band have the same unit, or the column or else the sentence of the band has the unit, or the word before
    the amount: "a CrCl of 40". An amount that the passage has itself stays.
    """
    for amount, band in _amounts_with_bands(passage, question):
        # The word after a band need not be a unit: "6–17 pay".
        is_whole = bool(band.unit == amount.unit or band.match["behind"])
        number_end = max(band.match.end("first"), band.match.end("last")) - band.match.start()
        text = band.match[0] if is_whole else band.match[0][:number_end]
        question = f"{question[: amount.match.start()]}{text}{question[amount.match.end(0 if is_whole else 'first') :]}"
    return question


def _amounts_with_bands(passage: StoredPassage, question: str) -> list[tuple[_Band, _Band]]:
    """Return the amounts of a question, last first, each with the band that includes it; only if there is just one."""
    amounts = [amount for amount in _amounts(question) if amount.least == amount.most and not amount.is_date]
    amounts = [amount for amount in amounts if not _CODE.fullmatch(amount.match[0])]
    passage_bands = _amounts(f"{passage.context}\n{passage.text}") if amounts else ()
    pairs = []
    for amount in reversed(amounts):
        before = [word for word in _WORD.findall(question[: amount.match.start()].lower()) if word not in STOP_WORDS]
        names = {"ag" if amount.unit == "year" else amount.unit, *word_terms(before[-1] if before else "")} - {""}
        bands = {band.match[0]: band for band in _including(amount, passage_bands, names, passage)}
        pairs += [(amount, band) for band in bands.values() if len(bands) == 1]
    return pairs


def _including(amount: _Band, bands: Sequence[_Band], names: set[str], passage: StoredPassage) -> list[_Band]:
    """Return the bands that include an amount: those in its unit, or else those with one of the names; [] if both."""
    including = [band for band in bands if band.least <= amount.least <= band.most]
    if any(band.least == band.most and band.unit == amount.unit for band in including):
        return []
    comparable = (band for band in including if not (amount.is_measured and band.is_measured))
    named = (band for band in comparable if _is_named(band, names, passage))
    # "Aged 6 to 90" says who may come, if there are bands within that.
    bands = [band for band in bands if band.least < band.most and not band.is_measured]
    edges = {edge for band in bands for edge in (band.least, band.most)}
    finest = (band for band in named if not any(band.least < edge < band.most for edge in edges if band.most < inf))
    return [band for band in including if band.unit == amount.unit != ""] or list(finest)


@lru_cache(maxsize=_CACHED)
def _amounts(text: str) -> tuple[_Band, ...]:
    return tuple(map(_band_of, _AMOUNT.finditer(text)))


def _band_of(match: re.Match[str]) -> _Band:
    first, last = (float((match[name] or match["first"]).replace(",", "")) for name in ("first", "last"))
    bound = match["sign"] or match["behind"]
    if bound and not match["last"]:
        is_upper = _UPPER.search(bound)
        is_inside = match["behind"] or _INCLUSIVE.match(bound)
        edge = first if is_inside else nextafter(first, -inf if is_upper else inf)
        first, last = (-inf, edge) if is_upper else (edge, inf)
    unit = (match["unit"] or "").lower().strip(" -")
    return _Band(match, first, last, match["money"] or "".join(word_terms(unit)) or unit)


def _is_named(band: _Band, names: set[str], passage: StoredPassage) -> bool:
    """Whether the column of a band, its sentence or its field has one of the names."""
    text, start = band.match.string, band.match.start()
    at = start - len(passage.context) - 1
    column = next((name for name, cell in cells_at(passage, at) if cell[0] <= at < cell[1]), "")
    sentence = _END.split(text[:start])[-1] + _END.split(text[start:])[0]
    around = f"{column} {sentence}".lower()
    return any(name in (_stems(around) if name.isalpha() else around) for name in names)


def _stems(text: str) -> set[str]:
    return {term for word in _WORD.findall(text) for term in word_terms(word)}


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
    days = {day for match in _WEEKDAYS.finditer(question) for day in _numbers(match)}
    return (
        days.pop() if len(days) == 1 and _ASKS_FOR_HOURS.match(question) and not _PART_OF_DAY.search(question) else None
    )


def hours_on(question: str, day: int, passages: Sequence[StoredPassage]) -> DayHours | None:
    """Return the hours of what a question names; None if no line, or several, have most of its words.

    Args:
        question: The question.
        day: The weekday that it names.
        passages: The passages to search.
    """
    topic = terms(_WEEKDAYS.sub(" ", question)) - _OF_HOURS
    found: list[tuple[int, int, StoredPassage, list[_Part]]] = []
    for passage in passages:
        around = terms(surroundings(passage))
        for parts, above in _units(passage.text, passage.body):
            own = topic & terms(f"{above} {passage.text[parts[0].span[0] : parts[-1].span[1]]}")
            missing = len(topic - own - around)
            if topic and (own or not missing) and 2 * missing < len(topic):
                found.append((missing, -len(own), passage, parts))
    least = min((match[:2] for match in found), default=None)
    best = [it for it in found if it[:2] == least]
    if len(best) > 1:
        # A block with this day; a line may have a date instead: "Tues 11".
        best = [it for it in best if _is_block(it[2].text, it[3]) and any(day in part.days for part in it[3])]
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
    above = ""
    for start, end in (*lines_of(text, body), (len(text), len(text))):
        line = text[start:end]
        begins = _WEEKDAYS.match(line.lstrip(" \t*•-"))
        parts = _parts(text, start, end) if "|" not in line else []
        if begins and parts:
            block += parts
        else:
            if block:
                yield block, above
                block = []
            if parts:
                yield parts, text[start : parts[0].span[0]]
            above = line if line.strip() else above


def _is_block(text: str, parts: Sequence[_Part]) -> bool:
    return "\n" in text[parts[0].span[0] : parts[-1].span[1]]


def _parts(text: str, start: int, end: int) -> list[_Part]:
    """Return the parts of a line; none if no day has hours behind it.

    Each part extends from its days to the next ones, or is the clause that ends with them: "closed on Sundays".
    """
    groups: list[tuple[set[int], int, int]] = []
    for match in _WEEKDAYS.finditer(text, start, end):
        if groups and _JOINS.fullmatch(text, groups[-1][2], match.start()):
            groups[-1] = groups[-1][0] | _numbers(match), groups[-1][1], match.end()
        else:
            groups.append((_numbers(match), match.start(), match.end()))
    parts: list[_Part] = []
    limit = following = end
    has_hours = False
    for i, (days, first, days_end) in reversed(list(enumerate(groups))):
        after = _SENTENCE_END.split(text[days_end:following])[0]
        has_hours = has_hours or _HOURS.search(after) is not None
        last, begin = min(days_end + len(after), limit), first
        if not _HOURS.search(text, days_end, last):
            clauses = _CLAUSE_START.finditer(text, groups[i - 1][2] if i else start, first)
            begin = max((match.end() for match in clauses), default=first)
            # The hours before these days may be those of others: "Tue: cello 9.50 (was Thursdays)".
            if i and not _HOURS.search(text, groups[i - 2][2] if i > 1 else start, begin):
                continue
        limit, following = begin, first
        parts.insert(0, _Part(frozenset(days), (limit, limit + len(_TAIL.sub("", text[limit:last])))))
    return parts if has_hours else []


def _numbers(match: re.Match[str]) -> set[int]:
    """Return the days of a name, or of a range."""
    first = _NUMBERS[match["first"][:3].lower()]
    last = _NUMBERS[match["last"][:3].lower()] if match["last"] else first
    days = len(WEEKDAY_NAMES)
    return {day % days for day in range(first, last + 1 if last >= first else last + 1 + days)}
