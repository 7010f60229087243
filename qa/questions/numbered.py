"""Things that a question names by a number, letter or code, a side or a year: "box 123", "annex C", "the left eye".

A sentence about another one of them, such as "shelf 123 holds box 369", looks much like an answer but is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from index import STOP_WORDS, StoredPassage, word_terms
from qa.questions.dates import dates_in
from qa.questions.values import MONTH
from qa.reader.tables import tables

_TOKEN = re.compile(r"[^\W_]+(?:(?:[.:/'’-]|,(?=\d{3}(?!\d)))[^\W_]+)*")
# A letter is a code only as a capital, but not "I".
_CODE = re.compile(r"(?=\D{0,5}\d)[^\W_].*|[A-HJ-Z](?:-[A-Z])?")
_TIME_OR_ORDINAL = re.compile(r"\d+:.*|\d+(?:st|nd|rd|th|s)", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_RANGE = re.compile(r"([a-z]*?)(\d+|[a-z])-\1(\d+|[a-z])")
# The end of a code whose letters say what it is the number of: C05, S-011, disk NKD-X18.
_SERIES = re.compile(r"\b([a-z]{1,4})\d{1,4}$")
# Between a noun and its number, and between two numbers of a list or range.
_AFTER_NOUN = re.compile(r"[ \t]*[:=#(\[*_`\"“]*[ \t#*_`\"“.]*")
_IN_LIST = re.compile(r"\s?[,;/&–—-]?\s?")
_LINKS = frozenset({"no", "nr", "num", "number", "numbers", "id", "code", "and", "or", "to", "through"})
# What makes a number an amount: "weighs 5", "the last 3 days", "300 EUR", "5 %".
_MEASURES = frozenset({
    "about", "age", "aged", "almost", "another", "approximately", "around", "charge", "charged", "charges", "cost",
    "costs", "earn", "earns", "every", "exactly", "first", "get", "gets", "hold", "holds", "last", "lasts", "least",
    "maximum", "minimum", "nearly", "need", "needs", "next", "past", "pay", "pays", "per", "plus", "roughly", "spend",
    "take", "takes", "times", "took", "top", "weigh", "weighs", "within",
})  # fmt: skip
UNIT_BEHIND = re.compile(
    r"[^\S\n]?(?:[%°€$£²³]|(?:percent|per cent|euros?|dollars?|pounds?|eur|usd|gbp|chf|[kmc]?m|km/h|[km]?g|lbs?|oz"
    r"|[mk]?[wl]|kwh|kb|mb|gb|tb|seconds?|minutes?|min|hours?|h|days?|nights?|weeks?|months?|years?|met(?:er|re)s?|people"
    r"|persons|am|pm)\b)",
    re.IGNORECASE,
)
_MONTH = re.compile(MONTH)
# Whoever does what the word before the number says: "may I bring 3 guests?"
_DOERS = frozenset({"he", "i", "it", "not", "she", "they", "to", "we", "who", "you"})
_BOUND_BEFORE = re.compile(
    r"\b(?:since|from|until|before|after|up to|at (?:least|most)|than)\s(?:the\s)?$", re.IGNORECASE
)
_BOUND_BEHIND = re.compile(
    r"\+|\s(?:or|and) (?:later|newer|higher|above|older|earlier|below|up)\b|\sonwards?\b", re.IGNORECASE
)
# The marker of a numbered item, and the stems of what it may be the number of.
_MARKER = re.compile(r"\s*\(?(\d{1,2})[.)]\s+")
_ITEMS = ("item", "point", "rule", "step")
_FIELD = re.compile(r"[^\s:|\d][^\n:|\d]{0,39}:[ \t].*")
# Words of which only one is true of a thing: "left eye", "rear tyre", "winter timetable".
_PAIRS = (
    ("left", "right"), ("front", "rear", "back"), ("upper", "lower"), ("inner", "outer"), ("indoor", "outdoor"),
    ("upstairs", "downstairs"), ("summer", "winter"), ("hot", "cold"), ("north", "south", "east", "west"),
    ("large", "small"), ("first", "second", "third"),
)  # fmt: skip
_SIDES = {side: "/".join(pair) for pair in _PAIRS for side in pair}
_SIDE = rf"\b(?:{'|'.join(_SIDES)})\b"
_SIDED = re.compile(
    rf"{_SIDE}(?:(?:\s?(?:,|/|&|and|or)\s?{_SIDE})?\s(of\sthe\s)?(?!ones?\b)([^\W\d_]{{3,}}))?", re.IGNORECASE
)
# The noun of a year, which it needs not stand beside.
_OF_YEAR = "#year"
_YEARS = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:\s?[-–—/]\s?((?:19|20)?\d\d))?(?!\d)")
# What is true since, until or after a date, and what happened once and lasts, may be true in other years.
_LASTS = re.compile(
    r"\b(?:since|from|until|till|before|after|than|by|as of|always|valid|rais|lower|increas|reduc|chang|introduc|adopt"
    r"|agree|decid|approv|set|new|built|found|open|join|elect|appoint|hire|mov|bought|install|sign|start|began|beg[iu]n"
    r"|born|renew|replac|correct|updat|publish|issu|warrant|guarant|next)",
    re.IGNORECASE,
)


class Numbered(NamedTuple):
    """A number, letter or code, and what it is the number of.

    Attributes:
        noun: The stem of the word before it; "" if that is none. Of a code such as C05, also "#c".
        code: In lower case; two numbers if it is a range.
        is_loose: Whether it is a bound, as in "since version 2".
    """

    noun: str
    code: str
    is_loose: bool = False

    def is_same(self, other: Numbered) -> bool:
        """Whether this is, or includes, the number of another: 2.1.3 is a 2.1, and 5 to 9 includes 7."""
        if f"{self.code}.".startswith(f"{other.code}."):
            return True
        ends = _RANGE.fullmatch(self.code)
        return ends is not None and _in_order(ends[2], other.code.removeprefix(ends[1]), ends[3])

    def is_other(self, other: Numbered) -> bool:
        """Whether this clearly is another one of the same kind; a year is no number of things, nor 7 another 7.2."""
        is_alike = bool(_YEAR.fullmatch(self.code)) == bool(_YEAR.fullmatch(other.code))
        is_part = f"{other.code}.".startswith(f"{self.code}.")
        return self.noun == other.noun and is_alike and not (self.is_loose or is_part or self.is_same(other))


def _in_order(*codes: str) -> bool:
    """Whether numbers, or single letters, are in order."""
    if all(map(str.isdecimal, codes)):
        return sorted(codes, key=int) == list(codes)
    return all(len(one) == 1 and one.isalpha() for one in codes) and sorted(codes) == list(codes)


def numbered_in(question: str) -> list[Numbered]:
    """Return the things that a question names by number, but not amounts, as in "may I bring 3 guests?"."""
    named = [*_numbered(question, _DOERS), *_sided(question)]
    years = _YEARS.findall(question)
    if len(years) == 1 and not years[0][1] and not _LASTS.search(question):
        named.append(Numbered(_OF_YEAR, years[0][0]))
    return [one for one in named if one.noun and not one.is_loose]


def of_the_things(
    things: Sequence[Numbered], passage: StoredPassage, lead: tuple[int, int], scored: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """Return the answering sentence, or if it is about another thing, the best sentence, row or field that names it.

    Args:
        things: Those that the question names.
        passage: The passage.
        lead: The answering sentence.
        scored: All sentences of the passage, best first.
    """
    wrong = [thing for thing in things if _has_another(_own(passage, lead), thing)]
    for span in scored if wrong else ():
        own = _own(passage, span)
        if all(_has(own, thing) for thing in wrong):
            return span
    return lead


def is_about_another(things: Sequence[Numbered], passage: StoredPassage, lead: tuple[int, int]) -> bool:
    """Whether a passage's answering sentence, row or record is about another thing than one of these.

    So it is if it, or what is above it, has the noun with another number, and has the number at most after other nouns;
    so is any sentence, if the whole passage has both so. The number may also be elsewhere in the passage, unless that
    consists of rows or records.
    """
    if not things:
        return False
    own = [*_above(passage), *_own(passage, lead)]
    everywhere = [*own, *_named(passage.text)]
    is_row = bool(_row(passage, lead))
    if any(_is_of_another_year(thing.code, passage, lead) for thing in things if thing.noun == _OF_YEAR):
        return True
    return any(
        not _has(own if is_row else everywhere, thing)
        and (
            (_has_another(own, thing) and not any(one.is_same(thing) for one in own if not one.noun))
            or (
                _has_another(everywhere, thing)
                and {bool(one.noun) for one in everywhere if one.is_same(thing)} == {True}
            )
        )
        for thing in things
        if thing.noun != _OF_YEAR
    )


def _is_of_another_year(year: str, passage: StoredPassage, lead: tuple[int, int]) -> bool:
    """Whether a sentence or row has another year, and what surrounds it lacks the one asked for, in whatever form."""
    sentence = _row(passage, lead) or passage.text[slice(*lead)]
    everywhere = f"{passage.document.path} {passage.title} {passage.context} {passage.text}"
    if _LASTS.search(sentence) or re.search(rf"(?<!\d)(?:{year[:2]})?{year[2:]}(?!\d)", everywhere):
        return False
    ranges = [(first, last) for first, last in _YEARS.findall(everywhere) if last]
    return bool(_YEARS.search(sentence)) and not any(
        first <= year <= (last if len(last) > 2 else first[:2] + last) for first, last in ranges
    )


def _has(named: Sequence[Numbered], thing: Numbered) -> bool:
    return any(one.noun == thing.noun and one.is_same(thing) for one in named)


def _has_another(named: Sequence[Numbered], thing: Numbered) -> bool:
    return not _has(named, thing) and any(one.is_other(thing) for one in named)


def _own(passage: StoredPassage, span: tuple[int, int]) -> list[Numbered]:
    """Return what a sentence, or the row or record that it is part of, names by number; an item is itself numbered.

    It is not if the headings name a step by number: the items then are parts of that.
    """
    named = _named(_row(passage, span) or passage.text[slice(*span)])
    marker = _MARKER.fullmatch(passage.text, passage.text.rfind("\n", 0, span[0]) + 1, span[0])
    if marker and not any(one.noun in _ITEMS for one in _above(passage)):
        named += [Numbered(noun, marker[1]) for noun in _ITEMS]
    return named


def _above(passage: StoredPassage) -> list[Numbered]:
    """Return what the path, the title and the headings of a passage name by number."""
    path = re.sub(r"[/_-]+", " ", str(PurePosixPath(passage.document.path).with_suffix("")))
    return _named("\n".join((path, passage.title, *passage.heading, passage.text[: passage.body])))


def row_at(passage: StoredPassage, at: int) -> list[tuple[str, tuple[int, int]]]:
    """Return the cells of the table's row at a character, each with the name of its column; none outside of a table."""
    for table in tables(passage.text, passage.context):
        for cells in table.rows:
            if cells[0][0] <= at < max(cells[-1][1], cells[0][0] + 1) and len(cells) == len(table.columns):
                return list(zip(table.columns, cells, strict=True))
    return []


def _row(passage: StoredPassage, lead: tuple[int, int]) -> str:
    """Return the row of a table, as "column: cell" lines, or the fields of the record around the lead; else ""."""
    text = passage.text
    if cells := row_at(passage, lead[0]):
        return "\n".join(f"{column}: {text[slice(*cell)]}" for column, cell in cells)
    end = text.find("\n\n", lead[1])
    lines = (
        text[max(text.rfind("\n\n", 0, lead[0]), passage.body, 0) : end if end >= 0 else len(text)].strip().split("\n")
    )
    return "\n".join(lines) if len(lines) > 1 and all(map(_FIELD.fullmatch, lines)) else ""


def _named(text: str) -> list[Numbered]:
    return [*_numbered(text), *_sided(text)]


def _sided(text: str) -> Iterator[Numbered]:
    """Yield what a text names by a side: "left eye" and "right eye" are two eyes, "left and right eye" is both.

    "Left of the budget" is no left budget.
    """
    for at in re.finditer(_SIDE, text, re.IGNORECASE):
        found = _SIDED.match(text, at.start())
        word = (found[2] or "").lower() if found else ""
        noun = next(iter(word_terms(word)), "") if word not in STOP_WORDS else ""
        side, beside = at[0].lower(), "of " if found and found[1] else ""
        yield Numbered(f"{beside}{noun} {_SIDES[side]}" if noun else "", side)


def _numbered(text: str, not_before: frozenset[str] = frozenset()) -> Iterator[Numbered]:
    """Yield the numbers, letters and codes in a text that are no dates, times or amounts, each with its noun."""
    dates = [(one.end - len(one.text), one.end) for one in dates_in(text)]
    noun, before, code_before, start, end, in_list = "", "", "", 0, 0, False
    for token in _TOKEN.finditer(text):
        word, gap = token[0], text[end : token.start()]
        if any(first <= token.start() < last for first, last in dates) or not _CODE.fullmatch(word):
            if word.lower() not in _LINKS:
                is_noun = _is_noun(word) and before not in not_before
                noun, start, in_list = next(iter(word_terms(word.lower())), "") if is_noun else "", token.start(), False
            before = word.lower()
        elif not (_TIME_OR_ORDINAL.fullmatch(word) or UNIT_BEHIND.match(text, token.end()) or gap[-1:] in tuple("€$£")):
            gap = gap.lstrip(".") if before in _LINKS else gap
            noun = noun if (_IN_LIST if in_list else _AFTER_NOUN).fullmatch(gap) else ""
            is_bound = bool(_BOUND_BEFORE.search(text, 0, start) or _BOUND_BEHIND.match(text, token.end()))
            code = _normal(word)
            is_range = in_list and (before in {"to", "through"} or gap.strip() in {"-", "–", "—"})
            for kind, short in ((noun, code), *((f"#{series[1]}", series[0]) for series in _SERIES.finditer(code))):
                if is_range and kind:
                    yield Numbered(kind, f"{code_before}-{short}")
                yield Numbered(kind, short, is_bound)
            in_list, before, code_before = True, word, code
        end = token.end()


def _is_noun(word: str) -> bool:
    small = word.lower()
    return len(word) > 2 and small not in STOP_WORDS and small not in _MEASURES and not _MONTH.fullmatch(word)


def _normal(code: str) -> str:
    return re.sub(r"(?<=[a-z])[-/](?=\d)|(?<![\d.])0+(?=\d)|(?:\.0)+$", "", code.lower().replace(",", ""))
