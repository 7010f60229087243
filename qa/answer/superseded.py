"""Values that a later text replaces: "for 'four times' put 'five times'", "30 April (was 31 March)", "£295, not £299".

An amendment says little about its topic and shares few words with a question, so it is looked for by the old value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

from corpus import path_words, sentence_spans
from index import Among, Index, StoredPassage, analyse
from qa.answer.extract import Extract
from qa.answer.results import Alternative, Answer, Highlight
from qa.questions.numbered import is_about_another, numbered_in
from qa.questions.steps import terms
from qa.questions.values import DAY_AND_MONTH, MONTH, meet, years
from qa.reader.reading import Reading

# How many passages are searched for what replaces a value, and how often that is itself replaced.
_DEPTH = 20
_MOST = 4

_SMALL_NUMBER = (
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty|ninety)\b"
)
# What may differ between a value and the one that replaces it.
_VALUE_FORMS = {"number": r"\d+(?:[.,:]\d+)*", "small": _SMALL_NUMBER, "month": rf"\b{MONTH}", "blank": r"\s+"}
_TIME = r"\d\d?:\d\d"
_OLD_PART = re.compile("|".join(f"(?P<{name}>{form})" for name, form in _VALUE_FORMS.items()), re.IGNORECASE)
_BARE_NUMBER = re.compile(rf"\d{{1,2}}|{_SMALL_NUMBER}", re.IGNORECASE)
# A number with what is right before it, and the word after it.
_CORE_VALUE = re.compile(
    rf"(?P<amount>[^\w\s(“‘\"'>]?(?:{_VALUE_FORMS['number']}|{_SMALL_NUMBER})%?)(?: [%\w]+(?:/\w+)*)?", re.IGNORECASE
)
_DAY_AND_MONTH = re.compile(DAY_AND_MONTH)
_DATE = re.compile(rf"{DAY_AND_MONTH}|\b{MONTH}\b|\b(?:19|20)\d\d\b")
_MARKS = r"[\"'“”‘’„«»*_`~]*"
# A wrapped line goes on with a small letter, a number or a mark.
# Nor is another value of the form between them.
_GAP = r"(?:[^;\n\ue001]|\n(?=[ \t]*(?-i:[a-zà-ÿ\d(\"'“‘„€£$]))){0,60}?"
_NEAR = r"(?:[^;:.\n\d\ue001]|\n(?=[ \t]*(?-i:[a-zà-ÿ(\"'“‘„€£$]))){0,30}?"
# Words between the old value and the new one, and between the new one and the old one.
_BECOMES = (
    r"\b(?:(?:replaced|substituted|superseded) (?:by|with)|(?:amended|changed|corrected|increased|lowered|raised"
    r"|reduced) to|now reads?|(?:is|are) now|becomes?)\b"
)
_INSTEAD = r"\b(?:instead of|in place of|replac(?:es|ing)|supersed(?:es|ing))\b"
_CHANGED = (
    r"\b(?:amend|chang|correct|cut|extend|fall|fell|(?:go(?:es)?|went) (?:up|down|back)|increas|lower|mov|postpon"
    r"|put|rais|reduc|return|revert|ris|rose|shorten)\w*\b"
)
_UNTIL_NOW = (
    r"(?:(?:it )?(?:was|were)|previously|formerly|before(?: that)?|(?:up to|until|till) (?:now|then)|so far|hitherto"
    r"|originally|old|up from|down from)"
)
_PREPOSITION = r"(?:(?:about|after|at|before|by|for|from|in|of|on|until|within) )?(?:the )?"
# Words for two versions of a text, of which the second counts.
_DRAFT = r"\b(?:draft|preprint|first version|old (?:list|version)|provisional|preliminary)\b"
_FINAL = r"\b(?:final|published|printed|corrected|new list|new version)\b"
# The value, another one of its form, and its bare number, once these are masked in a sentence.
_OLD, _NEW, _BRIEF = "\ue000", "\ue001", "\ue002"
_WAS, _BY, _WAS_BRIEF = (
    rf"{_MARKS}{_OLD}+{_MARKS}",
    rf"{_MARKS}({_NEW}+){_MARKS}",
    rf"{_MARKS}[{_OLD}{_BRIEF}]+{_MARKS}",
)
_REPLACES = re.compile(
    rf"{_WAS}{_GAP}{_BECOMES}{_GAP}{_BY}"
    rf"|\bno longer\b{_GAP}{_WAS}{_GAP}\bbut\b{_GAP}{_BY}"
    rf"|{_CHANGED}{_GAP}\bfrom {_WAS_BRIEF} to {_GAP}{_BY}"
    rf"|\b(?:for|replace|change|substitute) {_WAS},? (?:put|read|say|substitute|write|with|by|to) {_BY}"
    rf"|~~{_WAS}~~{_NEAR}{_BY}"
    rf"|{_DRAFT}{_NEAR}{_WAS}{_GAP};?{_GAP}{_FINAL}{_GAP}{_BY}"
    rf"|{_BY}{_NEAR}[(,;–-]\s*{_UNTIL_NOW}[:,]?\s+{_PREPOSITION}{_WAS_BRIEF}"
    rf"|{_BY}{_GAP}{_INSTEAD}(?:{_GAP}{_WAS}|\s+{_PREPOSITION}{_WAS_BRIEF})"
    rf"|\bnot {_PREPOSITION}{_WAS_BRIEF},?\s+but {_GAP}{_BY}"
    rf"|{_BY}{_NEAR}(?:,|\(|\s[–-]|\band)\s*not\s+{_PREPOSITION}{_WAS_BRIEF}",
    re.IGNORECASE,
)
# Its groups, from the end: the last two correct a mistake, and with the one before they may be no more than a
# difference: "5 mg instead of 10 mg" in children, "8:40, not 6:15" on Sundays.
_FIRST_CORRECTION = _REPLACES.groups - 1
_FIRST_DIFFERENCE = _REPLACES.groups - 2
# Words that say that something was changed or corrected.
_CHANGES = re.compile(
    r"\b(?:adden\w+|amend\w*|chang\w+|correct(?:ed|ing|ions?)|errat\w+|error|fault|from now on|mistake\w*|no longer|now"
    r"|oops|revis\w+|slip|sorry|typo|updat\w+|with effect|wrong\w*|as (?:I|we) (?:said|told|wrote)"
    rf"|from (?:(?:\d\d? )?{MONTH}|20\d\d))\b",
    re.IGNORECASE,
)
# Questions for what a value was before, and those in the past tense, which may mean it.
_ASKS_FOR_OLD = re.compile(
    r"\b(?:used to|original(?:ly)?|initial(?:ly)?|earlier|former(?:ly)?|previous(?:ly)?|at first|at the time|back then"
    rf"|before (?:that|then|it|the (?:change|amendment)\w*))\b|(?<!how )\bold\b|\bbefore\W*$|{_DRAFT}",
    re.IGNORECASE,
)
_PAST_TENSE = re.compile(r"\b(?:was|were|did|had)\b", re.IGNORECASE)
# What has not been decided or done, and what was taken back, in the sentence or after it.
_UNDECIDED = re.compile(
    r"\b(?:if|propos\w+|suggest\w*|would|might|could|maybe|perhaps|motion|request\w*|want(?:s|ed)|ask(?:s|ed)|discussed"
    r"|consider\w*|against)\b|\?"
    rf"|(?:\b(?:not|never|refus\w+)\b|n['’]t\b)(?: (?:to|be|been|yet))* {_CHANGED}"
    r"|(?:^|[.:] )\W*(?:chang|cutt|extend|increas|lower|mov|rais|reduc|shorten)ing\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:withdrawn|withdrew|rejected|defeated|declined|dismissed|revoked|rescinded|reversed|cancell?ed|turned down"
    r"|no decision|(?:was|were) (?:wrong|an error|a mistake)"
    r"|not (?:accepted|adopted|agreed|approved|carried|passed))\b",
    re.IGNORECASE,
)
# For whom or when something holds: "in the elderly", "for patients under 60". These words say where it is written.
_HOLDS_FOR = re.compile(
    r"\b(?:in|for|among|with|under|over|above|below|when|during)\s+(?P<whom>[^\s,.;:()]+(?:[ \t][^\s,.;:()]+){0,4})",
    re.IGNORECASE,
)
_WRITTEN_IN = frozenset({
    "accord", "act", "agm", "amend", "annex", "appendix", "articl", "bylaw", "chang", "claus", "effect", "egm",
    "favour", "forc", "futur", "gener", "handbook", "instead", "item", "law", "letter", "line", "list", "minut",
    "number", "para", "paragraph", "place", "point", "price", "put", "rule", "season", "section", "sentenc",
    "sheet", "tabl", "year",
})  # fmt: skip
# Words of titles that do not say what a document is about.
_OF_TITLES = frozenset({
    "addendum", "amend", "annex", "chang", "correct", "errata", "erratum", "list", "letter", "minut", "new", "note",
    "order", "price", "regul", "rule", "sheet", "statut", "supplement", "tabl",
})  # fmt: skip
_NEXT_ITEM = re.compile(r"\n\s*(?:\n|[-*•]\s|\(?\w{1,2}[.)]\s)")
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


class Replacement(NamedTuple):
    """A sentence that puts a new value in place of another one.

    Attributes:
        value: The characters of the new value, end exclusive.
        sentence: Those of the sentence.
        is_correction: Whether the old value was a mistake.
        may_differ: Whether this may be a difference rather than a change: "5 mg instead of 10 mg".
    """

    value: tuple[int, int]
    sentence: tuple[int, int]
    is_correction: bool
    may_differ: bool

    def is_asked(self, question: str) -> bool:
        """Whether a question is for the new value rather than for the old one."""
        is_past = not self.is_correction and _PAST_TENSE.search(question)
        return not is_past and not _ASKS_FOR_OLD.search(question)

    def excepts(self, question: str, text: str) -> bool:
        """Whether what is asked is where the other value holds: "at 9:15, not at 9:30 as on Sundays"."""
        before, after = terms(text[self.sentence[0] : self.value[1]]), terms(text[self.value[1] : self.sentence[1]])
        return self.is_correction and not terms(question).isdisjoint(after - before)


def replacement(value: str, text: str, question_years: set[str], *, body: int = 0) -> Replacement | None:
    """Return where a text, from its body on, puts another value of the same form in place of a value.

    A bare small number is no value, what was merely proposed replaces nothing, nor does a sentence about another year
    than the question's.
    """
    forms = [form for form in _forms(value) if form.is_in(text, body)]
    for start, end in sentence_spans(text, body) if forms else ():
        for form in forms:
            found = _REPLACES.search(form.masked(text[start:end]))
            if found and _is_decided(text, (start, end)) and _is_of(question_years, years(text[start:end])):
                group = next(one for one, new in enumerate(found.groups(), start=1) if new)
                first, last = found.span(group)
                kind = group >= _FIRST_CORRECTION, group >= _FIRST_DIFFERENCE
                return Replacement((start + first, start + last), (start, end), *kind)
    return None


def current(question: str, text: str, words: tuple[int, int], sentence: tuple[int, int]) -> tuple[int, int]:
    """Return the words of an answer, or if their own sentence replaces their value, the new one: "£295, not £299"."""
    new = replacement(text[slice(*words)], text[: sentence[1]], set(), body=sentence[0])
    if new is None or not new.is_asked(question) or new.excepts(question, text):
        return words
    is_change = new.is_correction or not new.may_differ or _CHANGES.search(text, *sentence)
    return new.value if is_change else words


def _is_of(question_years: set[str], own_years: set[str]) -> bool:
    return not (question_years and own_years and question_years.isdisjoint(own_years))


def _is_decided(text: str, sentence: tuple[int, int]) -> bool:
    after = _NEXT_ITEM.search(text, sentence[1])
    end = after.start() if after else len(text)
    return not (_UNDECIDED.search(text, *sentence) or _TAKEN_BACK.search(text, sentence[0], end))


class _Form(NamedTuple):
    """A form in which a text may give a value.

    Attributes:
        old: The pattern of the value.
        number: That of its number alone.
        new: That of any value of this form.
    """

    old: re.Pattern[str]
    number: re.Pattern[str]
    new: re.Pattern[str]

    def is_in(self, text: str, body: int) -> bool:
        """Whether a text has the value, or its number, and another one of the form."""
        has_old = self.old.search(text, body) or self.number.search(text, body)
        return bool(has_old) and self.new.search(self.old.sub("", text[body:])) is not None

    def masked(self, sentence: str) -> str:
        """Write marks of the same length in place of the value, others of its form and its bare number."""
        for pattern, mark in ((self.old, _OLD), (self.new, _NEW), (self.number, _BRIEF)):
            sentence = pattern.sub(partial(_mask, mark), sentence)
        return sentence


def _mask(mark: str, found: re.Match[str]) -> str:
    return mark * len(found[0])


@lru_cache(maxsize=32)
def _forms(value: str) -> list[_Form]:
    """Return the forms of a value: of "not less than six months’ notice" also "six months", of "£96 a year" "£96"."""
    cores = list(_CORE_VALUE.finditer(value))
    forms = [value, cores[0][0], cores[0]["amount"]] if len(cores) == 1 else [value]
    dates = list(_DAY_AND_MONTH.finditer(value))
    forms += [dates[0][0]] if len(dates) == 1 else []
    return [form for form in map(_form, dict.fromkeys(forms)) if form]


def _form(value: str) -> _Form | None:
    parts = list(_OLD_PART.finditer(value))
    if _BARE_NUMBER.fullmatch(value) or not any(part["number"] or part["small"] for part in parts):
        return None
    edges = [0, *(at for part in parts for at in part.span()), len(value)]
    between = [re.escape(value[edges[i] : edges[i + 1]]) for i in range(0, len(edges), 2)]
    old = [_VALUE_FORMS["blank"] if part["blank"] else re.escape(part[0]) for part in parts]
    new = [_TIME if ":" in part[0] else _VALUE_FORMS[part.lastgroup or "blank"] for part in parts]
    was, by = (between[0] + "".join(map("".join, zip(one, between[1:], strict=True))) for one in (old, new))
    # "One day" may become "two days".
    by = re.sub(r"(?<=[^\W\d_]{2})s?$", "s?", by, count=1) if between[-1] else by
    number = re.escape(next(part[0] for part in parts if part["number"] or part["small"]))
    patterns = (rf"(?<![\w.,]){one}(?!\w|[.,]\d)" for one in (was, number, by))
    return _Form(*(re.compile(pattern, re.IGNORECASE) for pattern in patterns))


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
        return not self.found.may_differ or bool(_CHANGES.search(self.said))

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
        is_of_topic = self.topic <= said and not self.topic.isdisjoint(sentence)
        is_rare = sum(rarity.get(one, 0.0) for one in self.topic) >= _LEAST_RARITY
        # Sections of other documents have the same numbers.
        own, other = (_title_terms(one) for one in (self.passage, new.passage))
        named = terms(self.question) & own - terms(self.passage.text[slice(*self.lead)])
        is_of_document = own & other or not other or not self.topic.isdisjoint(sentence)
        is_of_section = self.section in new.sections and named <= said and bool(is_of_document)
        return is_of_section or (is_of_topic and is_rare)

    def is_general(self, new: Newer) -> bool:
        """Whether a sentence that replaces the value holds for no one but those whom the question or this one names."""
        lead = self.passage.text[slice(*self.lead)]
        above = (*self.passage.heading, *new.passage.heading)
        known = terms("\n".join((self.question, lead, *above, self.value, new.value))) | _WRITTEN_IN
        known |= _title_terms(self.passage) | _title_terms(new.passage)
        phrases = (_OLD_PART.sub(" ", _DATE.sub("", one["whom"])).split() for one in _HOLDS_FOR.finditer(new.sentence))
        whom = (next((term for word in one for term in terms(word)), "") for one in phrases)
        return all(not term or term in known for term in whom)

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


def replaced_in(old: Quoted, passage: StoredPassage) -> Newer | None:
    """Return what replaces a value in another sentence of a passage, which may be about the same thing."""
    found = replacement(old.value, passage.text, years(old.question), body=passage.body)
    if found is None or (passage.id == old.passage.id and meet(found.sentence, old.lead)):
        return None
    new = Newer(passage, found)
    return new if old.seems_replaced_by(new) else None


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
    if not _forms(value):
        return
    wanted = analyse(" ".join((value, value, old.section, old.section, old.question))).terms
    hits = snapshot.keyword(wanted, _DEPTH, documents=documents)
    for one in snapshot.passages([hit.passage for hit in hits]):
        if found := replacement(value, one.text, years(old.question), body=one.body):
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
