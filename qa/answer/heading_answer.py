"""Answer from a heading: `## 1.4.2 (17 June 2023)` answers "when was 1.4.2 released?".

In source code, the name of a definition answers "which function parses the header?". In a record with a date, the other
fields answer "what happened on 19 April?". And "what does VTE stand for?" is answered with words that have its letters.
"""

from __future__ import annotations

import re
from dataclasses import replace

from corpus import lazy_pattern
from corpus.formats import format_of
from index import STOP_WORDS, StoredPassage, word_terms
from qa.answer.exact_answer import adds_information, asks_for_words, is_same
from qa.answer.extract import Extract
from qa.answer.results import Highlight
from qa.language.dates import dates_in
from qa.language.question_kinds import ASKS_WHEN
from qa.language.spans import paragraph_around, spans_overlap
from qa.language.values import FIELD, LONGEST_WEEKDAY, MONTH
from qa.reader.reading import Reading

# A heading without the marks around it, as in `## Fees ##` in Markdown, `* Fees` in Org, or `== Fees ==`.
_BARE = lazy_pattern(r"^[\s#*=_]*(?=\w|[^\s#*=_])(?P<name>.*?)[\s#*=_]*$", re.MULTILINE)
# The number before the name of a section: "3. Salary", "§ 3 Salary", "4.1 Rent", but not "3. Mai" or "1.4.2 (17 June
# 2023)".
_OUTLINE = lazy_pattern(
    rf"(?:§+ ?\d[\w.]*|\d{{1,3}}(?:\.\d{{1,3}})*[.)]|\d{{1,2}}(?:\.\d{{1,2}})+(?= [^\W\d_])) +(?!{MONTH})"
)
# A number that may be part of the name, but says nothing alone: "8 Advance", "12 Long Row".
_FIRST_NUMBER = lazy_pattern(r"\d{1,3} (?=[A-ZÀ-Þ])")
_ASKS_FOR_NUMBER = lazy_pattern(r"\bhow many\b|\b(?:the|what|which) number\b", re.IGNORECASE)
_ASKS_FOR_SECTION = lazy_pattern(
    r"\b(?:which|what|in|number of the) (?:article|chapter|clause|item|number|paragraph|part|point|release|rule|section"
    r"|step|version)\b",
    re.IGNORECASE,
)
# Questions for what was done, while headings say when or where.
_ASKS_WHAT_WAS_DONE = lazy_pattern(
    r"\W*what(?:['’]s| is| are) new\b|\W*what (?:(?:is|are|was|were|got|gets|(?:has|have) been) )?\w{2,}ed\b",
    re.IGNORECASE,
)
# A heading that names a thing does not say what it is.
_ASKS_FOR_DEFINITION = lazy_pattern(r"\W*what (?:is|are) an? ", re.IGNORECASE)
# Least probability that the answer is in the heading rather than in the text.
_LEAST_SHARE = 0.5
# Least logit that there is an answer.
_LEAST_ANSWERED = 0.0
# Stems that questions for the date of a release may have besides its number and the words of its heading.
OF_RELEASES = frozenset({"came", "come", "dai", "date", "issu", "out", "publish", "releas", "ship", "tag", "version"})
_TYPES = r"class|struct|interface|trait|enum|protocol"
# "which function ...", "what is the private method that ..."; "which function does it call" asks for another one.
_ASKS = lazy_pattern(
    r"\b(?:which|what)(?: (?:is|was) the)?(?: (?!(?:did|does?|is|the|was)\b)\w+)?"
    rf" (?:(?P<type>{_TYPES})|function|method|procedure|subroutine)\b(?! (?:did|does?)\b)",
    re.IGNORECASE,
)
# What a field of a date may have after it: "Sat 1 June 2024, 10:00 to 17:30 (Europe/Berlin)".
_TIMES = lazy_pattern(r"(?:[\s\d:,–-]|to|\(\S+\))*")
_ASKS_FOR_VERSION = lazy_pattern(r"\b(?:which|what|in) (?:release|version)\b", re.IGNORECASE)
_VERSION = lazy_pattern(r"(?<![^\W_])v?\d+(?:\.\w+)+(?:[-+][^\W\d_][\w.-]*)?")
# "v1.9.0" is 1.9.0.
_WORD = lazy_pattern(r"(?<![^\W_])v?(\d+(?:\.\w+)+)|([^\W_]+)")
# Questions for the words of an abbreviation, with two capitals or more.
_ABBREVIATION = r"(?P<{}>[\w./-]*[A-Z][\w./-]*[A-Z][\w./-]*)"
_ASKS_FOR_EXPANSION = lazy_pattern(
    rf"(?i:\W*what (?:do|does|did) (?:the )?(?:abbreviation |acronym |letters )?){_ABBREVIATION.format('first')}"
    r"(?i: (?:stand for|abbreviate)\b)"
    rf"|(?i:\b(?:full form|expansion|long form) of (?:the )?){_ABBREVIATION.format('last')}"
)
# How far from an abbreviation its words may be.
_NEAR_ABBREVIATION = 100
_MOST_LETTERS, _MOST_INSIDE = 12, 3
_COMMENT = lazy_pattern(r"\s*(?://|/?\*|#|--|@|\"\"\"|''')")


def heading_answer(question: str, passage: StoredPassage, reading: Reading) -> Extract | None:
    """Return the heading of a passage if it answers; None if it does not, or if the text below says the same."""
    is_asked = asks_for_words(question) and not _ASKS_FOR_DEFINITION.match(question)
    if not passage.body or not is_asked or _ASKS_WHAT_WAS_DONE.match(question):
        return None
    dated = _dated_heading(question, passage)
    is_read = dated is None and reading.answered >= _LEAST_ANSWERED
    return _read_heading(question, passage, reading) if is_read else dated


def _read_heading(question: str, passage: StoredPassage, reading: Reading) -> Extract | None:
    """Return the heading in which the reader finds the answer; None if it is in the text."""
    text, asks_for_section = passage.text, _ASKS_FOR_SECTION.search(question)
    in_text = reading.best(passage.body, len(text)) or (0, 0)
    for line in _BARE.finditer(text, 0, passage.body):
        heading = line.span("name")
        if not asks_for_section and (number := _OUTLINE.match(text, *heading)):
            heading = number.end(), heading[1]
        start, end = reading.best(*heading) or (0, 0)
        words, share = text[start:end], reading.share(*heading)
        is_number_asked = asks_for_section or _ASKS_FOR_NUMBER.search(question)
        number = None if is_number_asked else _FIRST_NUMBER.match(text, *heading)
        name_words = text[max(start, number.end()) : end] if number else words
        is_new = adds_information(question, name_words) and not is_same(words, text[slice(*in_text)])
        if share >= _LEAST_SHARE and is_new:
            first, last = (passage.start + at for at in heading)
            name = _version(text[slice(*heading)]) if _ASKS_FOR_VERSION.search(question) else ""
            mark = Highlight((first, last), text[slice(*heading)])
            return Extract((mark,), share, heading, mark.text, name=name)
    return None


def _dated_heading(question: str, passage: StoredPassage) -> Extract | None:
    """Return the heading `## [1.9.0] - 2025-04-22` for "when was 1.9.0 released?"; the reader sees too little in it."""
    if not ASKS_WHEN.match(question) or any(dates_in(passage.text[passage.body :])):
        return None
    question_stems = set(stems(question)) - OF_RELEASES
    of_document = stems(f"{passage.title} {passage.document.path.replace('_', ' ')}")
    for line in _BARE.finditer(passage.text, 0, passage.body):
        dates = list(dates_in(line["name"]))
        if len(dates) != 1 or not is_plainly_dated(line["name"], dates[0].text, question_stems):
            continue
        named = {*stems(line["name"].replace(dates[0].text, " ")), *of_document}
        if question_stems <= named and any(any(map(str.isdecimal, stem)) for stem in question_stems):
            start, end = line.span("name")
            mark = Highlight((passage.start + start, passage.start + end), line["name"])
            return Extract((mark,), 1.0, (start, end), mark.text, name=dates[0].text, is_certain=True)
    return None


def is_plainly_dated(heading: str, date: str, question_stems: set[str]) -> bool:
    """Whether the words right before the date do not make it another one: "(freeze of 3 May 2025)" does."""
    before = re.split(r"[^\w\s]", heading.partition(date)[0])[-1]
    return set(stems(before)) <= question_stems | OF_RELEASES


def _version(heading: str) -> str:
    """Return the first number with dots that is not a date, or ""."""
    for date in dates_in(heading):
        heading = heading.replace(date.text, " ")
    version = _VERSION.search(heading)
    return version[0] if version else ""


def stems(text: str) -> list[str]:
    """Return the stems of the words of a text in order, without stop words; "v1.9.0" is 1.9.0."""
    words = (number or word for number, word in _WORD.findall(text.lower()))
    return [stem for word in words if word not in STOP_WORDS for stem in word_terms(word) if stem]


def prefer_definition(question: str, passage: StoredPassage, extract: Extract) -> Extract:
    """Answer with the name of the innermost definition in a passage of source code, if the question asks for one.

    The line that defines it is highlighted first.
    """
    asks, kind = _ASKS.search(question), format_of(passage.document.path)
    if asks is None or not passage.heading or kind is None or kind.reader != "source.code":
        return extract
    name = re.escape(re.split(r"[.: ]", passage.heading[-1])[-1])
    if re.search(rf"\b{name}\b", question):
        return extract
    for line in re.finditer(rf"^[^\n]*\b(?P<name>{name})\b[^\n]*", passage.text, re.MULTILINE):
        if _COMMENT.match(line[0]):
            continue
        is_type = re.search(rf"\b(?:{_TYPES}|type)\s+{name}\b", line[0]) is not None
        if is_type != (asks["type"] is not None):
            return extract
        start, end = (passage.start + at for at in (line.end() - len(line[0].lstrip()), line.end()))
        others = (mark for mark in extract.highlights if not spans_overlap(mark.chars, (start, end)))
        highlights = (Highlight((start, end), line[0].lstrip()), *others)
        return replace(extract, highlights=highlights, answer=highlights[0].text, name=line["name"])
    return extract


def prefer_expansion(question: str, passage: StoredPassage, extract: Extract) -> Extract:
    """Answer with the words that an abbreviation stands for, if a question asks for these and the passage has them."""
    asks = _ASKS_FOR_EXPANSION.search(question)
    span = _expansion(asks, passage.text) if asks else None
    if span is None:
        return extract
    mark = Highlight.of(passage, span)
    others = tuple(it for it in extract.highlights if not spans_overlap(it.chars, mark.chars))
    return replace(extract, highlights=(mark, *others), answer_span=span, answer=mark.text, name=mark.text)


def lacks_expansion(question: str, passage: StoredPassage) -> bool:
    """Whether a question asks what an abbreviation stands for, and a passage does not say so."""
    asks = _ASKS_FOR_EXPANSION.search(question)
    return asks is not None and _expansion(asks, passage.text) is None


def _expansion(asks: re.Match[str], text: str) -> tuple[int, int] | None:
    """Return the words near an abbreviation that begin with its letters: "venous thromboembolism (VTE)"."""
    abbreviation = asks["first"] or asks["last"]
    first, *rest = (letter for letter in abbreviation if letter.isalpha())
    # Each letter begins the next word or the one after that; or a small or any letter may be within a word, too.
    next_word = r"\w{0,30}(?:[\s'’-]{1,3}\w{1,4})?[\s'’-]{1,3}"
    for may_be_inside in (lambda _: False, str.islower, lambda _: True):
        # With more, matching may take for ever.
        if len(rest) > _MOST_LETTERS or sum(map(may_be_inside, rest)) > _MOST_INSIDE:
            continue
        between = (rf"(?:\w{{0,12}}?|{next_word})" if may_be_inside(letter) else next_word for letter in rest)
        letters = "".join(gap + letter for gap, letter in zip(between, rest, strict=True))
        words = re.compile(rf"\b{first}{letters}\w*", re.IGNORECASE)
        if span := _nearest(words, abbreviation, text):
            return span
    return None


def _nearest(words: re.Pattern[str], abbreviation: str, text: str) -> tuple[int, int] | None:
    """Return the match that is nearest to an abbreviation in a text, unless it begins with the abbreviation itself."""
    for place in re.finditer(rf"(?<!\w){re.escape(abbreviation)}(?!\w)", text):
        around = max(0, place.start() - _NEAR_ABBREVIATION), place.end() + _NEAR_ABBREVIATION
        found = [it for it in words.finditer(text, *around) if not abbreviation.startswith(it[0][: len(abbreviation)])]
        if found:
            nearest = min(found, key=lambda it: min(abs(place.start() - it.end()), abs(it.start() - place.end())))
            return nearest.span()
    return None


def prefer_other_fields(passage: StoredPassage, extract: Extract) -> Extract:
    """Answer with the other fields of a record if the answer is a field that has only a date."""
    text, start = passage.text, extract.answer_span[0]
    record = paragraph_around(text, extract.answer_span, passage.body)
    others = [match.span() for match in FIELD.finditer(text, *record) if not _is_date(match["value"])]
    field = FIELD.match(text, start, record[1])
    if not others or field is None or not _is_date(field["value"]):
        return extract
    marks = tuple(Highlight.of(passage, other) for other in others)
    return replace(extract, highlights=marks, answer_span=others[0], answer="\n".join(mark.text for mark in marks))


def _is_date(value: str) -> bool:
    """Whether a value is a date, perhaps with its weekday and times."""
    first = next(iter(dates_in(value)), None)
    is_early = first is not None and first.span[0] <= LONGEST_WEEKDAY
    return first is not None and is_early and _TIMES.fullmatch(value, first.span[1]) is not None
