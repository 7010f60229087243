"""The value that a later message, or the minutes of a later meeting, give instead of a quoted one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from corpus import lazy_pattern, sentence_spans
from corpus.formats import RECORDS
from index import STOP_WORDS, StoredPassage
from qa.answer.dated_records import (
    asks_for_last,
    names_date,
    own_period,
)
from qa.answer.exact_answer import adds_information, answer_words, is_same
from qa.answer.superseded import PREDICATES, NewValue, QuotedValue
from qa.language.dates import YEAR, Period, dates_in, periods_in
from qa.language.replacement import (
    Replacement,
    asks_for_past,
    find_changed_value,
    is_undecided,
    says_changed,
    says_plan_changed,
    without_changes,
)
from qa.language.spans import Span, spans_overlap
from qa.language.terms import surroundings, terms
from qa.language.values import DAY_AND_MONTH, MONTH, NUMBER_WORDS, WEEKDAY, years_in
from qa.questions.answering_sentence import skip_stamp
from qa.reader.reading import Reading
from qa.structure.dated_entries import blocks_of, dated_lines

# How many lines of a document are searched for its date, and how many later statements are read.
_OPENING_LINES, _MAX_READ_LATER = 8, 6
# Numbers, names and longer words, by which a later statement refers to a value.
_KEY = lazy_pattern(r"\d+(?:[.,:]\d+)*|[A-Z][\w’-]+|[a-z]{4,}")
_HEADER = lazy_pattern(r"(?:From|To|Date|Quoted): ")
# A name that does not begin a question, or a number.
_NAME_OR_NUMBER = lazy_pattern(r"(?<=[ '’-])[A-Z]\w*|\d+")
_SENDER = lazy_pattern(r"\A[^:\n]{1,30}:\s+")
_DIGIT = lazy_pattern(r"\d")
_KIND_OF_DAY = lazy_pattern(rf"\b(?:{MONTH}|(?i:{WEEKDAY}|to(?:day|morrow)|week))|\d(?:st|nd|rd|th)\b")
_KIND_OF_NUMBER = lazy_pattern(rf"\d|\b(?i:{'|'.join(NUMBER_WORDS)})\b")
_ON_DAY = lazy_pattern(rf"\b[Oo]n (?:(?i:{WEEKDAY}),? )?(?:the )?{DAY_AND_MONTH}")
# A field or setting, other than the date of a letter.
_FIELD = lazy_pattern(r"(?!(?i:date|datum)\b)[^:=]{1,60}[:=]")
# "Date: Wed, 5 Mar 2025 14:00".
_SENT = lazy_pattern(r"(?i:date|datum)\s*:")
_CURRENCY = lazy_pattern(r"[€$£¥]|\b(?:chf|dollars?|eur|euros?|francs?|gbp|pounds?|usd)\b", re.IGNORECASE)
_QUALIFIED = lazy_pattern(r"\b(?P<other>[^\W\d_][\w-]{2,30})(?:['’]s)?[ -](?=(?P<word>\w+))")
_OF_WHICH = lazy_pattern(
    r"\b(?P<word>\w+) (?:of|for|in|at|with) (?:(?:the|an?|my|our|your|his|her|their) )?(?P<other>[^\W\d_][\w-]{2,30})"
)
_CLAUSE = lazy_pattern(r"[,.;:!?()]|\s[-–—]\s|\b(?:as|and|because|but|since|so)\b")
_WHO_DOES = lazy_pattern(r"\W*who(?:'s| is| will| has| have)? (\w+)", re.IGNORECASE)
# Stems of words that do not make it something else: adverbs, adjectives, and nouns for the kind of value.
_QUALIFIERS = frozenset({
    "actual", "alreadi", "also", "amount", "begin", "correct", "date", "dai", "departur", "extra", "final", "go",
    "hour", "new", "next", "now", "number", "old", "place", "pleas", "point", "price", "same", "start", "time", "total",
    "use", "venu", "whole",
})  # fmt: skip
_MOST_OTHER_WORDS = 2
_NUMBERS = frozenset(NUMBER_WORDS)
# Least logits that a later statement answers: if it says that something was moved; that something changed, and names
# the old value; and if it does neither.
_LEAST_MOVED, _LEAST_IF_BOTH, _LEAST_IF_SAME = -2.5, 0.3, 1.5
ReadAll = Callable[[Sequence[StoredPassage]], Sequence[Reading | None]]


@dataclass(frozen=True)
class Statement:
    """A paragraph, item or message of a dated record.

    Attributes:
        passage: Its passage.
        span: Its characters in the passage's text, without the time and, if that cannot answer, the sender.
        date: Its date.
        is_log: Whether the date is that of its line, which in a schedule may be that of an event.
        is_message: Whether it is a message of a chat.
    """

    passage: StoredPassage
    span: Span
    date: Period
    is_log: bool
    is_message: bool

    @property
    def text(self) -> str:
        """Its text."""
        return self.passage.text[slice(*self.span)]

    @property
    def alone(self) -> StoredPassage:
        """The passage with this text only."""
        return replace(self.passage, text=self.text, body=0)

    @cached_property
    def terms(self) -> set[str]:
        """The terms of its text, and of the headings, the title and the path above it."""
        return terms(self.text) | _terms_above(surroundings(self.passage))

    def has(self, old: QuotedValue) -> bool:
        """Whether it has the beginning of the sentence of an answer, or begins in that."""
        (first, last), (start, end) = self.span, old.answer_span
        return self.passage.id == old.passage.id and (first <= start < last or start <= first < end)

    def is_later_than(self, other: Statement) -> bool:
        """Whether its date is later, or it is a later message of the same chat or mailbox and day."""
        is_same_file = self.passage.document.id == other.passage.document.id
        if not (self.date.year and other.date.year) and not is_same_file:
            return False
        are_messages = (self.is_message and other.is_message) or (self.passage.page or 0) > (other.passage.page or 0)
        at, other_at = ((it.passage.page or 0, it.passage.start + it.span[0]) for it in (self, other))
        is_below = is_same_file and are_messages and at > other_at
        return self.date > other.date or (self.date == other.date and is_below)


def statements_of(question: str, passage: StoredPassage, opening: str) -> Iterator[Statement]:
    """Yield the dated statements of a passage; rows of sheets are none, as a later one is about something else.

    Args:
        question: What is asked.
        passage: A passage.
        opening: The beginning of its document, in which a line may end in its date.
    """
    if passage.document.media_type in RECORDS or (passage.is_quoted and not periods_in(passage.heading[-1])):
        return
    lines = (line.rstrip() for line in opening.split("\n")[:_OPENING_LINES])
    lines = (line for line in lines if not passage.document.records and not _FIELD.match(line))
    dates = ((line, date) for line in lines for date in dates_in(line) if date.year)
    dated = (date.period for line, date in dates if date.span[1] == len(line) or _SENT.match(line))
    own = own_period(passage) or next(dated, None)
    years = years_in("\n".join((*passage.heading, passage.title, passage.document.path)))
    stamps = [] if passage.is_mail else dated_lines(passage.text)
    if own is None and not stamps:
        return
    for start, end in blocks_of(passage.text, passage.body):
        line = next((date for at, date in reversed(stamps) if at <= start), None)
        if line is not None and not line.year and len(years) == 1:
            line = line._replace(year=int(*years))
        if passage.is_mail and (_HEADER.match(passage.text, start) or passage.text[start:end] == passage.title):
            continue
        content = skip_stamp(question, passage.text, (start, end))
        date = line or own
        if date is not None and (date.year or line):
            is_message = line is not None and content != (start, end)
            yield Statement(passage, content, date, is_log=line is not None and not is_message, is_message=is_message)


def find_later_value(old: QuotedValue, statements: Sequence[Statement], read: ReadAll) -> NewValue | None:
    """Return the value that the latest of some dated statements gives instead of a quoted one.

    A later statement has all words of the question that the quoted one has, or most of them if it says that something
    changed, and the reader finds an answer of the same kind in it. Without such words it must be the same sentence but
    for its value. It must not be about something else of the same name: "the choir's rehearsal".

    Args:
        old: The answer.
        statements: Those of the passages that may answer, including the quoted one.
        read: Reads passages with the question.
    """
    quoted = next((it for it in statements if it.has(old)), None)
    if quoted is None or asks_for_last(old.question) is not None:
        return None
    # "In March" may be the record's date, unless the statement itself has it.
    if names_date(old.question) and not _has_dates_of(old.question, quoted.text):
        return None
    topic = terms(old.question) & quoted.terms
    keys = _key_words(old.value)
    later = [_Update(it, old, quoted, topic, keys) for it in statements if topic and it.is_later_than(quoted)]
    if names_date(old.question):
        later = [it for it in later if _has_dates_of(old.question, it.statement.text)]
    likely = sorted((it for it in later if it.is_likely), key=lambda it: it.order)[:_MAX_READ_LATER]
    readings = read([it.statement.alone for it in likely])
    found = [
        (it.statement.date, rank, new)
        for rank, (it, reading) in enumerate(zip(likely, readings, strict=True))
        if reading is not None and (new := it.new_value(reading)) is not None
    ]
    return max(found, key=lambda it: (it[0], -it[1]))[2] if found else None


@dataclass(frozen=True)
class _Update:
    """A statement that may update a quoted one."""

    statement: Statement
    old: QuotedValue
    quoted: Statement
    topic: set[str]
    keys: set[str]

    @cached_property
    def missing(self) -> set[str]:
        missing = self.topic - self.statement.terms
        return missing - PREDICATES if self.is_change else missing

    @cached_property
    def is_change(self) -> bool:
        """Whether it says that something changed, or its message is about a correction."""
        passage = self.statement.passage
        is_named = passage.is_mail and says_changed("\n".join((passage.title, *passage.heading[:1])))
        return is_named or says_plan_changed(self.statement.text)

    @cached_property
    def names_old(self) -> bool:
        return not self.keys.isdisjoint(_key_words(self.statement.text))

    @property
    def is_likely(self) -> bool:
        is_same_file = self.statement.passage.document.id == self.quoted.passage.document.id
        few_missing = 2 * len(self.missing) <= len(self.topic) and (self.is_change or self.names_old)
        names = (it for it in _NAME_OR_NUMBER.findall(self.old.question) if not _KIND_OF_DAY.match(it))
        is_sure = not self.missing or (self.is_change and self.names_old)
        if not is_sure and not self.missing.isdisjoint(terms(" ".join(names))):
            return False
        return not self.missing or few_missing or (self.is_change and self.names_old and is_same_file)

    @property
    def order(self) -> tuple[object, ...]:
        """Sorts the likeliest first, and of equals the latest."""
        return len(self.missing), not self.names_old, not self.is_change, [-part for part in self.statement.date]

    def new_value(self, reading: Reading) -> NewValue | None:
        """Return the value in the statement, if it surely replaces the old one."""
        text, question = self.statement.text, self.old.question
        moved = find_changed_value(self.old.value, text, set()) if self.is_change else None
        span = self._other_words(reading)
        if moved is not None and (span is None or not spans_overlap(span, moved.value)):
            span = moved.value
        if span is None or reading.answered < (_LEAST_MOVED if moved and not self.missing else self._least_answered):
            return None
        value, sentence = text[slice(*span)], next(it for it in sentence_spans(text) if span[0] < it[1])
        is_stated = not is_undecided(text[slice(*sentence)]) and text[sentence[1] - 1] != "?"
        is_value = not is_same(value, self.old.value) and adds_information(question, value)
        is_value = is_stated and is_value and _is_of_kind(question, value, self.old.value)
        if not is_value or self._names_other(sentence, span) or self._is_of_one_day(sentence, span):
            return None
        if not (self.is_change or self.names_old) and not self._repeats(sentence, value):
            return None
        at = self.statement.span[0]
        new, whole = ((start + at, end + at) for start, end in (span, sentence))
        return NewValue(self.statement.passage, Replacement(new, whole, is_correction=False, may_differ=False))

    @property
    def _least_answered(self) -> float:
        if self.missing:
            return _LEAST_IF_BOTH if self.is_change and self.names_old else _LEAST_IF_SAME
        return 0.0 if self.is_change else 1.0 if self.names_old else _LEAST_IF_SAME

    def _other_words(self, reading: Reading) -> Span | None:
        """Return the likeliest words of the statement; if the old value is in them, the likeliest of the rest."""
        alone, text, question = self.statement.alone, self.statement.text, self.old.question
        best = reading.best(0, len(text))
        if best is None:
            return None
        sentences = sentence_spans(text)
        words = answer_words(question, alone, next(it for it in sentences if best[0] < it[1]), reading)
        if not is_same(text[slice(*words)], self.old.value) and not self.keys <= _key_words(text[slice(*words)]):
            return words
        olds = (it.span() for it in _KEY.finditer(text) if it[0].lower() in self.keys)
        cuts = [0, *(at for span in olds for at in span), len(text)]
        pairs = ((part, it) for part in zip(cuts[::2], cuts[1::2], strict=True) for it in sentences)
        parts = [(max(a, c), min(b, d)) for (a, b), (c, d) in pairs if terms(text[max(a, c) : min(b, d)])]
        part = max(parts, key=lambda part: reading.share(*part), default=None)
        return None if part is None or reading.best(*part) is None else answer_words(question, alone, part, reading)

    def _is_of_one_day(self, sentence: Span, value: Span) -> bool:
        """Whether a sentence is about one day that the quoted one does not name: "16:30 on 3 May"; not "from 3 May"."""
        text, known = self.statement.text, self.quoted.text + self.old.question
        # "He wrote on 3 May that" is no day of what he wrote.
        first = _ON_DAY.match(text, *sentence)
        days = [*([first] if first else []), *_ON_DAY.finditer(_CLAUSE.split(text[value[1] : sentence[1]])[0])]
        return any(day[0] not in known for day in days)

    def _names_other(self, sentence: Span, value: Span) -> bool:
        """Whether a sentence is about something else: "the choir's rehearsal", or if words are missing, "the gate"."""
        text = self.statement.text
        known = terms(self.old.question) | self.quoted.terms | _QUALIFIERS
        before, after = text[sentence[0] : value[0]], text[value[1] : sentence[1]]
        qualified = [it.group("other", "word") for part in (before, after) for it in _QUALIFIED.finditer(part)]
        qualified += [it.group("other", "word") for part in (before, after) for it in _OF_WHICH.finditer(part)]
        if any(
            terms(word) & self.topic and not terms(other) <= known and not _KIND_OF_DAY.search(other)
            for other, word in qualified
        ):
            return True
        if self.missing <= self._verb:
            return False
        clause = without_changes(_CLAUSE.split(before)[-1] + " " + _CLAUSE.split(after)[0])
        if self.statement.is_message:
            clause = _SENDER.sub("", clause)
        return any(len(term) > 1 and not _DIGIT.search(term) for term in terms(clause) - known)

    @property
    def _verb(self) -> set[str]:
        """The verb of a question for a person, for which there may be another: "who runs it?"."""
        verb = _WHO_DOES.match(self.old.question)
        return terms(verb[1]) if verb else set()

    def _repeats(self, sentence: Span, value: str) -> bool:
        """Whether a sentence says the same as the quoted one but for its value."""
        if asks_for_past(self.old.question) or self.statement.is_log or self.missing:
            return False
        start, end = self.quoted.span
        first, last = max(start, self.old.answer_span[0]), min(end, self.old.answer_span[1])
        texts = self.quoted.passage.text[first:last], self.statement.text[slice(*sentence)]
        both = (terms(_SENDER.sub("", text) if self.statement.is_message else text) for text in texts)
        quoted, own = ({word for word in words if not _DIGIT.search(word)} for words in both)
        quoted, own = quoted - terms(self.old.value), own - terms(value)
        known = self.quoted.terms | terms(self.old.question)
        return quoted <= self.statement.terms | _NUMBERS and len(own - known) <= _MOST_OTHER_WORDS


def _has_dates_of(question: str, text: str) -> bool:
    """Whether a text has all days, months and years that a question names."""
    own = periods_in(text)
    has_periods = all(any(asked.overlaps(period) for period in own) for asked in periods_in(question))
    return has_periods and set(YEAR.findall(question)) <= set(YEAR.findall(text))


@lru_cache(maxsize=64)
def _terms_above(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _key_words(text: str) -> set[str]:
    return {word.lower() for word in _KEY.findall(text) if word.lower() not in STOP_WORDS}


def _is_of_kind(question: str, value: str, old_value: str) -> bool:
    """Whether a value is a day, an amount or a name, as the old one is; of an amount, in its unit."""
    is_day, old_is_day = (bool(_KIND_OF_DAY.search(it)) for it in (value, old_value))
    has_number, old_has_number = (bool(_KIND_OF_NUMBER.search(it)) for it in (value, old_value))
    if is_day or old_is_day or not old_has_number:
        return is_day == old_is_day and (old_is_day or not has_number)
    units = {term for term in terms(old_value) - _NUMBERS if not _DIGIT.search(term)}
    if _CURRENCY.search(old_value):
        return has_number and _CURRENCY.search(value) is not None
    return has_number and (not units or not units.isdisjoint(terms(value)) or units <= terms(question))
