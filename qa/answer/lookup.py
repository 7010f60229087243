"""Lookups: codes, keywords and quoted words instead of a question, and the passages in which they stand together.

What a person looks up is answered by the passage that has it, whatever a model of questions and answers thinks of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from corpus import sentence_spans
from index import STOP_WORDS, StoredPassage, terms, word_terms, words
from qa.answer.dates import WrittenDate, dates_in

# What is between quotation marks is meant as it is written.
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`|(?<!\w)'[^']+'(?!\w)|(?<!\w)‘[^’]+’(?!\w)")
# A question has a mark, or a word that asks, or begins with a verb: those of other languages stand in few passages.
_ASKS = re.compile(
    r"[?？؟]|\b(?:who|whom|whose|what|when|where|why|which|how)\b"
    r"|^\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
    r"|describe|explain|discuss|compare|summari[sz]e|identify|tell|give)\b",
    re.IGNORECASE,
)
# Asked of nothing but a date, a question looks that up.
_HAPPENED = re.compile(
    r"\W*what (?:happen(?:ed|s)|took place|was done|was|is) on (?:the )?(?P<date>.+?)\W*", re.IGNORECASE
)
# What prose does not write in words: digits, or a mark inside, as in max_size, Consumer.poll, a@b.org.
_CODE = re.compile(r"\d|\w(?:[_@\\=]|::)\w|[^\W\d]{3}\.[^\W\d]{2}")
# Codes that are written in other ways as well: short numbers, decimals, times, quantities, dates.
_LOOSE = re.compile(
    r"\d{1,3}|[a-z]{4,}-\d\d?s?|\d+[.,:]\d+|[\d.,]+[^\W\d_]+\W*|\d{4}-\d{1,2}(?:-\d{1,2})?|(?:\d{1,2}[./-]){2}(?:\d\d){0,2}"
)
_QUANTITY = re.compile(r"\d+(?:-[^\W\d_]{3,})+")
# With more it is a statement.
_MAX_UNITS = 10
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d{4,}")
_THOUSANDS = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")
_BETWEEN_THOUSANDS = "[,.'\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE} ]?"
_PIECES = re.compile(r"(\d+|[^\W\d_]+)")
_HYPHENS = "-‐‑‒–−"
_OUTSIDE = re.compile(r"^[\W_]+|[\W_]+$")
_WORD = re.compile(r"\w+")
# Between sentences, paragraphs and cells.
_BREAK = re.compile(r"[.!?…。|\t]|\n\s*\n")

Span = tuple[int, int]


class Match(NamedTuple):
    """Where a passage has what is looked up.

    Attributes:
        at: The first character of it in the passage's text, behind its headings; None where it stands in those.
        is_phrase: All of it, in order, with nothing but stop words between.
    """

    at: int | None
    is_phrase: bool = False


class _WordPart(NamedTuple):
    """A word, or part of a joined one: its terms, and its characters."""

    terms: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _LookupItem:
    """What stands between blanks, or quotation marks, in a lookup.

    Attributes:
        stems: Of a word the terms of its parts, in order; () of what is meant as it is written.
        joined: Of a joined word the term that it has without its marks (email).
        pattern: Of what is meant as it is written.
        is_loose: Whether it may be written in other ways as well.
        date: Of a date, which may be written in any form.
    """

    stems: tuple[str, ...] = ()
    joined: str | None = None
    pattern: re.Pattern[str] | None = None
    is_loose: bool = False
    date: WrittenDate | None = None

    def may_be_in(self, text: str, known: set[str]) -> bool:
        """Whether it may be in a text with these terms; cheap."""
        if self.date is not None:
            return bool(self.spans(text, ()))
        if self.pattern is not None:
            return self.pattern.search(text) is not None
        return known.issuperset(self.stems) or self.joined in known

    def spans(self, text: str, parts: Sequence[_WordPart]) -> list[Span]:
        """Where it stands in a text."""
        if self.date is not None:
            return [(one.end - len(one.text), one.end) for one in dates_in(text) if one.is_day_of(self.date)]
        if self.pattern is not None:
            return [match.span() for match in self.pattern.finditer(text)]
        size = len(self.stems)
        found = []
        for i, one in enumerate(parts):
            own = tuple(term for part in parts[i : i + size] for term in part.terms)
            if own == self.stems or self.joined in one.terms:
                found.append((one.start, parts[i + size - 1].end if own == self.stems else one.end))
        return found


@dataclass(frozen=True, slots=True)
class Lookup:
    """What is looked up; see `lookup_of`."""

    units: tuple[_LookupItem, ...]
    _matches: dict[int, Match | None] = field(default_factory=dict)

    def match(self, passage: StoredPassage) -> Match | None:
        """How a passage, with its titles, headings and path, has all of it near each other; None if it has not."""
        if passage.id not in self._matches:
            self._matches[passage.id] = self._match(passage)
        return self._matches[passage.id]

    def rank(self, passage: StoredPassage) -> int:
        """How well a passage has it: 3 as one phrase, 2 near each other, 1 in front matter, else 0."""
        match = self.match(passage)
        return int(match is not None) if match is None or passage.is_front_matter else 2 + match.is_phrase

    def is_in(self, text: str) -> bool:
        """Whether a text by itself has all of it, anywhere."""
        known = {term for several in terms(text) for term in several}
        return all(unit.may_be_in(text, known) for unit in self.units)

    def has_code_of(self, passage: StoredPassage) -> bool:
        """Whether a passage has all that is looked up, and this includes a code."""
        return any(unit.pattern or unit.date for unit in self.units) and self.match(passage) is not None

    def is_nowhere(self, passages: Iterable[StoredPassage]) -> bool:
        """Whether something that is meant as it is written is in none of some passages."""
        missing = {unit.pattern for unit in self.units if unit.pattern is not None and not unit.is_loose}
        for one in passages:
            text = f"{one.document.path}\n{one.context}\n{one.text}"
            missing = {pattern for pattern in missing if not pattern.search(text)}
        return bool(missing)

    def _match(self, passage: StoredPassage) -> Match | None:
        path = f"{passage.document.path}\n"
        above = f"{path}{passage.context}\n"
        text = above + passage.text
        if not self.is_in(text):
            return None
        parts = [
            _WordPart(tuple(word_terms(part.text)), part.start, part.end)
            for word in words(text)
            for part in word.parts or (word,)
        ]
        found = [unit.spans(text, parts) for unit in self.units]
        body = len(above) + passage.body
        phrase = _in_order(text, found, len(path), body)
        if phrase is not None:
            return Match(phrase - len(above) if phrase >= body else None, is_phrase=True)
        match = _together(text, found, body, len(path))
        return match if match is None or match.at is None else Match(match.at - len(above))


def lookup_of(question: str) -> Lookup | None:
    """Return what is looked up by words that are no question; None of a question, or where nothing is told.

    Quoted words and codes (TM-429, 2.3.1, max_size) must stand as they are written, but for case, hyphens and breaks
    of lines; dates and other words in any form. Stop words count in quotation marks only. What happened on a date, and
    no more, is a lookup of the date.
    """
    happened = _HAPPENED.fullmatch(question)
    if happened and [one.text for one in dates_in(happened["date"])] == [happened["date"]]:
        question = happened["date"]
    units: list[_LookupItem] = []
    at = 0
    for quoted in QUOTED.finditer(question):
        units += _units(question[at : quoted.start()])
        phrase = _WORD.findall(quoted[0])
        units += (
            [_LookupItem(pattern=_pattern(r"\W+".join(map(re.escape, phrase)), phrase[0], phrase[-1]))]
            if phrase
            else []
        )
        at = quoted.end()
    units += _units(question[at:])
    is_lookup = 0 < len(units) <= _MAX_UNITS and not _ASKS.search(QUOTED.sub(" ", question))
    return Lookup(tuple(dict.fromkeys(units))) if is_lookup else None


def _units(text: str) -> Iterator[_LookupItem]:
    at = 0
    for date in dates_in(text):
        yield from _words(text[at : date.end - len(date.text)])
        yield _LookupItem(date=date)
        at = date.end
    yield from _words(text[at:])


def _words(text: str) -> Iterator[_LookupItem]:
    for chunk in text.split():
        bare = _OUTSIDE.sub("", chunk)
        if bare.lower() in STOP_WORDS:
            continue
        parts = [part.text for word in words(bare) for part in word.parts or (word,)]
        stems = tuple(term for part in parts for term in word_terms(part))
        if len(stems) != len(parts) or (_CODE.search(bare) and not _QUANTITY.fullmatch(bare)):
            pattern = _pattern(_as_written(bare), bare[0], bare[-1])
            yield _LookupItem(pattern=pattern, is_loose=_LOOSE.fullmatch(bare) is not None)
        elif stems:
            yield _LookupItem(stems, word_terms("".join(parts))[0] if len(parts) > 1 else None)


def _pattern(inside: str, first: str, last: str) -> re.Pattern[str]:
    """What begins and ends where a word does; letters of scripts without blanks may be around it."""
    before, after = (r"(?<![A-Za-z0-9_])" if first.isascii() else "", r"(?![A-Za-z0-9_])" if last.isascii() else "")
    return re.compile(before + inside + after, re.IGNORECASE)


def _as_written(code: str) -> str:
    """The pattern of a code: hyphens of any kind, and none between letters and digits (TM429); thousands apart."""
    if _NUMBER.fullmatch(code):
        return _THOUSANDS.sub(_BETWEEN_THOUSANDS, code.replace(",", ""))
    pieces = _PIECES.split(code)[1:-1]
    found = []
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            found.append(re.escape(piece))
            continue
        either = pieces[i - 1].isdigit() != pieces[i + 1].isdigit()
        hyphen = f"[{_HYPHENS}]"
        mark = hyphen if piece and piece in _HYPHENS else re.escape(piece)
        found.append(f"(?:{mark}|{hyphen}| )?" if either and len(piece) < 2 else mark)
    return "".join(found)


def _in_order(text: str, found: Sequence[Sequence[Span]], first: int, body: int) -> int | None:
    """Where all units stand in order with nothing but stop words between: behind `body`, else behind `first`."""
    starts = [start for start, end in found[0] if start >= first and _goes_on(text, end, found[1:])]
    return next((start for start in starts if start >= body), starts[0] if starts else None)


def _goes_on(text: str, end: int, found: Sequence[Sequence[Span]]) -> bool:
    for spans in found:
        following = next((span for span in spans if span[0] >= end), None)
        between = "" if following is None else text[end : following[0]].lower()
        if following is None or _BREAK.search(between) or not STOP_WORDS.issuperset(_WORD.findall(between)):
            return False
        end = following[1]
    return True


def _together(text: str, found: Sequence[Sequence[Span]], body: int, context: int) -> Match | None:
    """The sentence or row that has most units, if what stands above it has the others."""
    best: tuple[int, int] | None = None
    for row, header in _rows(text, body):
        there = [next((at for at, end in spans if row[0] <= at and end <= row[1]), None) for spans in found]
        above = [any(end <= body or header[0] <= at < header[1] for at, end in spans) for spans in found]
        inside = [at for at in there if at is not None]
        if inside and all(at is not None or over for at, over in zip(there, above, strict=True)):
            best = max(best or (0, 0), (len(inside), -min(inside)))
    if best is not None:
        return Match(-best[1])
    in_context = [[span for span in spans if span[1] <= body] for spans in found]
    named = any(span[0] >= context for spans in in_context for span in spans)
    return Match(None) if named and all(in_context) else None


def _rows(text: str, body: int) -> Iterator[tuple[Span, Span]]:
    """Sentences behind a character, those of a table cut into rows, each with the table's first row."""
    for start, end in sentence_spans(text, body):
        is_table = not {"|", "\t"}.isdisjoint(text[start:end])
        breaks = [start - 1, *(at for at in range(start, end) if is_table and text[at] == "\n"), end]
        rows = [(first + 1, last) for first, last in pairwise(breaks)]
        yield from ((row, rows[0]) for row in rows)
