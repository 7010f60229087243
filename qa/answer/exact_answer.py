"""Answer in a few words: "on 31 March", with their sentence, and the passages that agree or give another value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from corpus import lazy_pattern, sentence_spans
from index import STOP_WORDS, StoredPassage
from qa.answer.extract import Extract
from qa.answer.results import Alternative, Answer
from qa.language.dates import dates_in
from qa.language.enumerations import extend_to_enumeration, extend_to_field_value, extend_to_list_items
from qa.language.question_kinds import AUXILIARY
from qa.language.replacement import STRUCK_OUT, find_replacement, replace_if_outdated
from qa.language.spans import Span, line_start, spans_overlap
from qa.language.values import extend_to_whole_values, include_bound, normalise_values, years_in
from qa.questions.answering_sentence import only_asks, skip_stamp
from qa.questions.bands import write_as_bands
from qa.questions.numbered import cells_at
from qa.reader.reading import Reading
from qa.reader.third_person import words_or_speaker
from qa.structure.decisions import decision_about
from qa.structure.speakers import Said

# Questions that a few words can answer, unless they also match `_ASKS_FOR_MORE`; all others get a sentence.
_ASKS_FOR_WORDS = lazy_pattern(
    r"\b(?:whom|whose|which|(?:who|what|when|where)s?(?!-\w)"
    r"|how (?:many|much|long|old|far|often|tall|high|big|large|fast|deep|wide|heavy|late|early|soon))\b",
    re.IGNORECASE,
)
# Questions that only a number can answer: "how warm is it?", but not "how easily does it break?"
_ASKS_FOR_MEASURE = lazy_pattern(
    rf"\bhow (?!(?:{AUXILIARY}|to|about|come|exactly|else|best|i|we|you|they|he|she|it|one|the|an?|this|that|these"
    r"|those|my|our|your|his|her|their)\b)\w",
    re.IGNORECASE,
)
_ASKS_FOR_MORE = lazy_pattern(
    r"\b(?:why|explain|describe|what (?:happens|happened|should|about|if)"
    r"|what d(?:o|oes|id) (?:[\w.-]+ ){1,6}(?:say|mean|do)"
    r"|and (?:(?:at|by|for|from|in|on|to|with) )?(?:how|wh(?:at|en|ere|ich|om?|ose|y)|in \d+)(?! other))\b",
    re.IGNORECASE,
)
_ASKS_FOR_TIME = lazy_pattern(r"\b(?:when|time|date|day)\b", re.IGNORECASE)
_WORD = lazy_pattern(r"\w+")
_DIGIT = lazy_pattern(r"\d")
# A word, or a whole number with its sign; cents that are zero; and the units that are no words.
_WORD_OR_NUMBER = lazy_pattern(r"(?:(?<![\w.)])[-−])?(?<![\w.])\d+(?:[.,:]\d+)*|\w+")
_NO_CENTS = lazy_pattern(r"(?<=\d)[.,]00?(?![\d.,])")
_UNIT_MARK = lazy_pattern(r"[%€$£¥]")
_ARTICLES = {"a", "an", "the"}
# Marks that enclose words: an opening one comes right before a word, a closing one right after.
_PAIR = lazy_pattern(r"(?<!\w)(?P<mark>([*`\"])\2{0,2})(?=[^\s*`\"])(?P<inside>[^*`\"]*[^\s*`\"])(?P=mark)(?!\w)")
# A title or quotation between such marks.
_MARKED = lazy_pattern(
    r"(?<!\w)(?:(?P<mark>\*\*|[*_\"])(?=\S)(?P<same>[^*_\"]+)(?P=mark)|[“„«](?P<other>[^“”«»]+)[”“»])(?!\w)"
)
_CODE = lazy_pattern(r"`[^`\n]+`")
# The value of a front matter field, without the brackets of a list.
_VALUE = lazy_pattern(r"[^\n:]+:\s*[\[\"']*(\S.{0,99}?)[\]\"']*", re.DOTALL)
# The end of a sentence with the number of a note.
_NOTE = lazy_pattern(r"(?:(?<=[^\W\d_])|(?<=[\s(](?:1[5-9]|20)\d\d))[.!?][\"”’)]*\d{1,3}(?:[,–-]\d{1,3})*\Z")
# The marks before a quoted line of a message, and a line that surely is quoted, while "> 40 mg" may be a bound.
_QUOTED_LINE = lazy_pattern(r"(?:>[ \t]*+)+(?=\S)")
_QUOTED_WORDS = lazy_pattern(r"^>[> \t]*[^\W\d_]", re.MULTILINE)
# No answer to "which van is free?"
_YES_OR_NO = lazy_pattern(r"\W*(?:yes|no)\W*", re.IGNORECASE)
# A value that the sentence denies, rather than a bound such as "not before 8:00".
_DENIED = lazy_pattern(r"not (?:(?:at|by|for|from|in|on|the) )*\d", re.IGNORECASE)
# Up to so many words that a line chooses are the answer, of more the reader picks some.
_MOST_WORDS_CHOSEN = 3
# The ending of a unit after a number's placeholder, as in "# days".
_PLURAL_UNIT = lazy_pattern(r"(# [a-z]{2,}?)s\b")
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
    said: Mapping[int, Sequence[Said]],
) -> Answer | None:
    """Answer a question from the passages that are shown; None if there is nothing to quote.

    Args:
        question: The text that was searched for.
        passages: Best first.
        extracts: Their answering sentences, by row number.
        readings: The reader's results, by row number. Without one for the first passage, or if that has no likely
            answer, the answer is a sentence.
        said: Whose words the parts of passages are, by row number, if the question asks for a person.
    """
    extracted = ((rank, passage, extracts.get(passage.id)) for rank, passage in enumerate(passages, start=1))
    quotable = [(rank, passage, extract) for rank, passage, extract in extracted if extract and extract.highlights]
    if not quotable:
        return None
    rank, best_passage, best_extract = quotable[0]
    if best_extract.name:
        return Answer(best_extract.name, (rank,), sentence=best_extract.answer)
    sentence = best_extract.answer
    if not best_extract.has_list:
        sentence = best_passage.text[slice(*skip_stamp(question, best_passage.text, best_extract.answer_span))]
    sentence = _strip_quotation_marks(sentence, best_passage.text)
    whole = Answer(sentence, (rank,), sentence=sentence)
    reading = readings.get(best_passage.id)
    is_likely = reading is not None and reading.margin >= _LEAST_MARGIN
    is_likely = is_likely and may_answer(question, best_passage.text, best_extract.answer_span, reading)
    wants_words, wants_measure = asks_for_words(question), asks_for_measure(question)
    if not is_likely or best_extract.has_list or not (wants_words or wants_measure):
        return whole
    answer, *others = (
        _passage_answer(question, rank, passage, extract, readings[passage.id], said=said.get(passage.id, ()))
        for rank, passage, extract in quotable
        if passage.id in readings
    )
    fits = wants_words or _DIGIT.search(answer.text)
    if (
        not fits
        or _DENIED.match(answer.text)
        or _YES_OR_NO.fullmatch(answer.text)
        or not adds_information(question, answer.text)
    ):
        return whole
    agreeing = [it.rank for it in others if it.reading.answered >= _AGREES and is_same(it.text, answer.text)]
    return Answer(answer.text, (answer.rank, *agreeing), answer.sentence, _alternatives(question, answer, others))


def may_answer(question: str, text: str, sentence: Span, reading: Reading | None) -> bool:
    """Whether a sentence may answer: it does not only ask the same, nor is its answer the time of a chat message."""
    content = skip_stamp(question, text, sentence)
    is_stamp = content != sentence and reading is not None and _ASKS_FOR_TIME.search(question)
    is_read = not is_stamp or (reading is not None and 2 * reading.share(*content) >= reading.share(*sentence))
    return is_read and not only_asks(question, text, sentence)


def asks_for_words(question: str) -> bool:
    """Whether a few words can answer a question."""
    return bool(_ASKS_FOR_WORDS.search(question)) and not _ASKS_FOR_MORE.search(question)


def asks_for_measure(question: str) -> bool:
    """Whether only a number can answer a question."""
    return bool(_ASKS_FOR_MEASURE.search(question)) and not _ASKS_FOR_MORE.search(question)


def adds_information(question: str, answer: str) -> bool:
    """Whether an answer has a word that the question does not have."""
    return not set(_words(answer)) <= set(_words(question))


def is_same(answer: str, other_answer: str) -> bool:
    """Whether two answers have equal values, or one consists of consecutive words of the other, articles aside."""
    words = (_words(_NO_CENTS.sub("", it), _WORD_OR_NUMBER) for it in (answer, other_answer))
    short, long = sorted(words, key=len)
    inside = bool(short) and any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))
    units, other_units = (set(_UNIT_MARK.findall(it)) for it in (answer, other_answer))
    inside = inside and not (units and other_units and units.isdisjoint(other_units))
    return inside or (bool(short) and normalise_values(answer) == normalise_values(other_answer))


def contradicts(answer: str, other_answer: str) -> bool:
    """Whether two answers give different numbers or dates in the same form: "1 day" and "fourteen days"."""
    (form, values), (other_form, other_values) = normalise_values(answer), normalise_values(other_answer)
    singular, other_singular = (_PLURAL_UNIT.sub(r"\1", it) for it in (form, other_form))
    return "#" in form and singular == other_singular and values != other_values


def _alternatives(question: str, answer: _PassageAnswer, others: Sequence[_PassageAnswer]) -> tuple[Alternative, ...]:
    question_years = years_in(question)
    # A passage without these words of the question gives a value for another topic, which is no contradiction.
    topic = {word for word in _words(question) if not word.isdigit()}.difference(STOP_WORDS) & _passage_words(answer)
    by_form: dict[object, tuple[_PassageAnswer, list[int]]] = {}
    for other in others if answer.reading.answered >= _CONTRADICTS else ():
        is_sure = other.reading.answered >= _CONTRADICTS
        if not is_sure or not contradicts(other.text, answer.text) or topic - _passage_words(other):
            continue
        # Nor is a value for another year a contradiction.
        if not question_years or not (passage_years := _years(other)) or question_years & passage_years:
            by_form.setdefault(normalise_values(other.text), (other, []))[1].append(other.rank)
    return tuple(Alternative(it.text, tuple(ranks), _time_of(it, answer)) for it, ranks in by_form.values())


def _time_of(other: _PassageAnswer, answer: _PassageAnswer) -> str:
    """Return "earlier" for a value that the answer replaces, "later" for one that replaces it, else "".

    The answering sentence may replace it, as in "30 mg (was 25 mg)", or one of the documents be outdated.
    """
    new = find_replacement(other.text, answer.sentence, set())
    if new is not None and is_same(answer.sentence[slice(*new.value)], answer.text):
        return "earlier"
    is_earlier, is_later = bool(other.passage.document.outdated), bool(answer.passage.document.outdated)
    return "" if is_earlier == is_later else "earlier" if is_earlier else "later"


def _passage_words(answer: _PassageAnswer) -> set[str]:
    """Return the words of an answer's passage, its title and its path."""
    passage = answer.passage
    return set(_words("\n".join((passage.text, passage.title, passage.document.path.replace("_", " ")))))


def _words_around(passage: StoredPassage) -> set[str]:
    """Return the words of a passage, its headings and its title."""
    return set(_words("\n".join((passage.text, *passage.heading, passage.title))))


def _years(answer: _PassageAnswer) -> set[str]:
    """Return the years in an answer's sentence; if it has none, those in the headings, title and path."""
    headings = (*answer.passage.heading, answer.passage.title, answer.passage.document.path)
    return years_in(answer.sentence) or years_in("\n".join(headings))


def _passage_answer(
    question: str, rank: int, passage: StoredPassage, extracted: Extract, reading: Reading, *, said: Sequence[Said]
) -> _PassageAnswer:
    """Return a passage's answer: the likeliest words of its best sentence, extended to whole values and names."""
    text, sentence = passage.text, extracted.answer_span
    if passage.is_front_matter and (value := _VALUE.fullmatch(text, *sentence)):
        return _PassageAnswer(rank, value[1], text[slice(*sentence)], reading, passage)
    start, end = answer_words(question, passage, sentence, reading)
    answer = words_or_speaker(text, (start, end), said)
    # A letter may be signed in another passage, which is not the one that is cited.
    if answer != text[start:end] and not set(_words(answer)) <= _words_around(passage):
        answer = text[slice(*sentence)]
    if not text[line_start(text, start) : start].strip(" \t>"):
        answer = _strip_quotation_marks(answer, text)
    if (start, end) != sentence and (note := _NOTE.search(text, start - 1, end)) and end == sentence[1]:
        answer = answer.removesuffix(note[0])
    # What was decided may be in the next sentence, and what it refers to in an earlier one.
    if end > sentence[1]:
        sentence = min(sentence[0], start), next((it[1] for it in sentence_spans(text, start) if it[1] >= end), end)
    quoted = text[min(sentence[0], start) : sentence[1]]
    return _PassageAnswer(rank, answer, _strip_quotation_marks(quoted, text), reading, passage)


def answer_words(question: str, passage: StoredPassage, sentence: Span, reading: Reading) -> Span:
    """Return the likeliest words of a sentence for an answer, extended to whole values and names."""
    text = passage.text
    within = _skip_struck_out(text, skip_stamp(question, text, sentence), reading)
    words = _prefer_cell_of_named_column(write_as_bands(passage, question), passage, reading.best(*within) or within)
    words, within = _prefer_chosen(question, passage, words, within, reading)
    words = extend_to_field_value(question, text, extend_to_whole_values(text, words, within), within)
    words = extend_to_enumeration(question, text, words, within)
    words = replace_if_outdated(question, text, words, within)
    words = include_bound(question, text, _extend_to_title(text, words, within), within)
    words = _balance_brackets(text, _pair_marks(text, _extend_to_code(text, words, within), within), within)
    # "Ann (was Bob)" may only now be in the words.
    return _prefer_chosen(question, passage, words, within, reading)[0]


def _prefer_chosen(
    question: str, passage: StoredPassage, words: Span, within: Span, reading: Reading
) -> tuple[Span, Span]:
    """Return the words that a line or item chooses if it rejects the given ones, and where they are."""
    text, decision = passage.text, decision_about(question, passage.text, words, passage.body)
    if decision is None:
        return words, within
    is_short = len(_WORD.findall(text, *decision.new)) <= _MOST_WORDS_CHOSEN
    return (decision.new if is_short else reading.best(*decision.new) or decision.new), decision.new


def _strip_quotation_marks(line: str, text: str) -> str:
    """Return a line without the marks of a quotation before it, but with those of a bound: "> 60"."""
    marks = _QUOTED_LINE.match(line)
    if marks is None:
        return line
    rest = line[marks.end() :]
    begins_with_date = any(date.span[0] == 0 for date in dates_in(rest))
    is_bound = rest[0].isdigit() and (marks[0] == ">" or not (begins_with_date or _QUOTED_WORDS.search(text)))
    return line if is_bound else rest


def _skip_struck_out(text: str, sentence: Span, reading: Reading) -> Span:
    """Return the likeliest part of a sentence that is not ~~struck out~~; the sentence if all of it is."""
    cuts = [sentence[0], *(at for match in STRUCK_OUT.finditer(text, *sentence) for at in match.span()), sentence[1]]
    parts = [part for part in zip(cuts[::2], cuts[1::2], strict=True) if _WORD.search(text, *part)]
    return max(parts, key=lambda part: reading.share(*part), default=sentence)


def _prefer_cell_of_named_column(question: str, passage: StoredPassage, words: Span) -> Span:
    """Return the cell of the column that the question names, if the words are in a column named by a number: "2024".

    In the cells of other columns, extend the words to whole names and lists of names.
    """
    question_words = set(_words(question))
    cells_of_row = cells_at(passage, words[0])
    cells = [(set(_words(name)), cell) for name, cell in cells_of_row if _DIGIT.search(name)]
    in_question = [(name, cell) for name, cell in cells if name <= question_words and cell[0] < cell[1]]
    # "24 hours" is part of "8 to 24 hours".
    named = [cell for name, cell in in_question if not any(name < other for other, _ in in_question)]
    if any(spans_overlap(words, cell) for _, cell in cells):
        return named[0] if len(named) == 1 else words
    enclosing = [cell for _, cell in cells_of_row if cell[0] <= words[0] and words[1] <= cell[1]]
    return extend_to_list_items(question, passage.text, words, enclosing[0]) if enclosing else words


def _extend_to_title(text: str, words: Span, sentence: Span) -> Span:
    """Extend the words to the title or quotation in marks of which they are at least half."""
    for title in _MARKED.finditer(text, *sentence):
        start, end = title.span("same" if title["same"] else "other")
        if start <= words[0] and words[1] <= end <= start + 2 * (words[1] - words[0]):
            return start, end
    return words


def _extend_to_code(text: str, words: Span, sentence: Span) -> Span:
    """Extend the words to the whole of code in backticks in which they begin or end, unless all of them are in it."""
    start, end = words
    for code in _CODE.finditer(text, *sentence):
        if (code.start() < start < code.end()) is not (code.start() < end < code.end()):
            start, end = min(start, code.start()), max(end, code.end())
    return start, end


def _pair_marks(text: str, words: Span, sentence: Span) -> Span:
    """Strip a mark of emphasis, code or quotation at one end of the words whose counterpart they lack.

    If the mark is within the words, and its counterpart right next to them, extend them to that.
    """
    start, end = words
    for pair in _PAIR.finditer(text, *sentence):
        first, last = pair.span("inside")
        if pair.start() <= start < first < end <= last:
            start = first
        elif first <= start < last < end <= pair.end():
            end = last
        elif start == first and end > pair.end():
            start = pair.start()
        elif end == last and start < pair.start():
            end = pair.end()
    return start, end


def _balance_brackets(text: str, words: Span, sentence: Span) -> Span:
    """Balance brackets: add the missing one if it is next to the words, or drop one that is at their end."""
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


def _words(text: str, pattern: re.Pattern[str] = _WORD) -> list[str]:
    return [word for word in pattern.findall(text.lower()) if word not in _ARTICLES]
