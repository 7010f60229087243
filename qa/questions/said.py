"""Questions for what somebody said: their own passages seldom name them, so these are asked for the topic alone."""

from __future__ import annotations

import re

from corpus import SIGN_OFF
from index import STOP_WORDS, StoredPassage
from qa.questions.steps import terms

_ASKS_WHAT_WAS_SAID = re.compile(
    r"what (?:did|does|do|has|have) (?P<name>[\w.'’ -]{1,40}?) (?:sa(?:y|id)|wr(?:ite|ote|itten)|th(?:ink|ought)"
    r"|repl(?:y|ied)|answer(?:ed)?|suggest(?:ed)?|mention(?:ed)?|report(?:ed)?|advised?|recommend(?:ed)?"
    r"|t(?:ell|old) \w+) (?:about|of|on|regarding|concerning) (?P<topic>.+?)[?. ]*",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
# The heading of a mail or quotation whose sender is known.
_HAS_SENDER = re.compile(r"Quoted:|.+ to ")
# The most words of a greeting or signature.
_MAX_GREETING = 3


def topic_of_sender(question: str, passage: StoredPassage) -> str:
    """Return the topic that a question for somebody's words asks about if the passage is by them; else "".

    Above each passage of a message are its sender "to" whom, and when; above a quotation who wrote it.
    """
    asked = _ASKS_WHAT_WAS_SAID.fullmatch(question)
    if not asked or not passage.heading:
        return ""
    sender = passage.heading[-1].partition(" to ")[0]
    return asked["topic"] if _words(asked["name"]) <= _words(sender) else ""


def says_all(question: str, passage: StoredPassage) -> bool:
    """Whether the passage is by the person whose words are asked for, and has all the words of the topic."""
    topic = terms(topic_of_sender(question, passage))
    return bool(topic) and topic <= terms(passage.text[passage.body :])


def is_by_another(question: str, passage: StoredPassage) -> bool:
    """Whether a question asks for the words of somebody by name, and the passage is a mail that does not name them.

    A greeting names whom it is for.
    """
    asked = _ASKS_WHAT_WAS_SAID.fullmatch(question)
    if not asked or not passage.is_mail or not _HAS_SENDER.match("".join(passage.heading[-1:])):
        return False
    name = {word for word in _WORD.findall(asked["name"]) if word[0].isupper() and word.lower() not in STOP_WORDS}
    names = _names(asked["name"], passage)
    lines = (one for one in passage.text[passage.body :].splitlines() if not _is_greeting(one, names))
    named = "\n".join((*(one.partition(" to ")[0] for one in passage.heading), *lines))
    return bool(name) and _words(" ".join(name)).isdisjoint(_words(named))


def without_greetings(question: str, passage: StoredPassage, sentences: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out greetings and signatures if a question asks for what somebody said, unless there is nothing else."""
    asked = _ASKS_WHAT_WAS_SAID.fullmatch(question)
    if not asked:
        return sentences
    names = _names(asked["name"], passage)
    return [span for span in sentences if not _is_greeting(passage.text[slice(*span)], names)] or sentences


def _names(asked: str, passage: StoredPassage) -> set[str]:
    """The words of the name that is asked for, and of those above a passage."""
    return {word for word in _words(" ".join((asked, *passage.heading[-1:]))) if word.isalpha()}


def _is_greeting(sentence: str, names: set[str]) -> bool:
    """Whether it is short and ends in a comma, or with a name on a line of its own; or the closing of a letter."""
    lines = sentence.split("\n")
    is_short = all(len(_WORD.findall(line)) <= _MAX_GREETING for line in lines)
    is_closing = SIGN_OFF.fullmatch(sentence) is not None
    return is_closing or (is_short and (sentence.endswith(",") or _words(lines[-1]) <= names))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
