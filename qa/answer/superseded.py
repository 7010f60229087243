"""Values that a later text replaces: "for 'four times' put 'five times'", "30 April (was 31 March)", "£295, not £299".

An amendment says little about its topic and shares few words with a question, so it is looked for by the old value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from corpus import path_words
from index import Among, Index, StoredPassage, analyse
from qa.answer.extract import Extract
from qa.answer.results import Alternative, Answer, Highlight
from qa.questions.numbered import is_about_another, numbered_in
from qa.questions.replacement import Replacement, holds_for, is_value, replacement, says_changed
from qa.questions.steps import terms
from qa.questions.values import years
from qa.reader.reading import Reading

# How many passages are searched for what replaces a value, and how often that is itself replaced.
_DEPTH = 20
_MOST = 4

# Words that say where a change is written, rather than for whom it holds.
_WRITTEN_IN = frozenset({
    "accord", "act", "agm", "amend", "annex", "appendix", "articl", "bylaw", "chang", "claus", "effect", "egm",
    "favour", "forc", "futur", "gener", "handbook", "instead", "item", "law", "letter", "line", "list", "minut",
    "number", "para", "paragraph", "place", "point", "price", "put", "rule", "season", "section", "sentenc",
    "sheet", "tabl", "year",
})  # fmt: skip
# Words of titles that do not say what a document is about.
_OF_TITLES = frozenset({
    "addendum", "amend", "annex", "chang", "correct", "errata", "erratum", "first", "list", "letter", "minut", "new",
    "note", "order", "price", "regul", "rule", "second", "sheet", "statut", "supplement", "tabl", "third",
})  # fmt: skip
# Stems of words for what a value says about a topic, which a sentence that changes it need not repeat.
_PREDICATES = frozenset({
    "begin", "close", "cost", "deadlin", "due", "end", "expir", "fall", "finish", "happen", "held", "open", "place",
    "start", "take",
})  # fmt: skip
# The number of a section after a word for one, or at the beginning of a line if it has a point.
_NUMBER = r"[A-Z]?\.?\d{1,3}(?:\.\d{1,3})*[a-z]?(?![\w%]|[.,:]\d)"
_SECTION = re.compile(
    r"(?:\b(?:article|clause|item|paragraph|para|rule|section|by-?law)[ \t]+|§+ ?|^\W*to[ \t]+"
    rf"|\bin[ \t]+(?=\S*\d\.\d))(?P<named>{_NUMBER})"
    rf"|^[ \t]*(?:[-*•]+[ \t]+|\(?\w{{1,2}}[.)][ \t]+)?[#*]*[ \t]?(?P<first>(?=\S*\d\.\d){_NUMBER})(?=[.):*]*[ \t])",
    re.IGNORECASE | re.MULTILINE,
)
_OWN_SECTION = re.compile(
    rf"\W*(?:(?:article|clause|rule|section)[ \t]+|§ ?)?(?P<number>{_NUMBER})[.):*]*[ \t]", re.IGNORECASE
)
# Least rarity, in sum, of the words that say that both sentences are about the same thing.
_LEAST_RARITY = 0.8
# Least logit that the reader finds an answer, and least probability that it is in the sentence.
_LEAST_ANSWERED = 1.5
_LEAST_SHARE = 0.5

# Reads a passage with the question; None without the reader.
Read = Callable[[StoredPassage], Reading | None]


@dataclass(frozen=True)
class Newer:
    """What replaces a value.

    Attributes:
        passage: The passage that says so.
        found: The sentence and the value in it.
    """

    passage: StoredPassage
    found: Replacement

    @property
    def value(self) -> str:
        """The new value."""
        return self.passage.text[slice(*self.found.value)]

    @property
    def sentence(self) -> str:
        """The sentence that replaces the old one."""
        return self.passage.text[slice(*self.found.sentence)]

    @property
    def extract(self) -> Extract:
        """That sentence, as the one to highlight."""
        first, last = self.found.sentence
        start = self.passage.start
        return Extract((Highlight((start + first, start + last), self.sentence),), 0.0, (first, last), self.sentence)

    @property
    def is_change(self) -> bool:
        """Whether this is a change rather than a difference, by the words of the sentence and those above it."""
        return not self.found.may_differ or says_changed(self.said)

    @cached_property
    def sections(self) -> set[str]:
        """The numbers of sections that the sentence names; if none, the last one before it or in the headings."""
        text, (start, end) = self.passage.text, self.found.sentence
        line = text.rfind("\n", 0, start) + 1
        paragraph = max(text.rfind("\n\n", 0, start), self.passage.body)
        if named := _section_numbers(text[line:end]):
            return set(named)
        above = [*_section_numbers("\n".join(self.passage.heading)), *_section_numbers(text[paragraph:line])]
        return set(above[-1:])

    @cached_property
    def said(self) -> str:
        """The sentence with what is before it in its paragraph and above it."""
        one = self.passage
        start = max(one.text.rfind("\n\n", 0, self.found.sentence[0]), one.body)
        above = (*one.heading, one.title, path_words(one.document.path))
        return "\n".join((one.text[start : self.found.sentence[1]], *above))


@dataclass(frozen=True)
class Quoted:
    """A sentence that answers a question with a value, which may have been replaced.

    Attributes:
        question: The question.
        value: The value.
        passage: The passage.
        lead: The characters of the sentence.
    """

    question: str
    value: str
    passage: StoredPassage
    lead: tuple[int, int]

    @cached_property
    def section(self) -> str:
        """The number of the section that the sentence is in; "" if it has none."""
        text = self.passage.text
        line = text[text.rfind("\n", 0, self.lead[0]) + 1 : self.lead[1]]
        numbers = filter(None, map(_OWN_SECTION.match, (line, *reversed(self.passage.heading))))
        # "5." before a line may be the number of an item on any list.
        of_items = re.fullmatch(r"\W*\d+[.)]\s.*", line, re.DOTALL)
        return next((one["number"].lower() for one in numbers if not (of_items and one.string is line)), "")

    @cached_property
    def topic(self) -> set[str]:
        """The terms of the question that the sentence has, or the headings and title above it."""
        said = terms("\n".join((self.passage.text[slice(*self.lead)], *self.passage.heading, self.passage.title)))
        return (terms(self.question) & said) - terms(self.value)

    def seems_replaced_by(self, new: Newer) -> bool:
        """Whether a sentence that replaces the value may be about the same thing: no other section, box or room."""
        if self.section and new.sections and self.section not in new.sections:
            return False
        has_topic = not self.topic or not self.topic.isdisjoint(terms(new.sentence)) or bool(new.sections)
        is_another = new.found.excepts(self.question, new.passage.text) or is_about_another(
            numbered_in(self.question), new.passage, new.found.sentence
        )
        return has_topic and not is_another and not self._is_later_than(new)

    def is_replaced_by(self, new: Newer, rarity: Mapping[str, float]) -> bool:
        """Whether it surely is about the same thing, by the number of its section or the words of the question."""
        # The quoted sentence may be above, in the same paragraph.
        said, sentence = terms(new.said.replace(self.passage.text[slice(*self.lead)], "")), terms(new.sentence)
        topic = self.topic if new.found.may_differ else self.topic - _PREDICATES
        is_of_topic = topic <= said and not topic.isdisjoint(sentence)
        is_rare = sum(rarity.get(one, 0.0) for one in topic) >= _LEAST_RARITY
        # Sections of other documents have the same numbers.
        own, other = (_title_terms(one) for one in (self.passage, new.passage))
        named = terms(self.question) & own - terms(self.passage.text[slice(*self.lead)])
        is_of_document = own & other or not other or not self.topic.isdisjoint(sentence)
        is_of_section = self.section in new.sections and named <= said and bool(is_of_document)
        return is_of_section or (is_of_topic and is_rare)

    def is_general(self, new: Newer) -> bool:
        """Whether a sentence that replaces the value holds for no one but those whom the question or this one names."""
        lead = self.passage.text[slice(*self.lead)]
        known = terms("\n".join((self.question, lead, *self.passage.heading, self.value, new.value))) | _WRITTEN_IN
        known |= _title_terms(self.passage)
        return known.issuperset(holds_for(new.sentence))

    def is_read_in(self, new: Newer, read: Read) -> bool:
        """Whether the reader finds the answer to the question in a sentence that replaces the value."""
        reading = read(new.passage)
        return (
            reading is not None
            and reading.answered >= _LEAST_ANSWERED
            and reading.share(*new.found.sentence) >= _LEAST_SHARE
        )

    def _is_later_than(self, new: Newer) -> bool:
        own, other = _years_above(self.passage), _years_above(new.passage)
        return bool(own and other) and max(own) > max(other)


def _title_terms(passage: StoredPassage) -> set[str]:
    """Return the words of the title and the path that say what a document is about."""
    words = terms(f"{passage.title}\n{path_words(passage.document.path)}") - _OF_TITLES
    return {word for word in words if len(word) > 1 and not word.isdecimal()}


def _years_above(passage: StoredPassage) -> set[str]:
    return years("\n".join((*passage.heading, passage.title, passage.document.path)))


def replacements(
    snapshot: Index, old: Quoted, *, documents: Among, rarity: Mapping[str, float], read: Read
) -> list[Newer]:
    """Return what replaces the value of an exact answer, and what replaces that, and so on.

    Of a value that was changed and changed back nobody knows which change was the last, so nothing replaces it.

    Args:
        snapshot: Where to search.
        old: The answering sentence.
        documents: What to choose from.
        rarity: Of terms; see `Query`.
        read: The reader.
    """
    chain: list[Newer] = []
    values = [old.value]
    while len(chain) < _MOST:
        found = _found(snapshot, old, values[-1], documents)
        likely = (one for one in found if one.is_change and old.seems_replaced_by(one) and old.is_general(one))
        new = next((one for one in likely if old.is_replaced_by(one, rarity) or old.is_read_in(one, read)), None)
        if new is None:
            break
        if new.value in values:
            return []
        chain.append(new)
        values.append(new.value)
    return chain


def _found(snapshot: Index, old: Quoted, value: str, documents: Among) -> Iterator[Newer]:
    """Yield what replaces a value according to the passages that have most words of it, its section and the question.

    Args:
        snapshot: Where to search.
        old: The answering sentence.
        value: Its value, or what has replaced that.
        documents: What to choose from.
    """
    if not is_value(value):
        return
    wanted = analyse(" ".join((value, value, old.section, old.section, old.question))).terms
    hits = snapshot.keyword(wanted, _DEPTH, documents=documents)
    for one in snapshot.passages([hit.passage for hit in hits]):
        found = replacement(value, one.text, years(old.question), body=one.body)
        if found is not None:
            yield Newer(one, found)


def with_replacements(
    question: str, answer: Answer, passages: Sequence[StoredPassage], chain: Sequence[Newer]
) -> tuple[list[StoredPassage], Answer]:
    """Answer with the newest value, or if the question asks for the old one, give the newest as an alternative.

    Returns:
        As many passages as given, those that replace the value before the one that is quoted, newest first, or after
        it; and the answer, which cites them.
    """
    quoted = passages[answer.citations[0] - 1]
    newest = chain[-1]
    is_asked = newest.found.is_asked(question)
    told = [(quoted, answer.text, answer.sentence), *((one.passage, one.value, one.sentence) for one in chain)]
    if is_asked:
        told.reverse()
    ordered = list({one.id: one for one in (*(passage for passage, *_ in told), *passages)}.values())[: len(passages)]
    rank_of = {one.id: rank for rank, one in enumerate(ordered, start=1)}

    def ranks(*shown: StoredPassage) -> tuple[int, ...]:
        return tuple(rank_of[one.id] for one in shown if one.id in rank_of)

    (first, text, sentence), *others = told
    agreeing = () if is_asked else (passages[rank - 1] for rank in answer.citations[1:])
    time = "earlier" if is_asked else "later"
    given = [Alternative(value, ranks(passage), time) for passage, value, _ in others]
    given += [
        Alternative(one.text, ranks(*(passages[rank - 1] for rank in one.citations)))
        for one in answer.alternatives
        if one.text not in {value for _, value, _ in told}
    ]
    alternatives = tuple(one for one in given if one.citations)
    return ordered, replace(
        answer, text=text, sentence=sentence, citations=ranks(first, *agreeing), alternatives=alternatives
    )


def _section_numbers(text: str) -> list[str]:
    return [(one["named"] or one["first"]).lower() for one in _SECTION.finditer(text)]
