"""Find sentences that replace a value by another: "for 'four times' put 'five times'", "30 April (was 31 March)".

The old value, other values of its form and its bare number are masked in a sentence, each by its own private character;
the result is matched with patterns such as OLD "is now" NEW, or NEW "instead of" OLD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from typing import NamedTuple

from corpus import lazy_pattern, sentence_spans
from qa.language.spans import Span, spans_overlap
from qa.language.terms import terms
from qa.language.values import DAY_AND_MONTH, MONTH, years_in

_SMALL_NUMBER = (
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty|ninety)\b"
)
# What may differ between a value and the one that replaces it.
_VALUE_FORMS = {"number": r"\d+(?:[.,:]\d+)*", "small": _SMALL_NUMBER, "month": rf"\b{MONTH}", "blank": r"\s+"}
_TIME = r"\d\d?:\d\d"
_OLD_PART = lazy_pattern("|".join(f"(?P<{name}>{form})" for name, form in _VALUE_FORMS.items()), re.IGNORECASE)
_BARE_NUMBER = lazy_pattern(rf"\d{{1,2}}|{_SMALL_NUMBER}", re.IGNORECASE)
# A number with what is right before it, and the word after it.
_CORE_VALUE = lazy_pattern(
    rf"(?P<amount>[^\w\s(“‘\"'>]?(?:{_VALUE_FORMS['number']}|{_SMALL_NUMBER})%?)(?: [%\w]+(?:/\w+)*)?", re.IGNORECASE
)
_DAY_AND_MONTH = lazy_pattern(DAY_AND_MONTH)
_MONTH = lazy_pattern(rf"\b{MONTH}")
_DATE = lazy_pattern(rf"{DAY_AND_MONTH}|\b{MONTH}\b|\b(?:19|20)\d\d\b")
_MARKS = r"[\"'“”‘’„«»*_`~]*"
# Up to 60 or 30 characters of the same clause, without another value of the form. A wrapped line continues with a
# lower-case letter, a number or a mark.
_CHARACTER = r"(?:[^;\n\ue001]|\n(?=[ \t]*(?-i:[a-zà-ÿ\d(\"'“‘„€£$])))"
_GAP = rf"{_CHARACTER}{{0,60}}?"
_NEAR = r"(?:[^;:.\n\d\ue001]|\n(?=[ \t]*(?-i:[a-zà-ÿ(\"'“‘„€£$]))){0,30}?"
# The same without a further subject, as in "the fee is £10 and the rent is now £900".
_SAME_SUBJECT = (
    r"(?:(?!(?:[,–—]|\b(?:and|but|while|whereas)\b)\s(?!(?:and|but|which|it|they|is|are|was|were|ha[sd]|have|will|then"
    rf"|now|later|becomes?)\b|\d)){_CHARACTER}){{0,60}}?"
)
# As an old value may be.
STRUCK_OUT = lazy_pattern(r"~~(?=[^\s~])[^~]+~~")
# Words between the old value and the new one, between the new and the old one, for a change, and before the old one.
_BECOMES = r"\b(?:(?:replaced|substituted|superseded) (?:by|with)|(?:amended|changed|corrected) to|now reads?)\b"
_IS_NOW = r"\b(?:(?:increased|lowered|raised|reduced) to|(?:is|are) now|becomes?)\b"
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
# Words for the two versions of a text of which the second is in force.
_DRAFT = r"\b(?:draft|preprint|first version|old (?:list|version)|provisional|preliminary)\b"
_FINAL = r"\b(?:final|published|printed|corrected|new list|new version)\b"
# The masks of the old value, of others of its form, and of its bare number, and how these are written around it.
_OLD, _NEW, _BRIEF = "\ue000", "\ue001", "\ue002"
_WAS = rf"{_MARKS}{_OLD}+{_MARKS}"
_BY = rf"{_MARKS}({_NEW}+){_MARKS}"
_WAS_BRIEF = rf"{_MARKS}[{_OLD}{_BRIEF}]+{_MARKS}"
_REPLACES = (
    rf"{_WAS}(?:{_GAP}{_BECOMES}|{_SAME_SUBJECT}{_IS_NOW}){_GAP}{_BY}"  # the fee of £5 is now £6
    rf"|\bno longer\b{_GAP}{_WAS}{_GAP}\bbut\b{_GAP}{_BY}"  # no longer £5, but £6
    rf"|{_CHANGED}{_GAP}\bfrom {_WAS_BRIEF} to {_GAP}{_BY}"  # was raised from 5 to £6
    # for "five times" put "six times"
    rf"|\b(?:for|replace|change|substitute) {_WAS},? (?:put|read|say|substitute|write|with|by|to) {_BY}"
    rf"|~~{_WAS}~~{_NEAR}{_BY}"  # ~~£5~~ £6
    rf"|{_DRAFT}{_NEAR}{_WAS}{_GAP};?{_GAP}{_FINAL}{_GAP}{_BY}"  # £5 in the draft; the final text has £6
    rf"|{_BY}{_NEAR}[(,;–-]\s*{_UNTIL_NOW}[:,]?\s+{_PREPOSITION}{_WAS_BRIEF}"  # £6 (was £5)
    rf"|{_BY}{_GAP}{_INSTEAD}(?:{_GAP}{_WAS}|\s+{_PREPOSITION}{_WAS_BRIEF})"  # £6 instead of £5
    rf"|\bnot {_PREPOSITION}{_WAS_BRIEF},?\s+but {_GAP}{_BY}"  # not £5, but £6
    rf"|{_BY}{_NEAR}(?:,|\(|\s[–-]|\band)\s*not\s+{_PREPOSITION}{_WAS_BRIEF}"  # £6, not £5
)
# The last two alternatives correct a mistake. With the one before, they may only state a difference: "5 mg instead of
# 10 mg" in children, "8:40, not 6:15" on Sundays.
_CORRECTIONS, _DIFFERENCES = 2, 3
# A change to a new value that does not repeat the old one, perhaps on a date: "changed on 12 April 2025 to 2208".
_ON_DATE = rf"(?:\s(?:on )?{_NEW}{{1,2}} [^\W\d_]{{3,9}}\.?(?: {_NEW}{{4}})?)?"
_MOVED = (
    r"\b(?:brought forward|changed|cut|extended|increased?|lowered?|moved|postponed|put (?:back|off)|raised?|reduced?"
    rf"|rescheduled|shortened)\b{_ON_DATE}{_NEAR}\bto (?:\w+ )?{_BY}"
)
# Words that say that something was changed or corrected.
_CHANGES = lazy_pattern(
    r"\b(?:adden\w+|amend\w*|chang\w+|correct(?:ed|ing|ions?)|errat\w+|error|fault|from now on|mistake\w*|no longer|now"
    r"|oops|revis\w+|slip|sorry|typo|updat\w+|with effect|wrong\w*|as (?:I|we) (?:said|told|wrote)"
    rf"|from (?:(?:\d\d? )?{MONTH}|20\d\d))\b",
    re.IGNORECASE,
)
_AMENDS = lazy_pattern(r"\b(?:adden\w+|amend\w*|correct(?:ed|ions?)|errat\w+|revis\w+)\b", re.IGNORECASE)
# The same in everyday messages, where it need not be said what is changed.
_CHANGES_PLAN = (
    r"\b(?:after all|any ?more|broken?|can only|cancel\w*|can(?:no|['’])?t|changed?|changes|changing|chose|closed"
    r"|decided|does(?:n['’]?t| not) work|fe?ll through|hand(?:s|ed) over|hurt|ill|increas\w+|instead"
    r"|(?<!the )(?<!a )move[sd]?|new|no longer|now|out of|please note|post-?poned?|rais(?:ed?|es)|rather|reduc\w+"
    r"|replac\w+|reschedul\w+|resign\w*|retire[ds]?|shift(?:s|ed)?|sick|sorry|steps? (?:down|in)|swap(?:s|ped)?"
    r"|switch(?:es|ed)?|then|t(?:akes?|aken|aking|ook) (?:it )?over|unfortunately|updat\w+|won['’]?t|wrong"
    r"|(?:come|came|go|goes|gone|going|went|pull(?:ed)?|push(?:ed)?|put|set) (?:up|down|back|off|forward))\b"
)
# Questions for what a value was before, and those in the past tense, which may mean it.
_ASKS_FOR_OLD = lazy_pattern(
    r"\b(?:used to|original(?:ly)?|initial(?:ly)?|earlier|former(?:ly)?|previous(?:ly)?|at first|at the time|back then"
    rf"|before (?:that|then|it|the (?:change|amendment)\w*))\b|(?<!how )\bold\b|\bbefore\W*$|{_DRAFT}",
    re.IGNORECASE,
)
_PAST_TENSE = lazy_pattern(r"\b(?:was|were|did|had)\b", re.IGNORECASE)
# Words for what was not decided or done, and for what was revoked, in the sentence or after it.
_UNDECIDED = lazy_pattern(
    r"\b(?:if|propos\w+|suggest\w*|would|might|could|maybe|perhaps|motion|request\w*|want(?:s|ed)|ask(?:s|ed)|discussed"
    r"|consider\w*|against)\b|\?"
    rf"|(?:\b(?:not|never|refus\w+)\b|n['’]t\b)(?: (?:to|be|been|yet))* {_CHANGED}"
    r"|(?:^|[.:] )\W*(?:chang|cutt|extend|increas|lower|mov|rais|reduc|shorten)ing\b",
    re.IGNORECASE,
)
_REVOKED = lazy_pattern(
    r"\b(?:withdrawn|withdrew|rejected|defeated|declined|dismissed|revoked|rescinded|reversed|cancell?ed|turned down"
    r"|no decision|(?:was|were) (?:wrong|an error|a mistake)"
    r"|not (?:accepted|adopted|agreed|approved|carried|passed))\b",
    re.IGNORECASE,
)
# For whom or when something holds: "in the elderly", "for patients under 60", "members pay".
_HOLDS_FOR = lazy_pattern(
    r"\b(?:in|for|among|with|under|over|above|below|when|during)\s+(?P<whom>[^\s,.;:()]+(?:[ \t][^\s,.;:()]+){0,4})"
    r"|\b(?P<who>[^\W\d_]{3,}(?:s|ren|ople))\s(?:pay|get|receive|need|have)\b",
    re.IGNORECASE,
)
# After a new value, for whom or when alone it holds: "reduced to £5 for children", but not "in May" or "on 3 May".
_ONLY_FOR = lazy_pattern(
    rf"\W?(?:\s[^\W\d_]+){{0,2}}?\s(?:(?:for|if|over|under|unless|when|while|with)|(?:in|on) (?!\d|{MONTH}))\b"
)
_NEXT_ITEM = lazy_pattern(r"\n\s*(?:\n|[-*•]\s|\(?\w{1,2}[.)]\s)")


class Replacement(NamedTuple):
    """A sentence that puts a new value in place of another one.

    Attributes:
        value: The characters of the new value, end exclusive.
        sentence: Those of the sentence.
        is_correction: Whether the old value was a mistake.
        may_differ: Whether this may be a difference rather than a change: "5 mg instead of 10 mg".
    """

    value: Span
    sentence: Span
    is_correction: bool
    may_differ: bool

    def is_asked_for(self, question: str) -> bool:
        """Whether a question asks for the new value rather than the old one."""
        is_past = not self.is_correction and _PAST_TENSE.search(question)
        return not is_past and not _ASKS_FOR_OLD.search(question)

    def excludes_question(self, question: str, text: str) -> bool:
        """Whether the question is about the case in which the old value holds: "at 9:15, not at 9:30 as on Sundays"."""
        before, after = terms(text[self.sentence[0] : self.value[1]]), terms(text[self.value[1] : self.sentence[1]])
        return self.is_correction and not terms(question).isdisjoint(after - before)


def find_replacement(
    value: str, text: str, question_years: set[str], *, body: int = 0, words: Span | None = None
) -> Replacement | None:
    """Return where a text, from its body on, replaces a value by another one of the same form.

    Bare small numbers are not replaced. Mere proposals do not count, nor do sentences about other years than the
    question, nor if `words` are given, those that replace the value elsewhere.
    """
    forms = [form for form in _forms(value) if form.is_in(text, body)]
    for start, end in sentence_spans(text, body) if forms else ():
        for form in forms:
            match = _replaces().search(form.masked(text[start:end]))
            if match and words and not spans_overlap(words, (start + match.start(), start + match.end())):
                continue
            if match and _is_decided(text, (start, end)) and _fits_years(question_years, years_in(text[start:end])):
                group = match.lastindex or 0
                first, last = match.span(group)
                kind = (match.re.groups - group < most for most in (_CORRECTIONS, _DIFFERENCES))
                return Replacement((start + first, start + last), (start, end), *kind)
    return None


def find_changed_value(value: str, text: str, question_years: set[str], *, body: int = 0) -> Replacement | None:
    """Return where a text says that something was changed to another value of the same form: "moved to 22 June"."""
    forms = _forms(value)
    for start, end in sentence_spans(text, body) if forms else ():
        for form in forms:
            match = re.search(_MOVED, form.masked(text[start:end]), re.IGNORECASE)
            if match and _is_decided(text, (start, end)) and _fits_years(question_years, years_in(text[start:end])):
                first, last = match.span(1)
                return Replacement((start + first, start + last), (start, end), is_correction=False, may_differ=False)
    return None


def replace_if_outdated(question: str, text: str, words: Span, sentence: Span) -> Span:
    """Return the words of an answer; if what is quoted replaces them, the new value.

    Such as "£295, not £299", or "The fee was £295. Raised to £299 in May."
    """
    value, quoted = text[slice(*words)], text[: sentence[1]]
    new = find_replacement(value, quoted, set(), body=sentence[0], words=words)
    if new is None:
        later = find_changed_value(value, quoted, set(), body=words[1])
        is_next = later is not None and quoted[words[1] : later.sentence[0]].strip()[-1:] in {".", "!", ";"}
        new = later if later and is_next and not _ONLY_FOR.match(quoted, later.value[1]) else None
    if new is None or not new.is_asked_for(question) or new.excludes_question(question, text):
        return words
    is_change = new.is_correction or not new.may_differ or _CHANGES.search(text, *sentence)
    return new.value if is_change else words


def is_replaceable(text: str) -> bool:
    """Whether a text has a value that can be searched for and replaced; bare small numbers are too frequent."""
    return bool(_forms(text))


def says_changed(text: str) -> bool:
    """Whether a text says that something was changed or corrected."""
    return _CHANGES.search(text) is not None


def is_amendment(name: str) -> bool:
    """Whether a heading, title or path calls a text an amendment; mere "updates" may be news."""
    return _AMENDS.search(name) is not None


def says_plan_changed(text: str) -> bool:
    """Whether a message says that something is otherwise than planned: "Tuesday doesn't work after all"."""
    return bool(_changes_plan().search(text) or _CHANGES.search(text))


def without_changes(text: str) -> str:
    """Return a text without the words that say that something changed."""
    return _CHANGES.sub(" ", _changes_plan().sub(" ", text))


def is_undecided(text: str) -> bool:
    """Whether a sentence asks or proposes rather than states."""
    return _UNDECIDED.search(text) is not None


def asks_for_past(question: str) -> bool:
    """Whether a question is in the past tense, or asks for what a value was before."""
    return bool(_PAST_TENSE.search(question) or _ASKS_FOR_OLD.search(question))


def restriction_terms(sentence: str) -> Iterator[str]:
    """Yield the first term of each phrase for whom or when a sentence holds: "elder" of "in the elderly"."""
    for match in _HOLDS_FOR.finditer(sentence):
        words = _OLD_PART.sub(" ", _DATE.sub("", match["whom"] or match["who"])).split()
        yield from (term for term in [next((term for word in words for term in terms(word)), "")] if term)


def _fits_years(question_years: set[str], own_years: set[str]) -> bool:
    return not (question_years and own_years and question_years.isdisjoint(own_years))


def _is_decided(text: str, sentence: Span) -> bool:
    after = _NEXT_ITEM.search(text, sentence[1])
    end = after.start() if after else len(text)
    return not (_UNDECIDED.search(text, *sentence) or _REVOKED.search(text, sentence[0], end))


@cache
def _replaces() -> re.Pattern[str]:
    """Return the pattern of sentences that replace a value; most questions do without its 10 ms of compiling."""
    return re.compile(_REPLACES, re.IGNORECASE)


@cache
def _changes_plan() -> re.Pattern[str]:
    return re.compile(_CHANGES_PLAN, re.IGNORECASE)


class _Form(NamedTuple):
    """A form in which a text may give a value.

    Attributes:
        old: The pattern of the value.
        number: The pattern of its number alone.
        new: The pattern of any value of this form.
    """

    old: re.Pattern[str]
    number: re.Pattern[str]
    new: re.Pattern[str]

    def is_in(self, text: str, body: int) -> bool:
        """Whether a text has the value, or its number, and another one of the form."""
        has_old = self.old.search(text, body) or self.number.search(text, body)
        return bool(has_old) and self.new.search(self.old.sub("", text[body:])) is not None

    def masked(self, sentence: str) -> str:
        """Mask the value, others of its form and its bare number by as many characters."""
        for pattern, mark in ((self.old, _OLD), (self.new, _NEW), (self.number, _BRIEF)):
            sentence = pattern.sub(partial(_mask, mark), sentence)
        return sentence


def _mask(mark: str, match: re.Match[str]) -> str:
    return mark * len(match[0])


@lru_cache(maxsize=32)
def _forms(value: str) -> list[_Form]:
    """Return the forms of a value: for "£96 a year" also "£96", for "not less than six months’ notice" "six months"."""
    cores = list(_CORE_VALUE.finditer(value))
    forms = [value, cores[0][0], cores[0]["amount"]] if len(cores) == 1 else [value]
    dates = list(_DAY_AND_MONTH.finditer(value))
    forms += [dates[0][0]] if len(dates) == 1 else []
    months = [] if re.search(r"\d", value) else _MONTH.findall(value)
    compiled = [form for form in map(_form, dict.fromkeys(forms)) if form]
    return [*compiled, _form_of_month(months[0])] if len(months) == 1 else compiled


def _form_of_month(name: str) -> _Form:
    """Return the form of a month alone; "may" and "march" are not months unless capitalised."""
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
    was, by = (between[0] + "".join(map("".join, zip(form, between[1:], strict=True))) for form in (old, new))
    # "One day" may become "two days".
    by = re.sub(r"(?<=[^\W\d_]{2})s?$", "s?", by, count=1) if between[-1] else by
    number = re.escape(next(part[0] for part in parts if part["number"] or part["small"]))
    patterns = (rf"(?<![\w.,]){pattern}(?!\w|[.,]\d)" for pattern in (was, number, by))
    return _Form(*(re.compile(pattern, re.IGNORECASE) for pattern in patterns))
