"""Sentences that replace a value by another: "for 'four times' put 'five times'", "30 April (was 31 March)"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from corpus import sentence_spans
from qa.questions.steps import terms
from qa.questions.values import DAY_AND_MONTH, MONTH, years

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
_MONTH = re.compile(rf"\b{MONTH}")
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
# The groups of `_REPLACES`, from the end: the last two correct a mistake, and with the one before they may be no more
# than a difference: "5 mg instead of 10 mg" in children, "8:40, not 6:15" on Sundays.
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
# For whom or when something holds: "in the elderly", "for patients under 60".
_HOLDS_FOR = re.compile(
    r"\b(?:in|for|among|with|under|over|above|below|when|during)\s+(?P<whom>[^\s,.;:()]+(?:[ \t][^\s,.;:()]+){0,4})",
    re.IGNORECASE,
)
_ITEM_MARKER = re.compile(r"\A[^\w§(]*(?:§+ ?\S+\s+|\(?\w{1,2}[.)]\s+)?")
_NEXT_ITEM = re.compile(r"\n\s*(?:\n|[-*•]\s|\(?\w{1,2}[.)]\s)")


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


def is_value(text: str) -> bool:
    """Whether a text is a value that another one can replace; a bare small number is none."""
    return bool(_forms(text))


def says_changed(text: str) -> bool:
    """Whether a text says that something was changed or corrected."""
    return _CHANGES.search(text) is not None


def holds_for(sentence: str) -> Iterator[str]:
    """Yield the first term of each phrase that says for whom or when a sentence holds: "elder" of "in the elderly"."""
    for one in _HOLDS_FOR.finditer(sentence):
        words = _OLD_PART.sub(" ", _DATE.sub("", one["whom"])).split()
        yield from (term for term in [next((term for word in words for term in terms(word)), "")] if term)


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
    months = [] if re.search(r"\d", value) else _MONTH.findall(value)
    found = [form for form in map(_form, dict.fromkeys(forms)) if form]
    return [*found, _form_of_month(months[0])] if len(months) == 1 else found


def _form_of_month(name: str) -> _Form:
    """Return the form of a month alone; "may" and "march" are other words unless capitalised."""
    old = re.compile(rf"\b{name}\b")
    return _Form(old, old, _MONTH)


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
