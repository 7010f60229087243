"""The exact answer: the words that the reader names, their sentence, who else says so, and who says otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple

from index import STOP_WORDS, StoredPassage, word_terms
from qa.answer.dates import dates_in
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
_ASKS_FOR_PART = re.compile(r"\b(?:what|which) (?:year|month|decade|century)\b", re.IGNORECASE)
# Questions for several things: "which products come from InkWorks?"
_ASKS_FOR_SEVERAL = re.compile(
    r"\W*(?:(?:list|name|who are)\b|(?:which|what) (?:(?:[\w-]+ ){0,2}[\w-]+s (?:are|were|do|did|have|had|can|must"
    r"|should|will|would|may)\b|(?![\w-]*(?:is|as|ss|us)\b)[\w-]+s (?!is\b|was\b|has\b)\w))",
    re.IGNORECASE,
)
# A sentence that is nothing but short names: "French, English (C1), some Italian".
_ENUMERATION = re.compile(r"(?:[^\s,;]+(?: [^\s,;]+){0,3}[,;]\s){2,}[^\s,;]+(?: [^\s,;]+){0,3}")
# The thing asked for, perhaps behind a word: "which free rooms ...?".
_ASKED_FOR = re.compile(r"\b(?:which|what) ([\w-]+)(?: ([\w-]+))?", re.IGNORECASE)
# In a chat, a transcript or minutes, who speaks: "12/11/2025, 18:05 - Jon: I can drive".
_ASKS_WHO = re.compile(r"\W*who\b", re.IGNORECASE)
_SPEAKER = re.compile(r"[\W\d]*(?:[AaPp][Mm]\W+)?(?P<name>[^\W\d_][^:\n]{0,30}): ")
# Questions that a date answers.
_ASKS_WHEN = re.compile(r"\W*(?:when|(?:on )?(?:what|which) (?:date|day))\b", re.IGNORECASE)
_OF_SPEAKER = re.compile(r"\bI\b(?:['’]\w+)?")
# A field of a row, and its value.
_FIELD = re.compile(r"^([^\n:]{1,40}): ?(.*)$", re.MULTILINE)
_SECTION = re.compile(r"§? ?\d{1,2}(?:\.\d{1,2}){1,3}\.?")
_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_ARTICLES = {"a", "an", "the"}
# A line that begins with a name, or has a bar or tab, is a row or item, not text that goes on.
_ROW = re.compile(r"\s*[^\W\d_][\w ()/.%€$£#-]{0,40}:\s|[^\n]*[|\t]")
# Words without the blanks and bars around them.
_BARE = re.compile(r"[\s|]*([^\s|](?:.*[^\s|])?)", re.DOTALL)
# What only parts the words from others: "1.4.0 - 2023-03-30".
_PARTING = re.compile(r"(?:[-–—:;,|•]\s+)+")
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
# Letters of words that may be of one stem: own, owner.
_LEAST_ALIKE = 3
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
    answer = _repeated_field(question, answer) or answer
    if (named := _asked_field(question, answer)) is not None:
        same = (_same_field(one, answer, named) for one in others)
        answer, others = named, [one for one in same if one is not None]
    is_measure = wants_words or _DIGIT.search(answer.text)
    if not is_measure or not tells(question, answer.text) or _is_section_number(answer):
        return Answer(best.answer, (rank,), sentence=best.answer)
    if _ASKS_FOR_SEVERAL.match(question) and len(rows := _same_column(answer, others)) > 1:
        text = "\n".join(f"- {value}" for value in rows)
        return Answer(text, tuple(rows.values()), sentence=text)
    agreeing = [one.rank for one in others if one.reading.answered >= _AGREES and is_same(one.text, answer.text)]
    return Answer(answer.text, (answer.rank, *agreeing), answer.sentence, _alternatives(question, answer, others))


def _same_column(answer: _PassageAnswer, others: Sequence[_PassageAnswer]) -> dict[str, int]:
    """What the rows of one file answer that are sure and name the same column, with their ranks."""
    name = _column(answer)
    found = {answer.text: answer.rank}
    for one in others if name else ():
        is_row = one.passage.document.path == answer.passage.document.path and _column(one) == name
        if is_row and one.reading.answered >= _AGREES:
            found.setdefault(one.text, one.rank)
    return found


def _asked_field(question: str, one: _PassageAnswer) -> _PassageAnswer | None:
    """The field of a row that is asked for, if the answer is another or only repeats what is asked.

    Of "which rooms have no projector?" it is the room, of "who owns boreas?" the owner; of "which servers run Debian?",
    where no field is named, the first, by which the rows are known.
    """
    column = _column(one)
    every = [*_FIELD.finditer(one.passage.text)] if column else []
    fields = [field for field in every if tells(question, field[2])]
    asked = _ASKED_FOR.search(question)
    words = asked.groups("") if asked and asked[1].lower() not in STOP_WORDS else ()
    wanted = {tuple(word_terms(word)) for word in words}
    named = [field for field in fields if tuple(word_terms(field[1])) in wanted]
    if not named and not tells(question, one.text.removeprefix(f"{column}:")):
        about = _about(question)
        alike = [field for field in fields if any(_alike(*pair) for pair in product(word_terms(field[1]), about))]
        named = alike or (fields[:1] if words and fields[:1] == every[:1] else [])
    if len(named) != 1 or named[0][1] == column:
        return None
    return one._replace(text=named[0][2].strip(), sentence=named[0][0])


def _repeated_field(question: str, one: _PassageAnswer) -> _PassageAnswer | None:
    """The field of a row whose name and value the question repeats, where "which" asks and the answer is another field.

    Of "which issues were assigned to Noor?" it is `assignee: Noor`, not the comment that the reader may name.
    """
    if not _ASKED_FOR.match(question.strip()) or ": " not in one.sentence:
        return None
    about = _about(question)
    fields = _FIELD.finditer(one.passage.text)
    named = [field for field in fields if any(_alike(*pair) for pair in product(word_terms(field[1]), about))]
    repeated = [field for field in named if _words(field[2]) and not tells(question, field[2])]
    if not repeated or any(one.sentence in field[0] for field in named):
        return None
    return one._replace(text=repeated[0][2].strip(), sentence=repeated[0][0])


def _same_field(one: _PassageAnswer, answer: _PassageAnswer, named: _PassageAnswer) -> _PassageAnswer | None:
    """The field that is asked for of another row of the file, if that has what the answer says."""
    column, name = _column(answer), _column(named)
    fields = {field[1]: field for field in _FIELD.finditer(one.passage.text)}
    is_like = column in fields and fields[column][2].strip() == answer.text.removeprefix(f"{column}:").strip()
    if not is_like or name not in fields or one.passage.document.path != answer.passage.document.path:
        return None
    # What the same field says of both is as sure of the one as of the other.
    return one._replace(text=fields[name][2].strip(), sentence=fields[name][0], reading=answer.reading)


def _about(question: str) -> set[str]:
    return {term for word in _words(question) if word not in STOP_WORDS for term in word_terms(word)}


def _alike(one: str, other: str) -> bool:
    """Whether one word begins with the other, as owner with own."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _LEAST_ALIKE and long.startswith(short)


def _column(one: _PassageAnswer) -> str:
    """The name of the field whose whole value an answer is, by itself or with the name; "" of other text."""
    fields = _FIELD.finditer(one.passage.text)
    return next((field[1] for field in fields if one.text in (field[2].strip(), field[0].strip())), "")


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


def _is_section_number(answer: _PassageAnswer) -> bool:
    """Whether an answer is the number that its sentence or line begins with, as in "4.1 The deposit is ..."."""
    lines = (line.lstrip(" \t§#*-") for line in answer.sentence.split("\n"))
    return _SECTION.fullmatch(answer.text) is not None and any(
        line.startswith(answer.text) and line[len(answer.text) :].lstrip(" .)\t*_")[:1].isalpha() for line in lines
    )


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
    """What a passage answers: the likeliest words of its best sentence, nothing cut in half, in one row or item."""
    text, sentence = passage.text, extracted.lead
    if passage.is_front_matter and (value := _VALUE.fullmatch(text, *sentence)):
        return _PassageAnswer(rank, value[1], text[slice(*sentence)], reading, passage)
    found = first, last = _one_number(question, text, reading, sentence) or reading.best(*sentence) or sentence
    if _ASKS_WHO.match(question) and (speaker := _speaker(text, found, sentence)) and tells(question, speaker["name"]):
        return _PassageAnswer(rank, speaker["name"], text[speaker.start() : sentence[1]], reading, passage)
    if _ASKS_WHEN.match(question) and not _DIGIT.search(text, *found) and (date := _date_before(text, sentence)):
        return _PassageAnswer(rank, text[slice(*date)], text[slice(*sentence)], reading, passage)
    rows = [row for row in _rows(text, *sentence) if row[0] < last and first < row[1]]
    shares = [round(reading.share(max(row[0], first), min(row[1], last)), 6) for row in rows]
    row = rows[shares.index(max(shares))] if rows else sentence
    if len(rows) > 1 and (bare := _BARE.match(text, max(row[0], first), min(row[1], last))):
        found = bare.span(1)
    dates = not _ASKS_FOR_PART.search(question)
    found = whole_value(question, text, completed(text, found, row, dates=dates), sentence)
    found = with_bound(question, text, _whole_title(text, found, sentence), row)
    if _ASKS_FOR_SEVERAL.match(question) and _ENUMERATION.fullmatch(text[slice(*sentence)].rstrip(".")):
        found = sentence[0], sentence[0] + len(text[slice(*sentence)].rstrip("."))
    start, end = _with_whole_brackets(text, _without_half_a_pair(text, found, sentence), sentence)
    if (parting := _PARTING.match(text, start, end)) and parting.end() < end:
        start = parting.end()
    return _PassageAnswer(rank, text[start:end], text[slice(*sentence)], reading, passage)


def _speaker(text: str, words: tuple[int, int], sentence: tuple[int, int]) -> re.Match[str] | None:
    """Who says "I" in a sentence, unless the words have a name."""
    speaker = _SPEAKER.match(text, text.rfind("\n", 0, sentence[0]) + 1)
    if speaker is None or not _OF_SPEAKER.search(text, max(speaker.end(), sentence[0]), sentence[1]):
        return None
    others = _OF_SPEAKER.sub("", text[max(words[0], speaker.end()) : max(words[1], speaker.end())])
    return None if any(map(str.isupper, others)) else speaker


def _date_before(text: str, sentence: tuple[int, int]) -> tuple[int, int] | None:
    """The date that a sentence begins with, as an entry of a diary or of a list of dates does."""
    start = sentence[0] + len(text[slice(*sentence)]) - len(text[slice(*sentence)].lstrip("*_[("))
    entry = text[start : sentence[1]]
    return next(((start, start + one.end) for one in dates_in(entry) if one.end == len(one.text)), None)


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


def _rows(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence, cut between rows or items."""
    rows, at, left = [], start, start
    for line, following in pairwise(text[start:end].split("\n")):
        at += len(line) + 1
        if "|" in line or _ROW.match(following):
            rows.append((left, at - 1))
            left = at
    return [*rows, (left, end)]


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
