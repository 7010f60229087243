"""The exact answer: the words that the reader names, their sentence, who else says so, and who says otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from index import StoredPassage
from qa.answer.extract import Extract
from qa.answer.results import Alternative, Answer
from qa.reader.reading import Reading

# Questions that a few words answer, unless they ask for more; all others get a sentence.
_ASKS_FOR_WORDS = re.compile(
    r"\b(?:who|whom|whose|when|where|which|what"
    r"|how (?:many|much|long|old|far|often|tall|high|big|large|fast|deep|wide|heavy|late|early|soon))\b",
    re.IGNORECASE,
)
_ASKS_FOR_MORE = re.compile(
    r"\b(?:why|explain|describe|what (?:happens|happened|should|about|if)|what do(?:es)? \w+ (?:say|mean|do))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
# A date, time, version or decimal is one word: "2024-03" is no part of 2024-03-11.
_WHOLE = re.compile(rf"\d+(?:[-/]\d+){{2,}}|\d+(?:[.,:]\d+)+|{_WORD.pattern}")
_ARTICLES = {"a", "an", "the"}
# Names of months and days are of one kind, as numbers are.
_CALENDAR = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
# Marks that stand on both sides of words: an opening one is followed by them, a closing one follows them.
_PAIRED = '*`"'
_OPENING_MARK = re.compile(r"[*`\"](?=[^\s*`\"])")
_CLOSING_MARK = re.compile(r"(?<=[^\s*`\"])[*`\"]")
# Least margin over "no answer" for a few words; below it the sentence is the better answer.
_LEAST_MARGIN = -2.0
# The reader is sure enough that a passage answers to say that it agrees, or that it contradicts: logits.
_AGREES = 0.0
_CONTRADICTS = 1.5


class _PassageAnswer(NamedTuple):
    """What one passage answers."""

    rank: int
    text: str
    sentence: str
    reading: Reading


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
    if not is_sure or best.has_list or not asks_for_words(question):
        return Answer(best.answer, (rank,), sentence=best.answer)
    candidates = [_candidate(at, one, extracts[one.id], readings[one.id]) for at, one in quoted if one.id in readings]
    answer, *others = candidates
    agreeing = [one.rank for one in others if one.reading.answered >= _AGREES and is_same(one.text, answer.text)]
    return Answer(answer.text, (answer.rank, *agreeing), answer.sentence, _alternatives(answer, others))


def asks_for_words(question: str) -> bool:
    """Whether a few words answer a question, rather than a sentence."""
    return bool(_ASKS_FOR_WORDS.search(question)) and not _ASKS_FOR_MORE.search(question)


def is_same(one: str, other: str) -> bool:
    """Whether two answers say the same: the words of one, articles left out, are in the other in order."""
    short, long = sorted((_words(one), _words(other)), key=len)
    return bool(short) and any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def contradicts(one: str, other: str) -> bool:
    """Whether two answers give different numbers or dates in the same form: "12 May 2021" and "14 May 2021"."""
    return bool(_NUMBER.search(one)) and one != other and _form(one) == _form(other)


def _alternatives(answer: _PassageAnswer, others: Sequence[_PassageAnswer]) -> tuple[Alternative, ...]:
    ranks: dict[str, list[int]] = {}
    for one in others if answer.reading.answered >= _CONTRADICTS else ():
        if one.reading.answered >= _CONTRADICTS and contradicts(one.text, answer.text):
            ranks.setdefault(one.text, []).append(one.rank)
    return tuple(Alternative(text, tuple(found)) for text, found in ranks.items())


def _candidate(rank: int, passage: StoredPassage, extracted: Extract, reading: Reading) -> _PassageAnswer:
    """What a passage answers: the likeliest words of its best sentence, from the start of a word to the end of one."""
    body = passage.text[passage.body :]
    start, end = extracted.lead
    found = reading.best(start, end) or (start, end)
    around = [
        word.span() for word in _WHOLE.finditer(body, start, end) if word.start() < found[1] and found[0] < word.end()
    ]
    if around:
        found = min(found[0], around[0][0]), max(found[1], around[-1][1])
    found = _without_half_a_pair(body, found, (start, end))
    return _PassageAnswer(rank, body[found[0] : found[1]], body[start:end], reading)


def _without_half_a_pair(body: str, words: tuple[int, int], sentence: tuple[int, int]) -> tuple[int, int]:
    """Leaves out a mark of emphasis, code or quotation whose other half is in the sentence, but not in the words."""
    start, end = words
    text = body[start:end]
    left, right = len(text) - len(text.lstrip(_PAIRED)), len(text) - len(text.rstrip(_PAIRED))
    if any(mark in text.strip(_PAIRED) for mark in _PAIRED):
        return words
    if left and not right and _CLOSING_MARK.search(body, end - 1, sentence[1]):
        return start + left, end
    if right and not left and _OPENING_MARK.search(body, sentence[0], start + 1):
        return start, end - right
    return words


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _ARTICLES]


def _form(text: str) -> str:
    """A text with its numbers, months and days replaced."""
    return " ".join(_CALENDAR.sub("M", _NUMBER.sub("#", text)).lower().split())
