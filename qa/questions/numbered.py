"""Items that a question names by a number, letter or code, a side or a year: "box 123", "annex C", "the left eye".

A sentence about another item, such as "shelf 123 holds box 369", looks much like an answer, but is not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from corpus import lazy_pattern
from index import STOP_WORDS, StoredPassage, word_terms
from qa.language.dates import dates_in
from qa.language.spans import Span, line_start, paragraph_around
from qa.language.values import MONTH
from qa.structure.tables import tables

_TOKEN = lazy_pattern(r"[^\W_]+(?:(?:[.:/'’-]|,(?=\d{3}(?!\d)))[^\W_]+)*")
# A letter is a code only as a capital, but not "I".
_CODE = lazy_pattern(r"(?=\D{0,5}\d)[^\W_].*|[A-HJ-Z](?:-[A-Z])?")
_TIME_OR_ORDINAL = lazy_pattern(r"\d+:.*|\d+(?:st|nd|rd|th|s)", re.IGNORECASE)
_YEAR = lazy_pattern(r"(?:19|20)\d\d")
_RANGE = lazy_pattern(r"([a-z]*?|(?:\d+\.)+|\d+(?=[a-z]))(\d+|[a-z])-\1(\d+|[a-z])")
# The end of a code whose letters name the kind of item: C05, S-011, disk NKD-X18.
_SERIES = lazy_pattern(r"\b([a-z]{1,4})\d{1,4}$")
# Between a noun and its number, and between two numbers of a list or range.
_AFTER_NOUN = lazy_pattern(r"[ \t]*[:=#(\[*_`\"“]*[ \t#*_`\"“.]*")
_IN_LIST = lazy_pattern(r"\s?[,;/&–—-]?\s?")
_TO = frozenset({"to", "through", "till", "until"})
_LINKS = _TO | {"no", "nr", "num", "number", "numbers", "id", "code", "and", "or"}
# Roman numerals are read as numbers after the stems of these nouns.
_ROMAN = {
    roman: str(number)
    for number, roman in enumerate(("II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"), start=2)
}
_NUMBERED_IN_ROMAN = frozenset({"annex", "articl", "chapter", "part", "section"})
# Words that make the number after them an amount: "weighs 5", "the last 3 days".
_MEASURES = frozenset({
    "about", "age", "aged", "almost", "another", "approximately", "around", "charge", "charged", "charges", "cost",
    "costs", "earn", "earns", "every", "exactly", "first", "get", "gets", "hold", "holds", "last", "lasts", "least",
    "maximum", "minimum", "nearly", "need", "needs", "next", "past", "pay", "pays", "per", "plus", "roughly", "spend",
    "take", "takes", "times", "took", "top", "weigh", "weighs", "within",
})  # fmt: skip
UNIT_AFTER = lazy_pattern(
    r"[^\S\n]?(?:[%°€$£²³]|(?:percent|per cent|euros?|dollars?|pounds?|eur|usd|gbp|chf|[kmc]?m|km/h|[km]?g|lbs?|oz"
    r"|[mk]?[wl]|kwh|kb|mb|gb|tb|seconds?|minutes?|min|hours?|h|days?|nights?|weeks?|months?|years?|met(?:er|re)s?|people"
    r"|persons|am|pm)\b)",
    re.IGNORECASE,
)
_MONTH = lazy_pattern(MONTH)
# After these, the word before the number is a verb: "may I bring 3 guests?"
_DOERS = frozenset({"he", "i", "it", "not", "she", "they", "to", "we", "who", "you"})
_BOUND_BEFORE = lazy_pattern(
    r"\b(?:since|from|until|before|after|up to|at (?:least|most)|than|minimum(?: of)?)\s(?:the\s)?$", re.IGNORECASE
)
_BOUND_BEHIND = lazy_pattern(
    r"\+|,?\s\(?(?:or|and) (?:any )?(?:later|newer|higher|above|older|earlier|below|up)\b|\s(?:onwards?|minimum)\b",
    re.IGNORECASE,
)
# The marker of an item of a numbered list, and the stems of nouns for such an item.
_MARKER = lazy_pattern(r"\s*\(?(\d{1,2})[.)]\s+")
_ITEMS = ("item", "point", "rule", "step")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL_ITEM = lazy_pattern(rf"\b(?P<ordinal>{'|'.join(_ORDINALS)}) (?P<noun>{'|'.join(_ITEMS)})\b", re.IGNORECASE)
# The number of an entry in a register, perhaps after a noun: "Breach 3: ", "#3 ", "No. 3   ".
_ENTRY = lazy_pattern(
    r"^[ \t]*(?:[-*•][ \t]+)?(?P<form>(?:(?P<noun>[^\W\d_]{3,})[ \t]+)?(?:(?:no|nr)\.?[ \t]*|#)?)(?P<number>\d{1,4})"
    r"(?:[.:)]|[ \t]{2,}|(?<=#\d)|(?<=#\d\d)|[ \t]+[-–])[ \t]*(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_LEAST_ENTRIES = 3
# After its noun, what a list of items is called: "breach register".
_LIST = r"(?:book|index|list|log|record|register|table)"
_FIELD = lazy_pattern(r"[^\s:|\d][^\n:|\d]{0,39}:[ \t].*")
# Words that exclude each other: "left eye", "rear tyre", "winter timetable".
_PAIRS = (
    ("left", "right"), ("front", "rear", "back"), ("upper", "lower"), ("inner", "outer"), ("indoor", "outdoor"),
    ("upstairs", "downstairs"), ("summer", "winter"), ("hot", "cold"), ("north", "south", "east", "west"),
    ("large", "small"), ("first", "second", "third"),
)  # fmt: skip
_SIDES = {side: "/".join(pair) for pair in _PAIRS for side in pair}
_SIDE = rf"\b(?:{'|'.join(_SIDES)})\b"
_SIDED = lazy_pattern(
    rf"{_SIDE}(?:(?:\s?(?:,|/|&|and|or)\s?{_SIDE})?\s(of\sthe\s)?(?!ones?\b)([^\W\d_]{{3,}}))?", re.IGNORECASE
)
# The noun of a year, which needs no word beside it.
_OF_YEAR = "#year"
# A year, or a range: "2023-25", "2012 to 2018", "between 2012 and 2018", "03/2017 - 06/2021", "May 2017 - present".
_YEARS = lazy_pattern(
    r"(?<!\d)((?:19|20)\d\d)(?:(?:\s?[-–—/]\s?|(?:\s(?:to|until|till|through)|(?<=[Bb]etween\s\d{4})\sand)\s"
    rf"(?!\d\d?(?![\d./])))(?:{MONTH}\.?\s|\d\d?[./])?((?:19|20)?\d\d|(?i:present|today|now)\b))?(?!\d)"
)
# Words for what lasts beyond its year: what is true since or until a date, and what has changed, begun or been bought.
_LASTS = lazy_pattern(
    r"\b(?:since|from|until|till|before|after|than|by|as of|always|valid|rais|lower|increas|reduc|chang|introduc|adopt"
    r"|agree|decid|approv|set|new|built|found|open|join|elect|appoint|hire|mov|bought|install|sign|start|began|beg[iu]n"
    r"|born|renew|replac|correct|updat|publish|issu|warrant|guarant|next)",
    re.IGNORECASE,
)


class NumberedItem(NamedTuple):
    """An item named by a number, letter or code: box 123.

    Attributes:
        noun: The stem of the noun before the number; "" if there is none. A code such as C05 also gives "#c".
        code: The number in lower case; two numbers if it is a range.
        is_bound: Whether it is a bound, as in "since version 2".
    """

    noun: str
    code: str
    is_bound: bool = False

    def is_same(self, other: NumberedItem) -> bool:
        """Whether this number equals, is part of or includes another: 2.1.3 is part of 2.1, and 5 to 9 includes 7."""
        if f"{self.code}.".startswith(f"{other.code}.") or other.code in self.code.split("/"):
            return True
        ends = _RANGE.fullmatch(self.code)
        if ends is None or not (ends[1].isalpha() or other.code.startswith(ends[1])):
            return False
        return _are_in_order(ends[2], other.code.removeprefix(ends[1]), ends[3])

    def is_other(self, other: NumberedItem) -> bool:
        """Whether this clearly is another item with the same noun; 7 may be 7.2, and years number no other items."""
        is_alike = bool(_YEAR.fullmatch(self.code)) == bool(_YEAR.fullmatch(other.code))
        is_part = f"{other.code}.".startswith(f"{self.code}.")
        return self.noun == other.noun and is_alike and not (self.is_bound or is_part or self.is_same(other))


def _are_in_order(*codes: str) -> bool:
    """Whether numbers, or single letters, are in order."""
    if all(map(str.isdecimal, codes)):
        return sorted(codes, key=int) == list(codes)
    return all(len(code) == 1 and code.isalpha() for code in codes) and sorted(codes) == list(codes)


def numbered_items_in(question: str) -> list[NumberedItem]:
    """Return the items that a question names by number, but not amounts, as in "may I bring 3 guests?"."""
    named = [*_numbered_items(question, _DOERS), *_sided_items(question)]
    ordinals = _ORDINAL_ITEM.finditer(question)
    named += [NumberedItem(it["noun"].lower(), str(_ORDINALS.index(it["ordinal"].lower()) + 1)) for it in ordinals]
    years = _YEARS.findall(question)
    if len(years) == 1 and not years[0][1] and not _LASTS.search(question):
        named.append(NumberedItem(_OF_YEAR, years[0][0]))
    return [item for item in named if item.noun and not item.is_bound]


def prefer_span_about_items(
    items: Sequence[NumberedItem], passage: StoredPassage, answer_span: Span, scored: Sequence[Span]
) -> Span:
    """Return the answering sentence, or if it is about another item, the best sentence, row or field about these.

    Args:
        items: The items that the question names.
        passage: The passage.
        answer_span: The answering sentence.
        scored: All sentences of the passage, best first.
    """
    for first, last in (entry for item in items if (entry := _entry_of(item, passage))):
        return next((span for span in scored if first <= span[0] and span[1] <= last), answer_span)
    named = _items_of_span(passage, answer_span) if items else []
    missing = [item for item in items if _has_other_item(named, item)]
    for span in scored if missing else ():
        span_items = _items_of_span(passage, span)
        if all(_has_item(span_items, item) for item in missing):
            return span
    return answer_span


def _entry_of(item: NumberedItem, passage: StoredPassage) -> Span | None:
    """Return the entry of a numbered register for an item: "Breach 3: ...", or "3. ..." below "Breaches"."""
    entries = list(_ENTRY.finditer(passage.text, passage.body))
    forms = Counter(entry["form"].lower() for entry in entries)
    around = f"{passage.document.path} {passage.title} {passage.context} {passage.text[: passage.body]}"
    is_register = re.search(rf"\b{re.escape(item.noun)}(?:\w*s\b|\w*\W+{_LIST})", around, re.IGNORECASE) is not None
    found = [
        at
        for at, entry in enumerate(entries)
        if entry["number"].lstrip("0") == item.code and forms[entry["form"].lower()] >= _LEAST_ENTRIES
        if (item.noun in word_terms(entry["noun"].lower()) if entry["noun"] else is_register)
    ]
    if len(found) != 1:
        return None
    at = found[0]
    return entries[at].start(), entries[at + 1].start() if at + 1 < len(entries) else len(passage.text)


def is_about_other_item(items: Sequence[NumberedItem], passage: StoredPassage, answer_span: Span) -> bool:
    """Whether a passage's answering sentence, row or record is about another item than one that the question names.

    It is if it or its headings have the noun with another number, and the number at most after other nouns, or if that
    holds for the whole passage. It is not if the item is named elsewhere in the passage, unless the answer is a row.
    """
    if not items:
        return False
    nearby = [*_items_in_headings(passage), *_items_of_span(passage, answer_span)]
    everywhere = [*nearby, *_items_in(passage.text)]
    is_row = bool(_row_text(passage, answer_span))
    if any(_is_of_other_year(item.code, passage, answer_span) for item in items if item.noun == _OF_YEAR):
        return True
    for item in (item for item in items if item.noun != _OF_YEAR):
        nouns_nearby = {named.noun for named in nearby if named.is_same(item)}
        nouns = {named.noun for named in everywhere if named.is_same(item)}
        is_other = _has_other_item(nearby, item) and "" not in nouns_nearby
        is_other = is_other or (_has_other_item(everywhere, item) and bool(nouns) and "" not in nouns)
        if is_other and not _has_item(nearby if is_row else everywhere, item):
            return True
    return False


def _is_of_other_year(year: str, passage: StoredPassage, answer_span: Span) -> bool:
    """Whether a sentence or row has another year, and the passage and its origin nowhere have the one asked for."""
    sentence = _row_text(passage, answer_span) or passage.text[slice(*answer_span)]
    everywhere = f"{passage.document.path} {passage.title} {passage.context} {passage.text}"
    if _LASTS.search(sentence) or re.search(rf"(?<!\d)(?:{year[:2]})?{year[2:]}(?!\d)", everywhere):
        return False
    ranges = [(first, last) for first, last in _YEARS.findall(everywhere) if last]
    return bool(_YEARS.search(sentence)) and not any(
        first <= year <= (last if len(last) > 2 else first[:2] + last) for first, last in ranges
    )


def _has_item(items: Sequence[NumberedItem], item: NumberedItem) -> bool:
    return any(named.noun == item.noun and named.is_same(item) for named in items)


def _has_other_item(items: Sequence[NumberedItem], item: NumberedItem) -> bool:
    return not _has_item(items, item) and any(named.is_other(item) for named in items)


def _items_of_span(passage: StoredPassage, span: Span) -> list[NumberedItem]:
    """Return the items that a sentence names, or the row or record around it; including itself, if it is an item.

    Below the heading of a numbered step it is not, but a part of that.
    """
    named = _items_in(_row_text(passage, span) or passage.text[slice(*span)])
    marker = _MARKER.fullmatch(passage.text, line_start(passage.text, span[0]), span[0])
    if marker and not any(item.noun in _ITEMS for item in _items_in_headings(passage)):
        named += [NumberedItem(noun, marker[1]) for noun in _ITEMS]
    return named


def _items_in_headings(passage: StoredPassage) -> list[NumberedItem]:
    """Return the items that the path, the title and the headings of a passage name."""
    path = re.sub(r"[/_-]+", " ", str(PurePosixPath(passage.document.path).with_suffix("")))
    return _items_in("\n".join((path, passage.title, *passage.heading, passage.text[: passage.body])))


def cells_at(passage: StoredPassage, at: int) -> list[tuple[str, Span]]:
    """Return the cells of the table's row at a character, each with the name of its column; none outside of a table."""
    for table in tables(passage.text, passage.context):
        for cells in table.rows:
            if cells[0][0] <= at < max(cells[-1][1], cells[0][0] + 1) and len(cells) == len(table.columns):
                return list(zip(table.columns, cells, strict=True))
    return []


def _row_text(passage: StoredPassage, answer_span: Span) -> str:
    """Return the row of a table around a sentence, as "column: cell" lines, or the fields of its record; else ""."""
    text = passage.text
    if cells := cells_at(passage, answer_span[0]):
        return "\n".join(f"{column}: {text[slice(*cell)]}" for column, cell in cells)
    lines = text[slice(*paragraph_around(text, answer_span, passage.body))].strip().split("\n")
    return "\n".join(lines) if len(lines) > 1 and all(map(_FIELD.fullmatch, lines)) else ""


def _items_in(text: str) -> list[NumberedItem]:
    return [*_numbered_items(text), *_sided_items(text)]


def _sided_items(text: str) -> Iterator[NumberedItem]:
    """Yield the items that a text names by a side: "left eye"; "left and right eye" gives both.

    "Left of the budget" does not name a left budget.
    """
    for side_match in re.finditer(_SIDE, text, re.IGNORECASE):
        match = _SIDED.match(text, side_match.start())
        word = (match[2] or "").lower() if match else ""
        noun = next(iter(word_terms(word)), "") if word not in STOP_WORDS else ""
        side, beside = side_match[0].lower(), "of " if match and match[1] else ""
        yield NumberedItem(f"{beside}{noun} {_SIDES[side]}" if noun else "", side)


def _numbered_items(text: str, not_before: frozenset[str] = frozenset()) -> Iterator[NumberedItem]:
    """Yield the items of a text that are numbers, letters and codes, but not dates, times or amounts."""
    dates = [date.span for date in dates_in(text)]
    # The noun of the next number, where it begins, and the number before that in a list; the last word, and its end.
    noun, start, code_before, before, end = "", 0, "", "", 0
    for token in _TOKEN.finditer(text):
        word, gap, end = token[0], text[end : token.start()], token.end()
        word = _ROMAN.get(word, word) if noun in _NUMBERED_IN_ROMAN else word
        if any(first <= token.start() < last for first, last in dates) or not _CODE.fullmatch(word):
            if code_before and before in _TO and noun in word_terms(word.lower()):
                continue  # as in "day 1 to day 7"
            if word.lower() not in _LINKS:
                is_noun = _is_noun(word) and before not in not_before
                noun, start = next(iter(word_terms(word.lower())), "") if is_noun else "", token.start()
                code_before = ""
            before = word.lower()
        elif not (_TIME_OR_ORDINAL.fullmatch(word) or UNIT_AFTER.match(text, end) or gap[-1:] in tuple("€$£")):
            gap = gap.lstrip(".") if before in _LINKS else gap
            noun = noun if (_IN_LIST if code_before else _AFTER_NOUN).fullmatch(gap) else ""
            is_bound = bool(_BOUND_BEFORE.search(text, 0, start) or _BOUND_BEHIND.match(text, end))
            is_range = code_before and (before in _TO or gap.strip() in {"-", "–", "—"})
            code = _normalise_code(word)
            for kind, short in ((noun, code), *((f"#{series[1]}", series[0]) for series in _SERIES.finditer(code))):
                if is_range and kind:
                    yield NumberedItem(kind, f"{code_before}-{short}")
                yield NumberedItem(kind, short, is_bound)
            before, code_before = word, code


def _is_noun(word: str) -> bool:
    small = word.lower()
    return len(word) > 2 and small not in STOP_WORDS and small not in _MEASURES and not _MONTH.fullmatch(word)


def _normalise_code(code: str) -> str:
    return re.sub(r"(?<=[a-z])(?<!\d[a-z])[-/](?=\d)|(?<![\d.])0+(?=\d)|(?:\.0)+$", "", code.lower().replace(",", ""))
