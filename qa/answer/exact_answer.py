"""The exact answer: the words that the reader names, their sentence, who else says so, and who says otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from index import STOP_WORDS, StoredPassage
from qa.answer.extract import Extract
from qa.answer.results import Alternative, Answer
from qa.answer.values import compared, completed, whole_value, with_bound, years
from qa.reader.reading import Reading

# Questions that a few words answer, unless they ask for more; all others get a sentence.
_ASKS_FOR_WORDS = re.compile(
    r"\b(?:who|whom|whose|when|where|which|what"
    r"|how (?:many|much|long|old|far|often|tall|high|big|large|fast|deep|wide|heavy|late|early|soon))\b",
    re.IGNORECASE,
)
# Questions that a number answers, and words do not: "how warm is it?", but not "how easily does it break?"
_ASKS_FOR_MEASURE = re.compile(
    r"\bhow (?!(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|to|about"
    r"|come|exactly|else|best|i|we|you|they|he|she|it|one|the|an?|this|that|these|those|my|our|your|his|her|their)\b)\w",
    re.IGNORECASE,
)
_ASKS_FOR_MORE = re.compile(
    r"\b(?:why|explain|describe|what (?:happens|happened|should|about|if)"
    r"|what do(?:es)? (?:[\w.-]+ ){1,6}(?:say|mean|do))\b",
    re.IGNORECASE,
)
# Questions that part of a date answers.
_ASKS_FOR_PART = re.compile(r"\b(?:what|which) (?:year|month|decade|century|time|hour)\b", re.IGNORECASE)
# Questions for several things: "which products come from InkWorks?"
_ASKS_FOR_SEVERAL = re.compile(
    r"\W*(?:(?:list|name|who are)\b|(?:which|what) (?:(?:[\w-]+ ){0,2}[\w-]+s (?:are|were|do|did|have|had|can|must"
    r"|should|will|would|may)\b|(?![\w-]*(?:is|as|ss|us)\b)[\w-]+s (?!is\b|was\b|has\b)\w))",
    re.IGNORECASE,
)
# A sentence that is nothing but short names: "French, English (C1), some Italian".
_ENUMERATION = re.compile(r"(?:[^\s,;]+(?: [^\s,;]+){0,3}[,;]\s){2,}[^\s,;]+(?: [^\s,;]+){0,3}")
_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_ARTICLES = {"a", "an", "the"}
# Marks that stand on both sides of words: an opening one is followed by them, a closing one follows them.
_PAIRED = '*`"'
_OPENING_MARK = re.compile(r"[*`\"](?=[^\s*`\"])")
_CLOSING_MARK = re.compile(r"(?<=[^\s*`\"])[*`\"]")
# A title, or what is said, between such marks.
_MARKED = re.compile(
    r"(?<!\w)(?:(?P<mark>\*\*|[*_\"])(?=\S)(?P<same>[^*_\"]+)(?P=mark)|[“„«](?P<other>[^“”«»]+)[”“»])(?!\w)"
)
# What a field of front matter says, without the brackets of a list.
_VALUE = re.compile(r"[^\n:]+:\s*[\[\"']*(\S.{0,99}?)[\]\"']*", re.DOTALL)
# Between two numbers that are told together.
_COMPARES = frozenset({"against", "compared", "versus", "vs"})
# How many words behind a number may say what it is of.
_BEHIND = 3
# Least margin over "no answer" for a few words; below it the sentence is the better answer.
_LEAST_MARGIN = -4.0
# The reader is sure enough that a passage answers to say that it agrees, or that it contradicts: logits.
_AGREES = 0.0
_CONTRADICTS = 1.5


class _PassageAnswer(NamedTuple):
    """What one passage answers."""

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
    """The answer to a question from the passages that are shown; None where there is nothing to quote.

    Args:
        question: As it is searched.
        passages: Best first.
        extracts: Their answering sentences, by row number.
        readings: What the reader tells of them, by row number; without one, or where it rather sees no answer, a
            sentence is the answer.
    """
    quoted = [(rank, one) for rank, one in enumerate(passages, start=1) if extracts.get(one.id, Extract()).highlights]
    if not quoted:
        return None
    rank, first = quoted[0]
    best = extracts[first.id]
    reading = readings.get(first.id)
    is_sure = reading is not None and reading.margin >= _LEAST_MARGIN
    wants_words, wants_measure = asks_for_words(question), asks_for_measure(question)
    if not is_sure or best.has_list or not (wants_words or wants_measure):
        return Answer(best.answer, (rank,), sentence=best.answer)
    candidates = [
        _candidate(question, at, one, extracts[one.id], readings[one.id]) for at, one in quoted if one.id in readings
    ]
    answer, *others = candidates
    is_measure = wants_words or _DIGIT.search(answer.text)
    if not is_measure or not tells(question, answer.text):
        return Answer(best.answer, (rank,), sentence=best.answer)
    agreeing = [one.rank for one in others if one.reading.answered >= _AGREES and is_same(one.text, answer.text)]
    return Answer(answer.text, (answer.rank, *agreeing), answer.sentence, _alternatives(question, answer, others))


def asks_for_words(question: str) -> bool:
    """Whether a few words answer a question, rather than a sentence."""
    return bool(_ASKS_FOR_WORDS.search(question)) and not _ASKS_FOR_MORE.search(question)


def asks_for_measure(question: str) -> bool:
    """Whether a number with what it measures answers a question."""
    return bool(_ASKS_FOR_MEASURE.search(question)) and not _ASKS_FOR_MORE.search(question)


def tells(question: str, answer: str) -> bool:
    """Whether an answer has a word that the question lacks; one of those that it offers to choose from will do."""
    words = set(_words(answer))
    return not words <= set(_words(question)) or bool(words and _CHOICE.search(question))


def is_same(one: str, other: str) -> bool:
    """Whether two answers say the same: the words of one, articles left out, are in the other in order."""
    short, long = sorted((_words(one), _words(other)), key=len)
    inside = bool(short) and any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))
    return inside or (bool(short) and compared(one) == compared(other))


def contradicts(one: str, other: str) -> bool:
    """Whether two answers give different numbers or dates in the same form: "12 May 2021" and "14 May 2021"."""
    (form, values), (other_form, other_values) = compared(one), compared(other)
    return "#" in form and form == other_form and values != other_values


def _alternatives(question: str, answer: _PassageAnswer, others: Sequence[_PassageAnswer]) -> tuple[Alternative, ...]:
    asked = years(question)
    # What the question is about, as far as the answering passage says it: what another crop has is no contradiction.
    about = {word for word in _words(question) if not word.isdigit()}.difference(STOP_WORDS) & _all_words(answer)
    found: dict[object, tuple[str, list[int]]] = {}
    for one in others if answer.reading.answered >= _CONTRADICTS else ():
        if one.reading.answered < _CONTRADICTS or not contradicts(one.text, answer.text) or about - _all_words(one):
            continue
        # What another year has is no contradiction.
        if not asked or not (named := _years(one)) or asked & named:
            found.setdefault(compared(one.text), (one.text, []))[1].append(one.rank)
    return tuple(Alternative(text, tuple(ranks)) for text, ranks in found.values())


def _all_words(one: _PassageAnswer) -> set[str]:
    """The words of a passage, of what stands above it and of its path."""
    return set(_words("\n".join((one.passage.text, one.passage.title, one.passage.document.path.replace("_", " ")))))


def _years(one: _PassageAnswer) -> set[str]:
    """The years of an answering sentence, or those that what stands above it names."""
    above = (*one.passage.heading, one.passage.title, one.passage.document.path)
    return years(one.sentence) or years("\n".join(above))


def _candidate(
    question: str, rank: int, passage: StoredPassage, extracted: Extract, reading: Reading
) -> _PassageAnswer:
    """What a passage answers: the likeliest words of its best sentence, nothing cut in half."""
    text, sentence = passage.text, extracted.lead
    if passage.is_front_matter and (value := _VALUE.fullmatch(text, *sentence)):
        return _PassageAnswer(rank, value[1], text[slice(*sentence)], reading, passage)
    found = _one_number(question, text, reading, sentence) or reading.best(*sentence) or sentence
    dates = not _ASKS_FOR_PART.search(question)
    found = whole_value(question, text, completed(text, found, sentence, dates=dates), sentence)
    found = with_bound(question, text, _whole_title(text, found, sentence), sentence)
    if _ASKS_FOR_SEVERAL.match(question) and _ENUMERATION.fullmatch(text[slice(*sentence)].rstrip(".")):
        found = sentence[0], sentence[0] + len(text[slice(*sentence)].rstrip("."))
    start, end = _with_whole_brackets(text, _without_half_a_pair(text, found, sentence), sentence)
    return _PassageAnswer(rank, text[start:end], text[slice(*sentence)], reading, passage)


def _one_number(question: str, text: str, reading: Reading, sentence: tuple[int, int]) -> tuple[int, int] | None:
    """Of two numbers that the best begins and ends with, that before a word of the question, else the likelier.

    Words that tell something are between them: not in "from 3 to 5" or "3 against 5", but in "3 euros there, 5 here".
    """
    halves = reading.halves(*sentence)
    if halves is None or not all(_DIGIT.search(text, *half) for half in halves):
        return None
    (_, before), (second, after) = sorted(halves)
    between = {word for word in _words(text[before:second]) if word.isalpha()}
    behind = set(_words(text[after : sentence[1]])[:_BEHIND])
    if not between.difference(STOP_WORDS, _COMPARES):
        return None
    return max(halves) if (behind - between).difference(STOP_WORDS) & set(_words(question)) else halves[0]


def _whole_title(text: str, words: tuple[int, int], sentence: tuple[int, int]) -> tuple[int, int]:
    """All that is between two marks, of which the words are the greater part."""
    for found in _MARKED.finditer(text, *sentence):
        start, end = found.span("same" if found["same"] else "other")
        if start <= words[0] and words[1] <= end <= start + 2 * (words[1] - words[0]):
            return start, end
    return words


def _without_half_a_pair(text: str, words: tuple[int, int], sentence: tuple[int, int]) -> tuple[int, int]:
    """Leaves out a mark of emphasis, code or quotation whose other half is in the sentence, but not in the words."""
    start, end = words
    part = text[start:end]
    left, right = len(part) - len(part.lstrip(_PAIRED)), len(part) - len(part.rstrip(_PAIRED))
    if any(mark in part.strip(_PAIRED) for mark in _PAIRED):
        return words
    if left and not right and _CLOSING_MARK.search(text, end - 1, sentence[1]):
        return start + left, end
    if right and not left and _OPENING_MARK.search(text, sentence[0], start + 1):
        return start, end - right
    return words


def _with_whole_brackets(text: str, words: tuple[int, int], sentence: tuple[int, int]) -> tuple[int, int]:
    """Adds the other half of a pair of brackets where it is next to the words, or leaves out the one at their end."""
    start, end = words
    for opening, closing in ("()", "[]"):
        part = text[start:end]
        more = part.count(opening) - part.count(closing)
        if more == 1 and part.startswith(opening):
            start += 1
        elif more == 1 and text.startswith(closing, end, sentence[1]):
            end += 1
        elif more == -1 and part.endswith(closing):
            end -= 1
        elif more == -1 and text.startswith(opening, max(start - 1, sentence[0]), start):
            start -= 1
    return (start, end) if start < end else words


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _ARTICLES]
