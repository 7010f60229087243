"""Values that a later text replaces: "for 'four times' put 'five times'", "30 April (was 31 March)", "£295, not £299".

An amendment says little about its topic and shares few words with a question, so it is looked for by the old value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from corpus import lazy_pattern, path_words
from index import Among, Index, StoredPassage, analyse
from qa.answer.exact_answer import is_same
from qa.answer.extract import Extract
from qa.answer.results import Alternative, Answer, Highlight
from qa.language.replacement import (
    Replacement,
    find_replacement,
    is_amendment,
    is_replaceable,
    restriction_terms,
    says_changed,
)
from qa.language.spans import Span, line_start, paragraph_around
from qa.language.terms import surroundings, terms
from qa.language.values import years_in
from qa.questions.numbered import is_about_other_item, numbered_items_in
from qa.reader.reading import Reading

# How many passages are searched for what replaces a value, and how often that is itself replaced.
_DEPTH = 20
_MOST = 4

# Stems of words that say where a change is written, rather than for whom it holds.
_WRITTEN_IN = frozenset({
    "accord", "act", "agm", "amend", "annex", "appendix", "articl", "bylaw", "chang", "claus", "effect", "egm",
    "favour", "forc", "futur", "gener", "handbook", "instead", "item", "law", "letter", "line", "list", "minut",
    "number", "para", "paragraph", "place", "point", "price", "put", "rule", "season", "section", "sentenc",
    "sheet", "tabl", "year",
})  # fmt: skip
# Stems of words of titles that do not say what a document is about.
_OF_TITLES = frozenset({
    "addendum", "amend", "annex", "chang", "correct", "errata", "erratum", "first", "list", "letter", "minut", "new",
    "note", "order", "price", "regul", "rule", "second", "sheet", "statut", "supplement", "tabl", "third",
})  # fmt: skip
# Stems of words for the kind of value, which a sentence that changes it need not repeat: "it now costs 5".
PREDICATES = frozenset({
    "begin", "close", "cost", "deadlin", "due", "end", "expir", "fall", "finish", "happen", "held", "open", "place",
    "start", "take",
})  # fmt: skip
# The number of a section after a word for one, or at the beginning of a line if it has a point.
_NUMBER = r"[A-Z]?\.?\d{1,3}(?:\.\d{1,3})*[a-z]?(?![\w%]|[.,:]\d)"
_SECTION = lazy_pattern(
    r"(?:\b(?:article|clause|item|paragraph|para|rule|section|by-?law)[ \t]+|§+ ?|^\W*to[ \t]+"
    rf"|\bin[ \t]+(?=\S*\d\.\d))(?P<named>{_NUMBER})"
    rf"|^[ \t]*(?:[-*•]+[ \t]+|\(?\w{{1,2}}[.)][ \t]+)?[#*]*[ \t]?(?P<first>(?=\S*\d\.\d){_NUMBER})(?=[.):*]*[ \t])",
    re.IGNORECASE | re.MULTILINE,
)
_OWN_SECTION = lazy_pattern(
    rf"\W*(?:(?:article|clause|rule|section)[ \t]+|§ ?)?(?P<number>{_NUMBER})[.):*]*[ \t]", re.IGNORECASE
)
# A short line such as "2. Salary" above a paragraph, which may be no heading for the reader.
_SECTION_LINE = lazy_pattern(r"(?:\d+\.(?:\d+\.?)*|§ ?\d+)[ \t]+[^\W\d_a-zà-öø-ÿ][^\n]{0,40}(?<![.,;:!?])")
# Least rarity, in sum, of the words that say that both sentences are about the same thing.
_LEAST_RARITY = 0.8
# Least logit that the reader finds an answer, and least probability that it is in the sentence.
_LEAST_ANSWERED = 1.5
_LEAST_SHARE = 0.5

# Reads a passage with the question; None without the reader.
Read = Callable[[StoredPassage], Reading | None]


@dataclass(frozen=True)
class NewValue:
    """A value that replaces another one.

    Attributes:
        passage: The passage that says so.
        replacement: The spans of its sentence and of the value in it.
    """

    passage: StoredPassage
    replacement: Replacement

    @property
    def value(self) -> str:
        """The new value."""
        return self.passage.text[slice(*self.replacement.value)]

    @property
    def sentence(self) -> str:
        """The sentence with the new value."""
        return self.passage.text[slice(*self.replacement.sentence)]

    @property
    def extract(self) -> Extract:
        """The extract that highlights this sentence."""
        first, last = self.replacement.sentence
        start = self.passage.start
        return Extract((Highlight((start + first, start + last), self.sentence),), 0.0, (first, last), self.sentence)

    @property
    def is_change(self) -> bool:
        """Whether the value changed, rather than being different for others: by its paragraph, or as an amendment."""
        is_said = says_changed(self.paragraph) or is_amendment(surroundings(self.passage))
        return is_said or not self.replacement.may_differ

    @cached_property
    def sections(self) -> set[str]:
        """The numbers of sections in the sentence; if none, the last one before it in its paragraph or headings."""
        text, (start, end) = self.passage.text, self.replacement.sentence
        line = line_start(text, start)
        paragraph, _ = paragraph_around(text, (start, end), self.passage.body)
        if named := _section_numbers(text[line:end]):
            return set(named)
        earlier = [*_section_numbers("\n".join(self.passage.heading)), *_section_numbers(text[paragraph:line])]
        return set(earlier[-1:])

    @cached_property
    def paragraph(self) -> str:
        """The sentence with the earlier ones of its paragraph."""
        start, _ = paragraph_around(self.passage.text, self.replacement.sentence, self.passage.body)
        return self.passage.text[start : self.replacement.sentence[1]]

    @property
    def in_context(self) -> str:
        """Its paragraph with its headings, its title and its path."""
        return f"{self.paragraph}\n{surroundings(self.passage)}"


@dataclass(frozen=True)
class QuotedValue:
    """The value that answers a question, and may have been replaced.

    Attributes:
        question: The question.
        value: The value.
        passage: The passage that it is quoted from.
        answer_span: The characters of its sentence.
    """

    question: str
    value: str
    passage: StoredPassage
    answer_span: Span

    @property
    def sentence(self) -> str:
        """The sentence with the value."""
        return self.passage.text[slice(*self.answer_span)]

    @cached_property
    def section(self) -> str:
        """The number of the section that the sentence is in; "" if it has none."""
        text, start = self.passage.text, self.answer_span[0]
        first = line_start(text, start)
        # A number that begins the value is no section: "37.5 hours a week".
        line = text[first : self.answer_span[1]].partition(self.value)[0]
        paragraph = text[paragraph_around(text, self.answer_span, self.passage.body)[0] : first].split("\n")
        above = [it for it in reversed(paragraph) if _SECTION_LINE.fullmatch(it.strip())]
        # "5." before a line may be the number of an item on any list.
        is_item = re.match(r"\W*\d+[.)]\s", line) is not None
        numbers = map(_OWN_SECTION.match, [*([] if is_item else [line, *above]), *reversed(self.passage.heading)])
        return next((number["number"].lower() for number in numbers if number), "")

    @cached_property
    def topic(self) -> set[str]:
        """The terms of the question that are in the sentence, its headings or its title, other than the value."""
        in_context = terms("\n".join((self.sentence, *self.passage.heading, self.passage.title)))
        return (terms(self.question) & in_context) - terms(self.value)

    def may_be_replaced_by(self, new: NewValue) -> bool:
        """Whether a new value may be of the same thing: not of another section, box or room, nor of an earlier year."""
        if self.section and new.sections and self.section not in new.sections:
            return False
        sentence = "\n".join((new.sentence, *new.passage.heading[-1:]))
        has_topic = not self.topic or not self.topic.isdisjoint(terms(sentence)) or bool(new.sections)
        items = numbered_items_in(self.question)
        is_other = new.replacement.excludes_question(self.question, new.passage.text)
        is_other = is_other or is_about_other_item(items, new.passage, new.replacement.sentence)
        return has_topic and not is_other and not self._is_later_than(new)

    def is_replaced_by(self, new: NewValue, rarity: Mapping[str, float]) -> bool:
        """Whether a new value surely is of the same thing, by the number of its section or the question's words."""
        # The quoted sentence may be in the same paragraph, which does not count.
        new_terms, sentence = terms(new.in_context.replace(self.sentence, "")), terms(new.sentence)
        topic = self.topic if new.replacement.may_differ else self.topic - PREDICATES
        is_of_topic = topic <= new_terms and not topic.isdisjoint(sentence)
        is_rare = sum(rarity.get(term, 0.0) for term in topic) >= _LEAST_RARITY
        # Other documents have sections with the same number.
        title, new_title = _title_terms(self.passage), _title_terms(new.passage)
        named = terms(self.question) & title - terms(self.sentence)
        is_of_document = title & new_title or not new_title or not self.topic.isdisjoint(sentence)
        is_of_section = self.section in new.sections and named <= new_terms and bool(is_of_document)
        return is_of_section or (is_of_topic and is_rare)

    def holds_in_general(self, new: NewValue) -> bool:
        """Whether a new value is not only for some ("in the elderly"), unless the question or the old sentence is."""
        known_terms = terms("\n".join((self.question, self.sentence, *self.passage.heading, self.value, new.value)))
        known_terms |= _WRITTEN_IN | _title_terms(self.passage)
        return known_terms.issuperset(restriction_terms(new.sentence))

    def is_confirmed_by_reader(self, new: NewValue, read: Read) -> bool:
        """Whether the reader finds the answer to the question in the sentence with a new value."""
        reading = read(new.passage)
        return (
            reading is not None
            and reading.answered >= _LEAST_ANSWERED
            and reading.share(*new.replacement.sentence) >= _LEAST_SHARE
        )

    def _is_later_than(self, new: NewValue) -> bool:
        years, new_years = _years_above(self.passage), _years_above(new.passage)
        return bool(years and new_years) and max(years) > max(new_years)


def _title_terms(passage: StoredPassage) -> set[str]:
    """Return the words of the title and the path that say what a document is about."""
    words = terms(f"{passage.title}\n{path_words(passage.document.path)}") - _OF_TITLES
    return {word for word in words if len(word) > 1 and not word.isdecimal()}


def _years_above(passage: StoredPassage) -> set[str]:
    return years_in("\n".join((*passage.heading, passage.title, passage.document.path)))


def find_new_values(
    snapshot: Index, old: QuotedValue, *, documents: Among, rarity: Mapping[str, float], read: Read
) -> list[NewValue]:
    """Return the value that replaces an exact answer, the one that replaces that, and so on.

    None are returned for a value that was changed and changed back, as the last change is unknown.

    Args:
        snapshot: Where to search.
        old: The answer.
        documents: The documents to search; see `Query`.
        rarity: The rarity of terms; see `Query`.
        read: Reads a passage with the question.
    """
    chain: list[NewValue] = []
    values = [old.value]
    while len(chain) < _MOST:
        new_values = _search_new_values(snapshot, old, values[-1], documents)
        likely = (it for it in new_values if it.is_change and old.may_be_replaced_by(it) and old.holds_in_general(it))
        sure = (it for it in likely if old.is_replaced_by(it, rarity) or old.is_confirmed_by_reader(it, read))
        new = next(sure, None)
        if new is None:
            break
        if new.value in values:
            return []
        chain.append(new)
        values.append(new.value)
    return chain


def _search_new_values(snapshot: Index, old: QuotedValue, value: str, documents: Among) -> Iterator[NewValue]:
    """Yield replacements of a value from the passages with most words of it, its section and the question.

    Args:
        snapshot: Where to search.
        old: The answer.
        value: Its value, or one that has replaced that.
        documents: The documents to search.
    """
    if not is_replaceable(value):
        return
    wanted = analyse(" ".join((value, value, old.section, old.section, old.question))).terms
    hits = snapshot.keyword(wanted, _DEPTH, documents=documents)
    for passage in snapshot.passages([hit.passage for hit in hits]):
        replacement = find_replacement(value, passage.text, years_in(old.question), body=passage.body)
        if replacement is not None:
            yield NewValue(passage, replacement)


def answer_with_new_value(
    question: str, answer: Answer, passages: Sequence[StoredPassage], chain: Sequence[NewValue]
) -> tuple[list[StoredPassage], Answer]:
    """Answer with the newest value, or if the question asks for the old one, give the newest as an alternative.

    Returns:
        As many passages as given, beginning with those of the values from the newest to the quoted one, or in reverse
        for the old value; and the answer, which cites them.
    """
    quoted = passages[answer.citations[0] - 1]
    newest = chain[-1]
    wants_new = newest.replacement.is_asked_for(question)
    values = [(quoted, answer.text, answer.sentence), *((new.passage, new.value, new.sentence) for new in chain)]
    if wants_new:
        values.reverse()
    with_values = [passage for passage, *_ in values]
    ordered = list({passage.id: passage for passage in (*with_values, *passages)}.values())[: len(passages)]
    rank_of = {passage.id: rank for rank, passage in enumerate(ordered, start=1)}

    def ranks(*shown: StoredPassage) -> tuple[int, ...]:
        return tuple(rank_of[passage.id] for passage in shown if passage.id in rank_of)

    (first, text, sentence), *others = values
    agreeing = () if wants_new else (passages[rank - 1] for rank in answer.citations[1:])
    time = "earlier" if wants_new else "later"
    candidates = [Alternative(value, ranks(passage), time) for passage, value, _ in others]
    candidates += [
        Alternative(alternative.text, ranks(*(passages[rank - 1] for rank in alternative.citations)))
        for alternative in answer.alternatives
        if not any(is_same(alternative.text, value) for _, value, _ in values)
    ]
    alternatives = tuple(candidate for candidate in candidates if candidate.citations)
    return ordered, replace(
        answer, text=text, sentence=sentence, citations=ranks(first, *agreeing), alternatives=alternatives
    )


def _section_numbers(text: str) -> list[str]:
    return [(match["named"] or match["first"]).lower() for match in _SECTION.finditer(text)]
