"""Lookups: codes, keywords and quoted words instead of a question, such as "TM-429 pressure".

A lookup is answered by a passage that has its terms together, whatever score the models give it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from corpus import lazy_pattern, sentence_spans
from corpus.formats import RECORDS
from index import STOP_WORDS, StoredPassage, terms, word_terms, words
from qa.language.dates import WrittenDate, dates_in
from qa.language.question_kinds import AUXILIARY, QUESTION_WORD
from qa.language.spans import Span

# Text in quotation marks, which must occur literally.
QUOTED = lazy_pattern(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`|(?<!\w)'[^']+'(?!\w)|(?<!\w)‘[^’]+’(?!\w)")
# A question has a question mark or word, or begins with a verb; question words of other languages are in few passages.
_ASKS = lazy_pattern(
    rf"[?？؟]|{QUESTION_WORD}|^\W*(?:{AUXILIARY}|describe|explain|discuss|compare|summari[sz]e|identify|tell|give)\b",
    re.IGNORECASE,
)
# A question for what happened on a date is a lookup of the date.
_HAPPENED = lazy_pattern(
    r"\W*what (?:happen(?:ed|s)|took place|was done|was|is|did (?:i|we) do) on (?:the )?(?P<date>.+?)\W*", re.IGNORECASE
)
# A code: has digits, or a mark inside, as in max_size, Consumer.poll, a@b.org.
_CODE = lazy_pattern(r"\d|\w(?:[_@\\=]|::)\w|[^\W\d]{3}\.[^\W\d]{2}")
# Codes that can also be written otherwise: short numbers, decimals, times, quantities, dates.
_LOOSE = lazy_pattern(
    r"\d{1,3}|[a-z]{4,}-\d\d?s?|\d+[.,:]\d+|[\d.,]+[^\W\d_]+\W*|\d{4}-\d{1,2}(?:-\d{1,2})?|(?:\d{1,2}[./-]){2}(?:\d\d){0,2}"
)
_QUANTITY = lazy_pattern(r"\d+(?:-[^\W\d_]{3,})+")
_JOINS = lazy_pattern(r",\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+", re.IGNORECASE)
_MOST_ITEMS_JOINED = 3
# With more items, the text is a statement.
_MAX_ITEMS = 10
_PHONE = lazy_pattern(r"(?=(?:\D?\d){7})\d+(?:(?:[-./]\d+){2,}|[-/]\d+)")
_NUMBER = lazy_pattern(r"\d{1,3}(?:,\d{3})+|\d{4,}")
_THOUSANDS = lazy_pattern(r"(?<=\d)(?=(?:\d{3})+$)")
_BETWEEN_THOUSANDS = "[,.'\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE} ]?"
_PIECES = lazy_pattern(r"(\d+|[^\W\d_]+)")
_HYPHENS = "-‐‑‒–−"
_OUTSIDE = lazy_pattern(r"^[\W_]+|[\W_]+$")
_WORD = lazy_pattern(r"\w+")
# Records are one field per line, except in a table of many short rows, which has one row per line.
_ROW_ON_LINE = lazy_pattern(r"Row \d+: ")
# Characters. A longer record has text in which words may be far apart.
_LONGEST_ROW = 600


class Match(NamedTuple):
    """Where a passage matches a lookup.

    Attributes:
        at: The first character of the match in the passage's text, after its headings; None if it is in those.
    """

    at: int | None


class _WordPart(NamedTuple):
    """A word, or part of a joined word: its terms, and its characters."""

    terms: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _LookupItem:
    """A word, date, code or quotation in a lookup.

    Attributes:
        stems: The terms of a word's parts, in order; () for an item that must occur literally.
        joined: The term of a joined word without its marks (email).
        pattern: Matches an item that must occur literally.
        is_loose: Whether a code can also be written in other ways.
        date: A date, which may be written in any form.
    """

    stems: tuple[str, ...] = ()
    joined: str | None = None
    pattern: re.Pattern[str] | None = None
    is_loose: bool = False
    date: WrittenDate | None = None

    def may_be_in(self, text: str, text_terms: set[str]) -> bool:
        """Whether the item may be in a text with these terms; cheap."""
        if self.date is not None:
            return bool(self.spans(text, ()))
        if self.pattern is not None:
            return self.pattern.search(text) is not None
        return text_terms.issuperset(self.stems) or self.joined in text_terms

    def spans(self, text: str, parts: Sequence[_WordPart]) -> list[Span]:
        """Return the spans of the item in a text."""
        if self.date is not None:
            return [date.span for date in dates_in(text) if date.is_same_day(self.date)]
        if self.pattern is not None:
            return [match.span() for match in self.pattern.finditer(text)]
        size = len(self.stems)
        spans = []
        for i, first in enumerate(parts):
            stems = tuple(term for part in parts[i : i + size] for term in part.terms)
            if stems == self.stems or self.joined in first.terms:
                spans.append((first.start, parts[i + size - 1].end if stems == self.stems else first.end))
        return spans


@dataclass(frozen=True, slots=True)
class Lookup:
    """The items to look up, or the lookups of which any is enough; see `lookup_of` and `lookup_of_any`."""

    items: tuple[_LookupItem, ...]
    alternatives: tuple[Lookup, ...] = ()
    _matches: dict[int, Match | None] = field(default_factory=dict)

    @property
    def is_date(self) -> bool:
        """Whether a date is looked up, and nothing else."""
        return len(self.items) == 1 and self.items[0].date is not None

    @property
    def is_of_words(self) -> bool:
        """Whether only words are looked up, no code, quotation or date, such as "date of the gala dinner"."""
        return not self.alternatives and not any(item.pattern or item.date for item in self.items)

    def match(self, passage: StoredPassage) -> Match | None:
        """Return how a passage, with its title, headings and path, has all items near each other; None if not."""
        if passage.id not in self._matches:
            self._matches[passage.id] = self._match(passage)
        return self._matches[passage.id]

    def rank(self, passage: StoredPassage) -> int:
        """Grade a passage: 2 if it matches, 1 if it is front matter that does, else 0."""
        return 0 if self.match(passage) is None else 2 - passage.is_front_matter

    def is_in(self, text: str) -> bool:
        """Whether a text has all items, anywhere."""
        if self.alternatives:
            return any(it.is_in(text) for it in self.alternatives)
        text_terms = {term for several in terms(text) for term in several}
        return all(item.may_be_in(text, text_terms) for item in self.items)

    def has_code_of(self, passage: StoredPassage) -> bool:
        """Whether a passage matches, and the lookup includes a code, quotation or date."""
        return any(item.pattern or item.date for item in self.items) and self.match(passage) is not None

    def is_nowhere(self, passages: Iterable[StoredPassage]) -> bool:
        """Whether some item that must occur literally is in none of the passages."""
        missing = {item.pattern for item in self.items if item.pattern is not None and not item.is_loose}
        for passage in passages:
            text = f"{passage.document.path}\n{passage.context}\n{passage.text}"
            missing = {pattern for pattern in missing if not pattern.search(text)}
        return bool(missing)

    def _match(self, passage: StoredPassage) -> Match | None:
        if self.alternatives:
            return next((match for it in self.alternatives if (match := it.match(passage)) is not None), None)
        path = f"{passage.document.path.replace('/', ' ')}\n"
        prefix = f"{path}{passage.context}\n"
        text = prefix + passage.text
        if not self.is_in(text):
            return None
        parts = [
            _WordPart(tuple(word_terms(part.text)), part.start, part.end)
            for word in words(text)
            for part in word.parts or (word,)
        ]
        spans = [item.spans(text, parts) for item in self.items]
        body = len(prefix) + passage.body
        # A date names a note, as a title does; other words in a path alone do not count.
        is_dated = any(item.date is not None and item.spans(path, ()) for item in self.items)
        title = 0 if is_dated else len(path)
        match = _together(_rows(text, body), spans, body, title)
        if match is None and _is_row(passage):
            match = _together([((body, len(text)), (body, body))], spans, body, title)
        return match if match is None or match.at is None else Match(match.at - len(prefix))


def lookup_of(question: str) -> Lookup | None:
    """Return the lookup that a text asks for; None for a question, or a text without items.

    Quoted words and codes (TM-429, 2.3.1, max_size) must occur literally, except for case, hyphens and line breaks;
    dates and other words match in any form. Stop words count only in quotation marks. A question for what happened on a
    date, and nothing else, is a lookup of the date.
    """
    happened = _HAPPENED.fullmatch(question)
    if happened and [date.text for date in dates_in(happened["date"])] == [happened["date"]]:
        question = happened["date"]
    items: list[_LookupItem] = []
    at = 0
    for quoted in QUOTED.finditer(question):
        items += _items(question[at : quoted.start()])
        if phrase := _WORD.findall(quoted[0]):
            pattern = _pattern(r"\W+".join(map(re.escape, phrase)), phrase[0], phrase[-1])
            items.append(_LookupItem(pattern=pattern))
        at = quoted.end()
    items += _items(question[at:])
    is_lookup = 0 < len(items) <= _MAX_ITEMS and not _ASKS.search(QUOTED.sub(" ", question))
    return Lookup(tuple(dict.fromkeys(items))) if is_lookup else None


def lookup_of_any(topic: str) -> Lookup | None:
    """Return the lookup of any of the things that a topic joins: "eels, newts or frogs"; None if a part is a clause."""
    alternatives = [lookup_of(part) for part in _JOINS.split(topic)]
    things = tuple(it for it in alternatives if it is not None and len(it.items) <= _MOST_ITEMS_JOINED)
    return Lookup((), things) if len(things) == len(alternatives) > 1 else None


def _items(text: str) -> Iterator[_LookupItem]:
    at = 0
    for date in dates_in(text):
        yield from _words(text[at : date.span[0]])
        yield _LookupItem(date=date)
        at = date.span[1]
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
    """Compile a pattern that matches at word boundaries; letters of scripts without blanks may surround it."""
    before, after = (r"(?<![A-Za-z0-9_])" if first.isascii() else "", r"(?![A-Za-z0-9_])" if last.isascii() else "")
    return re.compile(before + inside + after, re.IGNORECASE)


def _as_written(code: str) -> str:
    """Return a code's pattern: any hyphens, optional between letters and digits (TM429); any thousands separators.

    A telephone number may have any marks or blanks between its groups.
    """
    if _NUMBER.fullmatch(code):
        return _THOUSANDS.sub(_BETWEEN_THOUSANDS, code.replace(",", ""))
    if _PHONE.fullmatch(code):
        return f"[{_HYPHENS}./() ]{{0,3}}".join(re.findall(r"\d+", code))
    pieces = _PIECES.split(code)[1:-1]
    patterns = []
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            patterns.append(re.escape(piece))
            continue
        is_optional = pieces[i - 1].isdigit() != pieces[i + 1].isdigit()
        hyphen = f"[{_HYPHENS}]"
        mark = hyphen if piece and piece in _HYPHENS else re.escape(piece)
        patterns.append(f"(?:{mark}|{hyphen}| )?" if is_optional and len(piece) < 2 else mark)
    return "".join(patterns)


def _is_row(passage: StoredPassage) -> bool:
    """Whether a passage is one row of a table, or a JSON object as short as one."""
    is_short = len(passage.text) - passage.body <= _LONGEST_ROW
    return passage.document.media_type in RECORDS and is_short and not _ROW_ON_LINE.match(passage.text, passage.body)


def _together(
    rows: Iterable[tuple[Span, Span]], item_spans: Sequence[Sequence[Span]], body: int, context: int
) -> Match | None:
    """Return the match in the sentence or row with the most items, if the headings or header row have the others."""
    best: tuple[int, int] | None = None
    for row, header in rows:
        in_row = [next((at for at, end in spans if row[0] <= at and end <= row[1]), None) for spans in item_spans]
        is_above = [any(end <= body or header[0] <= at < header[1] for at, end in spans) for spans in item_spans]
        inside = [at for at in in_row if at is not None]
        if inside and all(at is not None or has for at, has in zip(in_row, is_above, strict=True)):
            best = max(best or (0, 0), (len(inside), -min(inside)))
    if best is not None:
        return Match(-best[1])
    in_context = [[span for span in spans if span[1] <= body] for spans in item_spans]
    named = any(span[0] >= context for spans in in_context for span in spans)
    return Match(None) if named and all(in_context) else None


def _rows(text: str, body: int) -> Iterator[tuple[Span, Span]]:
    """Yield the sentences from character `body` on, tables cut into rows, each with the table's first row."""
    for start, end in sentence_spans(text, body):
        is_table = not {"|", "\t"}.isdisjoint(text[start:end])
        breaks = [start - 1, *(at for at in range(start, end) if is_table and text[at] == "\n"), end]
        rows = [(before + 1, after) for before, after in pairwise(breaks)]
        yield from ((row, rows[0]) for row in rows)
