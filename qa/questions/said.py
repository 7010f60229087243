"""Questions for what somebody said: their own passages seldom name them, so these are asked for the topic alone."""

from __future__ import annotations

import re

from index import StoredPassage
from qa.questions.steps import terms

_ASKS_WHAT_WAS_SAID = re.compile(
    r"what (?:did|does|do|has|have) (?P<name>[\w.'’ -]{1,40}?) (?:sa(?:y|id)|wr(?:ite|ote|itten)|th(?:ink|ought)"
    r"|repl(?:y|ied)|answer(?:ed)?|suggest(?:ed)?|mention(?:ed)?|report(?:ed)?|advised?|recommend(?:ed)?"
    r"|t(?:ell|old) \w+) (?:about|of|on|regarding|concerning) (?P<topic>.+?)[?. ]*",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


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


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
