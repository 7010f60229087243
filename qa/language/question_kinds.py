"""What a question asks for, by its words: yes or no, a time, a person, a reason, several things."""

from __future__ import annotations

import re

from corpus import lazy_pattern

# Also "whats"; but "what-if analysis" and "know-how" ask nothing.
QUESTION_WORD = r"(?<!\w-)\b(?:whom|whose|which|why|(?:who|what|when|where|how)s?)\b(?!-\w)"
AUXILIARY = r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may(?! \d)|might|must)"

_BEGINS_LIKE_YES_NO = rf"\W*(?:(?:and|so|but) )?(?:any|{AUXILIARY})(?:n['’]t)?\b"
# "is it open?", "any parking there?"; but "can you tell me when ...?" asks for more than yes or no.
_YES_NO = lazy_pattern(rf"{_BEGINS_LIKE_YES_NO}(?! you\b)(?!.*{QUESTION_WORD})", re.IGNORECASE)
# Questions for a time; the last are none that begin with a clause: "When the pump is wet, what do I do?"
_WHAT_DAY = r"(?:on )?(?:what|which) (?:day|date)"
ASKS_WHEN = lazy_pattern(
    rf"\W*(?:when|{_WHAT_DAY}|(?:what was )?(?:the )?last time|(?:the )?(?:release )?date)\b", re.IGNORECASE
)
ASKS_WHEN_DID = lazy_pattern(rf"\W*(?:when|{_WHAT_DAY}) did\b", re.IGNORECASE)
ASKS_WHEN_IT_IS = lazy_pattern(
    rf"\W*(?:when (?:is|are|was|were|will|did|does|do)|{_WHAT_DAY}|(?:the )?(?:date|day) of)\b", re.IGNORECASE
)
_ASKS_WHY = lazy_pattern(
    r"\W*(?:why\b|how come\b|what (?:caused|led to|(?:is|was|were) (?:the )?(?:\w+ )?(?:cause|reason)s?)\b)",
    re.IGNORECASE,
)
# A plural noun. The -s of "which bird eats fish?" is a verb's, of "opening hours" and "gas" no sign of several things.
_PLURAL = (
    r"(?!(?:always|does|gas|goes|happens|has|hours|its|lens|perhaps|this|times|was)\b)\w+[^\Wisu]s\b"
    r"|\b(?:children|criteria|(?:wo)?men|people)\b"
)
_HELPS = r"(?:are|can|could|did|do|does|had|has|have|may|might|must|shall|should|will|would|were)\b"
_PREPOSITION = r"(?:about|after|and|at|before|besides|by|except|for|from|in|of|on|over|since|to|with)\b"
# Questions for several things.
_ASKS_FOR_SEVERAL = lazy_pattern(
    r"\W*(?:(?:please )?(?:list|name(?! of))\b|(?:what|which|who) (?:are|were) (?!(?:\w+ ){1,3}(?:hours|times)\b)"
    r"|what to (?:bring|buy|pack|take)\b"
    r"|what (?:can|did|do|must|shall|should) (?:i|we|you) (?:(?:also|always|have to|need to) )*"
    r"(?:bring|buy|need|pack|take)\b"
    # Which four beaches, which plots had thefts; but not: which tastes better, which comes first.
    r"|(?:what|which)(?: of the| other)? (?:two|three|four|five|six|seven|eight|nine|ten|\d+) [^\W\d]"
    rf"|which (?:{_PLURAL})(?! (?:an?|best|better|first|is|last|less|more|most|than|the|to|was)\b)"
    # Which side events are there, which seats in the front row do we have; but not: which train stops in Ely.
    rf"|(?:what|which) (?:(?!{_HELPS}|{_PREPOSITION}|is\b|was\b)[\w'’-]+ ){{0,3}}?(?:{_PLURAL})"
    rf" (?:(?!and\b){_PREPOSITION} (?:(?!{_HELPS}|and\b|or\b)[\w'’-]+ ){{1,4}}?)?(?:{_HELPS}|there\b|of\b|besides\b)"
    rf"|where (?:are|were) (?:(?:all|my|our|the) )?(?:(?!{_PREPOSITION})\w+ )?(?:{_PLURAL})"
    r"|who (?:is|are|was|were|sat|sits|served?|serves) (?:on|in) (?:(?!call\b)\w+ ){1,3}?"
    r"(?:board|committee|council|crew|jury|panel|team)\b)",
    re.IGNORECASE,
)
# Members of the board, earlier meetings.
_NAMES_SEVERAL = lazy_pattern(
    rf"(?!.*\?|(?:am|how|is|was|wh\w+|{_HELPS}))(?:(?!{_PREPOSITION})[\w'’-]+ ){{0,3}}?"
    rf"(?-i:(?=[a-z])|(?<!\w )(?=[A-Z]))(?:{_PLURAL})(?= {_PREPOSITION}|\W*\Z)",
    re.IGNORECASE,
)
# The first that matches; people who ask each other "can you open it?" ask for yes or no, too.
_KINDS = {
    "person": r"\b(?:who|whom|whose)\b",
    "time": r"\b(?:when|(?:what|which) (?:time|day|date)|how (?:late|early|soon))\b",
    "place": r"\bwhere\b",
    "number": r"\bhow (?:many|much|old|long|far|big|tall|heavy)\b|\bwhat (?:do|does|did|will|would)\b.{1,60}\bcost\b",
    "reason": r"\b(?:why|how come)\b",
    "thing": r"\b(?:what|which)\b",
    "yes or no": rf"\A{_BEGINS_LIKE_YES_NO}",
}
_OF_KIND = {kind: lazy_pattern(pattern, re.IGNORECASE) for kind, pattern in _KINDS.items()}


def kind_of(question: str) -> str:
    """Return the kind of answer that a question asks for, such as "place"; "" if it asks for none."""
    return next((kind for kind, pattern in _OF_KIND.items() if pattern.search(question)), "")


def asks_yes_or_no(question: str) -> bool:
    """Whether a question can be answered by yes or no."""
    return _YES_NO.match(question) is not None


def asks_for_person(question: str) -> bool:
    """Whether a question asks for somebody."""
    return _OF_KIND["person"].search(question) is not None


def asks_why(question: str) -> bool:
    """Whether a question asks for a reason or cause."""
    return _ASKS_WHY.match(question) is not None


def asks_for_several(question: str) -> bool:
    """Whether a question asks for several things: "which boats are out?"."""
    return _ASKS_FOR_SEVERAL.match(question) is not None


def names_several(question: str) -> bool:
    """Whether a question is no sentence, but names several things: "members of the board"."""
    return _NAMES_SEVERAL.match(question) is not None
