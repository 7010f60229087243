"""The exact answer: the reader's words, their sentence, and which other passages agree or disagree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from index import STOP_WORDS, StoredPassage
from qa.answer.extract import Extract
from qa.answer.results import Alternative, Answer
from qa.questions.bands import with_bands_as_in
from qa.questions.dates import dates_in
from qa.questions.numbered import row_at
from qa.questions.replacement import current, replacement
from qa.questions.values import compared, completed, meet, whole_items, whole_value, with_bound, with_parallel, years
from qa.reader.reading import Reading

# Questions that a few words can answer, unless they ask for more; all others get a sentence.
_ASKS_FOR_WORDS = re.compile(
    r"\b(?:who|whom|whose|when|where|which|what"
    r"|how (?:many|much|long|old|far|often|tall|high|big|large|fast|deep|wide|heavy|late|early|soon))\b",
    re.IGNORECASE,
)
# Questions that only a number can answer: "how warm is it?", but not "how easily does it break?"
_ASKS_FOR_MEASURE = re.compile(
    r"\bhow (?!(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|to|about"
    r"|come|exactly|else|best|i|we|you|they|he|she|it|one|the|an?|this|that|these|those|my|our|your|his|her|their)\b)\w",
    re.IGNORECASE,
)
_ASKS_FOR_MORE = re.compile(
    r"\b(?:why|explain|describe|what (?:happens|happened|should|about|if)"
    r"|what d(?:o|oes|id) (?:[\w.-]+ ){1,6}(?:say|mean|do)"
    r"|and (?:(?:at|by|for|from|in|on|to|with) )?(?:how|wh(?:at|en|ere|ich|om?|ose|y)|in \d+)(?! other))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_ARTICLES = {"a", "an", "the"}
# Marks that enclose words: an opening one comes right before a word, a closing one right after.
_PAIRED = '*`"'
_OPENING_MARK = re.compile(r"[*`\"](?=[^\s*`\"])")
_CLOSING_MARK = re.compile(r"(?<=[^\s*`\"])[*`\"]")
# A title or quotation between such marks.
_MARKED = re.compile(
    r"(?<!\w)(?:(?P<mark>\*\*|[*_\"])(?=\S)(?P<same>[^*_\"]+)(?P=mark)|[“„«](?P<other>[^“”«»]+)[”“»])(?!\w)"
)
_STRUCK_OUT = re.compile(r"~~(?=[^\s~])[^~]+~~")
# The value of a front matter field, without the brackets of a list.
_VALUE = re.compile(r"[^\n:]+:\s*[\[\"']*(\S.{0,99}?)[\]\"']*", re.DOTALL)
# What is before a line that a message quotes, and a line that can be nothing else: "> 40 mg" may be a bound.
_QUOTED_LINE = re.compile(r"(?:>[ \t]*+)+(?=\S)")
_QUOTED_WORDS = re.compile(r"^>[> \t]*[^\W\d_]", re.MULTILINE)
# A value that the sentence denies, and no bound, such as "not before 8:00".
_DENIED = re.compile(r"not (?:(?:at|by|for|from|in|on|the) )*\d", re.IGNORECASE)
# Least margin over "no answer" for answering in a few words; below it the sentence is the better answer.
_LEAST_MARGIN = -4.0
# Least `answered` logit of a passage for it to count as agreeing, or as contradicting.
_AGREES = 0.0
_CONTRADICTS = 1.5


class _PassageAnswer(NamedTuple):
    """The answer from one passage."""

    rank: int
    text: str
    sentence: str
    reading: Reading
    passage: StoredPassage


def exact_answer(
    question: str,
    passages: Sequence[StoredPassage],
    extracts: Mapping[int, Extract],
    readings: Mapping[int, Reading],
) -> Answer | None:
    """Answer a question from the passages that are shown; None if there is nothing to quote.

    Args:
        question: The text that was searched for.
        passages: Best first.
        extracts: Their answering sentences, by row number.
        readings: The reader's results, by row number. Without one for the first passage, or if that one sees no likely
            answer, the answer is a sentence.
    """
    ranked = [(rank, one) for rank, one in enumerate(passages, start=1) if extracts.get(one.id, Extract()).highlights]
    if not ranked:
        return None
    rank, first = ranked[0]
    best = extracts[first.id]
    if best.name:
        return Answer(best.name, (rank,), sentence=best.answer)
    sentence = _unquoted(best.answer, first.text)
    whole = Answer(sentence, (rank,), sentence=sentence)
    reading = readings.get(first.id)
    is_likely = reading is not None and reading.margin >= _LEAST_MARGIN
    wants_words, wants_measure = asks_for_words(question), asks_for_measure(question)
    if not is_likely or best.has_list or not (wants_words or wants_measure):
        return whole
    candidates = [
        _candidate(question, at, one, extracts[one.id], readings[one.id]) for at, one in ranked if one.id in readings
    ]
    answer, *others = candidates
    fits = wants_words or _DIGIT.search(answer.text)
    if not fits or _DENIED.match(answer.text) or not adds_information(question, answer.text):
        return whole
    agreeing = [one.rank for one in others if one.reading.answered >= _AGREES and is_same(one.text, answer.text)]
    return Answer(answer.text, (answer.rank, *agreeing), answer.sentence, _alternatives(question, answer, others))


def asks_for_words(question: str) -> bool:
    """Whether a few words can answer a question."""
    return bool(_ASKS_FOR_WORDS.search(question)) and not _ASKS_FOR_MORE.search(question)


def asks_for_measure(question: str) -> bool:
    """Whether a question needs a number as its answer."""
    return bool(_ASKS_FOR_MEASURE.search(question)) and not _ASKS_FOR_MORE.search(question)


def adds_information(question: str, answer: str) -> bool:
    """Whether the answer says anything the question does not."""
    return not set(_words(answer)) <= set(_words(question))


def is_same(one: str, other: str) -> bool:
    """Whether two answers say the same: one has the words of the other in a row, articles aside, or equal values."""
    short, long = sorted((_words(one), _words(other)), key=len)
    inside = bool(short) and any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))
    return inside or (bool(short) and compared(one) == compared(other))


def contradicts(one: str, other: str) -> bool:
    """Whether two answers give different numbers or dates in the same form: "12 May 2021" and "14 May 2021"."""
    (form, values), (other_form, other_values) = compared(one), compared(other)
    return "#" in form and form == other_form and values != other_values


def _alternatives(question: str, answer: _PassageAnswer, others: Sequence[_PassageAnswer]) -> tuple[Alternative, ...]:
    question_years = years(question)
    # Words of the question that the answering passage has: a value for another topic is no contradiction.
    topic = {word for word in _words(question) if not word.isdigit()}.difference(STOP_WORDS) & _all_words(answer)
    found: dict[object, tuple[str, list[int]]] = {}
    for one in others if answer.reading.answered >= _CONTRADICTS else ():
        if one.reading.answered < _CONTRADICTS or not contradicts(one.text, answer.text) or topic - _all_words(one):
            continue
        # Nor is a value for another year.
        if not question_years or not (passage_years := _years(one)) or question_years & passage_years:
            found.setdefault(compared(one.text), (one.text, []))[1].append(one.rank)
    return tuple(Alternative(text, tuple(ranks), _time(text, answer)) for text, ranks in found.values())


def _time(value: str, answer: _PassageAnswer) -> str:
    """Return whether the answering sentence itself says that its value replaces another one: "30 mg (was 25 mg)"."""
    new = replacement(value, answer.sentence, set())
    return "earlier" if new is not None and is_same(answer.sentence[slice(*new.value)], answer.text) else ""


def _all_words(one: _PassageAnswer) -> set[str]:
    """The words of a passage, its title and its path."""
    return set(_words("\n".join((one.passage.text, one.passage.title, one.passage.document.path.replace("_", " ")))))


def _years(one: _PassageAnswer) -> set[str]:
    """The years in an answering sentence, or if it has none, in the headings, title and path above it."""
    above = (*one.passage.heading, one.passage.title, one.passage.document.path)
    return years(one.sentence) or years("\n".join(above))


def _candidate(
    question: str, rank: int, passage: StoredPassage, extracted: Extract, reading: Reading
) -> _PassageAnswer:
    """Return a passage's answer: the likeliest words of its best sentence, extended so that nothing is cut in half."""
    text, sentence = passage.text, extracted.lead
    if passage.is_front_matter and (value := _VALUE.fullmatch(text, *sentence)):
        return _PassageAnswer(rank, value[1], text[slice(*sentence)], reading, passage)
    part = _not_struck_out(text, sentence, reading)
    found = _in_asked_cell(with_bands_as_in(passage, question), passage, reading.best(*part) or part)
    found = whole_value(question, text, completed(text, found, part), part)
    found = current(question, text, with_parallel(text, found, part), part)
    found = with_bound(question, text, _whole_title(text, found, part), part)
    start, end = _with_whole_brackets(text, _without_half_a_pair(text, found, part), part)
    answer = text[start:end]
    if not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t>"):
        answer = _unquoted(answer, text)
    return _PassageAnswer(rank, answer, _unquoted(text[slice(*sentence)], text), reading, passage)


def _unquoted(line: str, text: str) -> str:
    """Return a line of a text without the marks of a quotation before it, but with those of a bound: "> 60"."""
    marks = _QUOTED_LINE.match(line)
    if marks is None:
        return line
    rest = line[marks.end() :]
    begins_with_date = any(one.end == len(one.text) for one in dates_in(rest))
    is_bound = rest[0].isdigit() and (marks[0] == ">" or not (begins_with_date or _QUOTED_WORDS.search(text)))
    return line if is_bound else rest


def _not_struck_out(text: str, sentence: tuple[int, int], reading: Reading) -> tuple[int, int]:
    """Return the likeliest part of a sentence that has nothing ~~struck out~~; the sentence if all of it is."""
    cuts = [sentence[0], *(at for one in _STRUCK_OUT.finditer(text, *sentence) for at in one.span()), sentence[1]]
    parts = [part for part in zip(cuts[::2], cuts[1::2], strict=True) if _WORD.search(text, *part)]
    return max(parts, key=lambda part: reading.share(*part), default=sentence)


def _in_asked_cell(question: str, passage: StoredPassage, words: tuple[int, int]) -> tuple[int, int]:
    """Of the columns named by numbers, such as years, take the cell of the one that the question names most fully.

    In any other cell, take whole names and lists of names.
    """
    asked = set(_words(question))
    row = row_at(passage, words[0])
    cells = [(set(_words(name)), cell) for name, cell in row if _DIGIT.search(name)]
    in_question = [(name, cell) for name, cell in cells if name <= asked and cell[0] < cell[1]]
    # "24 hours" is part of "8 to 24 hours".
    named = [cell for name, cell in in_question if not any(name < other for other, _ in in_question)]
    if any(meet(words, cell) for _, cell in cells):
        return named[0] if len(named) == 1 else words
    own = [cell for _, cell in row if cell[0] <= words[0] and words[1] <= cell[1]]
    return whole_items(question, passage.text, words, own[0]) if own else words


def _whole_title(text: str, words: tuple[int, int], sentence: tuple[int, int]) -> tuple[int, int]:
    """Extend the words to the marked title or quotation of which they are at least half."""
    for found in _MARKED.finditer(text, *sentence):
        start, end = found.span("same" if found["same"] else "other")
        if start <= words[0] and words[1] <= end <= start + 2 * (words[1] - words[0]):
            return start, end
    return words


def _without_half_a_pair(text: str, words: tuple[int, int], sentence: tuple[int, int]) -> tuple[int, int]:
    """Strip a mark of emphasis, code or quotation whose other half is in the sentence, but not in the words."""
    start, end = words
    quoted = text[start:end]
    left, right = len(quoted) - len(quoted.lstrip(_PAIRED)), len(quoted) - len(quoted.rstrip(_PAIRED))
    if any(mark in quoted.strip(_PAIRED) for mark in _PAIRED):
        return words
    if left and not right and _CLOSING_MARK.search(text, end - 1, sentence[1]):
        return start + left, end
    if right and not left and _OPENING_MARK.search(text, sentence[0], start + 1):
        return start, end - right
    return words


def _with_whole_brackets(text: str, words: tuple[int, int], sentence: tuple[int, int]) -> tuple[int, int]:
    """Balance a pair of brackets: drop the half at an end of the words, or add the other half if it is next to them."""
    start, end = words
    for opening, closing in ("()", "[]"):
        part = text[start:end]
        surplus = part.count(opening) - part.count(closing)
        if surplus == 1 and part.startswith(opening):
            start += 1
        elif surplus == 1 and text.startswith(closing, end, sentence[1]):
            end += 1
        elif surplus == -1 and part.endswith(closing):
            end -= 1
        elif surplus == -1 and text.startswith(opening, max(start - 1, sentence[0]), start):
            start -= 1
    return (start, end) if start < end else words


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _ARTICLES]
