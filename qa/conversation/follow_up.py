"""Follow-up questions in English: completed from the turn before by rules, and left alone where no rule is sure.

Three kinds are completed. A pronoun without an antecedent in its own question stands for the answer before, or for what
the question before was about. A fragment behind "and" or "what about" takes the place of its like in the question
before. A question behind "and" that names nothing is asked beside what the question before was about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BE = r"(?:is|are|was|were)"
_AUXILIARY = rf"(?:{_BE}|am|be|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)"
_ASKING = r"(?:who|whom|whose|what|which|when|where|why|how)"
_PREPOSITION = r"(?:in|on|at|from|to|for|of|by|with|during|about|before|after|near|into)"
_DETERMINER = r"(?:the|an?|my|our)"

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_LEAD = re.compile(r"(?:(?:and|also|but)\b[\s,]*)+(?:(?:what|how) about\s+)?|(?:what|how) about\s+", re.I)
_PERSON = re.compile(r"he|him|his|she|hers?", re.I)
_SEVERAL = re.compile(r"they|them|theirs?|these|those", re.I)
_THING = re.compile(r"its?", re.I)
_POSSESSIVE = re.compile(r"his|its|theirs?|hers", re.I)
# "it" that stands for nothing.
_IMPERSONAL = re.compile(
    r"\bit\s+(?:rain|snow|pour|possible|worth|true|ok|necessary|allowed|safe|common|likely|late|(?:take|cost)\w* to)",
    re.I,
)
# "that" for what was said, and not as the word that begins a clause.
_POINTING = re.compile(
    r"(?:(?<=\bdid )|(?<=\bdoes )|(?<=\bis )|(?<=\bwas )|(?<=\bwill ))th(?:is|at)\b|\bth(?:is|at)$", re.I
)
_OTHER = re.compile(r"\b(?:another|other|which|that|this) ones?\b|\belse$", re.I)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_MANY = re.compile(rf"(?<=how many )(?:\S+\s+){{0,2}}?\S+(?=\s+{_AUXILIARY}\b)|(?<=how many )\S+", re.I)
# What asks by itself, as in "since when?".
_ALONE = re.compile(rf"(?:(?:since|until|{_PREPOSITION})\s+)?{_ASKING}", re.I)
# What a question ends with and is about: "the rent", "my sick leave".
_LAST_THING = re.compile(rf"(?<=\s){_DETERMINER}(?:\s+(?!{_PREPOSITION}\b)[^\s,]+){{1,3}}$", re.I)
_BEFORE_VERB = re.compile(r"\b(?:do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)\s+$", re.I)
_CLAUSE = re.compile(rf"{_AUXILIARY}\b|{_ASKING}\s", re.I)
_SUBJECT = re.compile(rf"(?:{_ASKING}(?:'s|\s+{_BE})|{_BE})\s+(?P<subject>.+)", re.I)
_DETERMINED = re.compile(rf"\b{_DETERMINER}\s+.+", re.I)
_BEHIND = re.compile(rf"(?<=\s){_PREPOSITION}\s+(?P<thing>[^\W\d].+)", re.I)
# A question about what it names, whose answer is no other thing.
_DEFINITION = re.compile(rf"(?:who|what)(?:'s|\s+{_BE})\s+(?!{_DETERMINER}\b)", re.I)
# What "it" and "they" may stand for in their own question.
_SINGULAR = re.compile(rf"\b{_DETERMINER}\s+\S*[^s\s](?=\s|$)", re.I)
_PLURAL = re.compile(rf"\b(?!{_BE}\b)\w+s(?=\s)", re.I)
_NAME = r"(?:[A-Z]|\d[\d.,]*\b)[\w.'’&+-]*"
_NAMES = re.compile(rf"{_NAME}(?:\s+(?:(?:and|of|de|van|von|for|in|the|to|&)\s+)*{_NAME})*")
# What begins with a capital at the start of a question, and is no name.
_NO_NAME = re.compile(rf"(?:{_AUXILIARY}|{_ASKING}|{_PREPOSITION}|{_DETERMINER}|and|also|but|so|then|or|i)\b\s*", re.I)
# An answer of more words is no name.
_LONGEST_NAME = 8
# A longer question says itself what it is about.
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Turn:
    """A question as it was asked, completed, and its exact answer, or "".

    `first` is the question that it was asked beside, if it does not say by itself what it is about, or "".
    """

    question: str
    answer: str = ""
    first: str = ""

    @property
    def complete(self) -> str:
        """The last question that says by itself what it is about."""
        return self.first or self.question


def completed(question: str, before: Turn | None) -> str:
    """Return a question as it is to be asked after another turn: completed, or as it is."""
    return next_turn(question, before).question


def next_turn(question: str, before: Turn | None) -> Turn:
    """Return a question as it is to be asked after another turn, without an answer yet."""
    if before is None or len(question) > _LONGEST:
        return Turn(question)
    lead = _LEAD.match(question)
    rest = _bare(question[lead.end() :] if lead else question)
    asked, topic, first = _bare(before.complete), _topic(before), ""
    if (resolved := _with_pronouns_resolved(rest, before)) != rest:
        rest = f"{resolved}?"
    elif _OTHER.search(rest):
        rest, first = f"{rest}, {topic}?", before.complete
    elif _ALONE.fullmatch(rest):
        rest, first = f"{asked}, and {rest.lower()}?", before.complete
    elif lead is None or not rest:
        rest = question
    elif _CLAUSE.match(rest):
        rest, first = (f"{rest}?", "") if names_of(rest) else (f"{rest}? ({topic})", before.complete)
    elif replaced := _replaced(rest, asked):
        rest = replaced
    else:
        rest, first = f"{rest}, {topic}?", before.complete
    return Turn(rest, first=first)


def names_of(question: str) -> list[str]:
    """Return the proper names in a question, in order, those that "and" joins as one; a number alone is none."""
    found = []
    for match in _NAMES.finditer(question):
        name = match[0].rstrip(".,'’")
        while word := _NO_NAME.match(name):
            name = name[word.end() :]
        if re.search(r"[A-Z]", name):
            found.append(name)
    return found


def _with_pronouns_resolved(rest: str, before: Turn) -> str:
    """A question with each pronoun that means something of the turn before replaced by that."""
    out, at = "", 0
    for match in _WORD.finditer(rest):
        meant = _meant(match, rest, before)
        if meant:
            out += rest[at : match.start()] + meant
            at = match.end()
    return out + rest[at:]


def _meant(match: re.Match[str], rest: str, before: Turn) -> str:
    """What a word stands for, or ""."""
    word, ahead, behind = match[0], rest[: match.start()], rest[match.end() :]
    if word.lower() == "there":
        is_place = not re.search(rf"\b{_BE}\s+$", ahead, re.I) and not re.match(rf"\s*{_BE}\b", behind, re.I)
        name = _answer(before, "where")
        return f"in {name}" if is_place and name else ""
    if _PERSON.fullmatch(word):
        # Abbreviations, such as "GPUs", are no people.
        is_own, meant = (
            any(re.search(r"[A-Z][a-z]{2}", name) for name in names_of(ahead)),
            _answer(before, "who") or _named(before),
        )
    elif _SEVERAL.fullmatch(word):
        is_own, meant = bool(names_of(ahead) or _PLURAL.search(ahead)), _answer(before, "who") or _topic(before)
    elif _IMPERSONAL.match(rest, match.start()):
        return ""
    elif _THING.fullmatch(word) or _POINTING.match(rest, match.start()):
        is_own, meant = (
            bool(names_of(ahead) or _SINGULAR.search(ahead)),
            _answer(before, "which", "what") or _topic(before),
        )
    else:
        return ""
    meant = re.sub(r"['’]s$", "", meant)
    is_hers = word.lower() == "her" and re.match(r"\s+\w", behind) and not _NO_NAME.match(behind.lstrip())
    is_possessive = is_hers or _POSSESSIVE.fullmatch(word)
    return "" if is_own or not meant else f"{meant}'s" if is_possessive else meant


def _answer(before: Turn, *asked: str) -> str:
    """The answer before, if it is a name and was asked for with one of these words."""
    is_name = re.match(r"[A-Z]", before.answer) and len(before.answer.split()) <= _LONGEST_NAME
    is_asked = before.question.lower().startswith(asked) and not _DEFINITION.match(before.question)
    return before.answer if is_name and is_asked else ""


def _named(before: Turn) -> str:
    return next(iter(names_of(before.question) or names_of(before.complete)), "")


def _topic(before: Turn) -> str:
    """What a question is about: its first name, or else its subject, or what follows "the" or a preposition."""
    asked = _bare(before.complete)
    if names := names_of(asked):
        return names[0]
    subject = _SUBJECT.fullmatch(asked)
    if subject:
        return subject["subject"]
    determined, behind = _DETERMINED.search(asked), _BEHIND.search(asked)
    return determined[0] if determined else behind["thing"] if behind else asked


def _replaced(fragment: str, asked: str) -> str:
    """The question before with a fragment in the place of its like, or ""."""
    years = _YEAR.findall(fragment), _YEAR.findall(asked)
    if len(years[0]) == len(years[1]) == 1:
        return _YEAR.sub(years[0][0], asked) + "?"
    if first := re.match(rf"{_PREPOSITION}\b", fragment, re.I):
        phrase = re.search(rf"\b{first[0]}\s+.+?(?=\s+{_PREPOSITION}\b|$)", asked, re.I)
        return asked[: phrase.start()] + fragment + asked[phrase.end() :] + "?" if phrase else ""
    own, theirs = names_of(fragment), names_of(asked)
    if own == [fragment] and len(theirs) == 1:
        return asked.replace(theirs[0], fragment) + "?"
    if not theirs and re.match(rf"{_DETERMINER}\s", fragment, re.I) and (phrase := _LAST_THING.search(asked)):
        # Behind "does" and its like the last word is the verb: "when does the tour start".
        verb = phrase[0].rsplit(maxsplit=1)[1] if _BEFORE_VERB.search(asked, 0, phrase.start()) else ""
        return f"{asked[: phrase.start()]}{fragment} {verb}".rstrip() + "?"
    return _MANY.sub(fragment, asked, count=1) + "?" if _MANY.search(asked) else ""


def _bare(question: str) -> str:
    return question.strip().rstrip("?!. ")
