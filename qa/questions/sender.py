"""Questions for what somebody said: "what did Ann say about the rent?".

Passages by Ann seldom name her, so the reader is asked for the topic alone; mails by others must not answer.
"""

from __future__ import annotations

import re
from itertools import dropwhile

from corpus import SIGN_OFF
from index import STOP_WORDS, StoredPassage
from qa.questions.steps import terms
from qa.questions.values import Span

_ASKS_WHAT_WAS_SAID = re.compile(
    r"what (?:did|does|do|has|have) (?P<name>[\w.'’ -]{1,40}?) (?:sa(?:y|id)|wr(?:ite|ote|itten)|th(?:ink|ought)"
    r"|repl(?:y|ied)|answer(?:ed)?|suggest(?:ed)?|mention(?:ed)?|report(?:ed)?|advised?|recommend(?:ed)?"
    r"|t(?:ell|old) \w+) (?:about|of|on|regarding|concerning) (?P<topic>.+?)[?. ]*",
    re.IGNORECASE,
)
_ASKS_FOR_PERSON = re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
# A word with a capital letter, but not the first one.
_CAPITALISED = re.compile(r"(?<=\w )[^\W\d_a-zà-öø-ÿ]\w")
# The heading of a mail or quotation whose sender is known.
_HAS_SENDER = re.compile(r"Quoted:|.+ to ")
# The most words of a greeting or signature.
_MAX_GREETING = 3


def asks_for_person(question: str) -> bool:
    """Whether a question asks for a person: "who drives the bus?"."""
    return _ASKS_FOR_PERSON.search(question) is not None


def may_name_person(question: str) -> bool:
    """Whether a question asks for a person, or has what may be the name of one."""
    return asks_for_person(question) or _CAPITALISED.search(question) is not None


def names_speaker(question: str, speaker: str) -> bool:
    """Whether a question has one of the names of a speaker."""
    names = {word for word in _WORD.findall(speaker) if len(word) > 1}
    return not names.isdisjoint(_WORD.findall(question))


def topic_of_sender(question: str, passage: StoredPassage) -> str:
    """Return the topic of a question for somebody's words if the passage is by them; else "".

    The heading of a message is "Ann to Bob, 4 June", that of a quotation the name of its author.
    """
    request = _ASKS_WHAT_WAS_SAID.fullmatch(question)
    if not request or not passage.heading:
        return ""
    sender = passage.heading[-1].partition(" to ")[0]
    return request["topic"] if _words(request["name"]) <= _words(sender) else ""


def covers_topic_of_sender(question: str, passage: StoredPassage) -> bool:
    """Whether the passage is by the person whose words a question asks for, and has all terms of the topic."""
    topic = terms(topic_of_sender(question, passage))
    return bool(topic) and topic <= terms(passage.text[passage.body :])


def is_by_other_sender(question: str, passage: StoredPassage) -> bool:
    """Whether a question asks for the words of somebody by name, and the passage is a mail that does not name them.

    Names in its greeting do not count, and in "Ann's lawyer" only the lawyer's.
    """
    request = _ASKS_WHAT_WAS_SAID.fullmatch(question)
    if not request or not passage.is_mail or not _HAS_SENDER.match("".join(passage.heading[-1:])):
        return False
    by_whom = re.sub(r"\w+['’]s?\s", "", request["name"])
    name = {word for word in _WORD.findall(by_whom) if word[0].isupper() and word.lower() not in STOP_WORDS}
    names = _mentioned_names(request["name"], passage)
    lines = dropwhile(lambda line: _is_greeting(line, names), passage.text[passage.body :].splitlines())
    named = "\n".join((*(heading.partition(" to ")[0] for heading in passage.heading), *lines))
    return bool(name) and _words(" ".join(name)).isdisjoint(_words(named))


def without_greetings(question: str, passage: StoredPassage, sentences: list[Span]) -> list[Span]:
    """Leave out greetings and signatures if a question asks for what somebody said, unless there is nothing else."""
    request = _ASKS_WHAT_WAS_SAID.fullmatch(question)
    if not request:
        return sentences
    names = _mentioned_names(request["name"], passage)
    return [span for span in sentences if not _is_greeting(passage.text[slice(*span)], names)] or sentences


def _mentioned_names(name: str, passage: StoredPassage) -> set[str]:
    """Return the words of the name in the question, and of those in the passage's heading."""
    return {word for word in _words(" ".join((name, *passage.heading[-1:]))) if word.isalpha()}


def _is_greeting(sentence: str, names: set[str]) -> bool:
    """Whether a sentence is the closing of a letter, or is short and ends in a comma, or in a line with only names."""
    lines = sentence.split("\n")
    is_short = all(len(_WORD.findall(line)) <= _MAX_GREETING for line in lines)
    is_closing = SIGN_OFF.fullmatch(sentence) is not None
    return is_closing or (is_short and (sentence.endswith(",") or _words(lines[-1]) <= names))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
