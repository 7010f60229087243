"""What a question asks for, by its words: yes or no, a time, a person, a reason, several things."""

from __future__ import annotations

import re

from corpus import lazy_pattern

QUESTION_WORD = r"(?:who|whom|whose|what|when|where|which|why|how)"
AUXILIARY = r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may(?! \d)|might|must)"

_BEGINS_LIKE_YES_NO = rf"\W*(?:(?:and|so|but) )?(?:any|{AUXILIARY})(?:n['’]t)?\b"
# "is it open?", "any parking there?"; but "can you tell me when ...?" asks for more than yes or no.
_YES_NO = lazy_pattern(rf"{_BEGINS_LIKE_YES_NO}(?! you\b)(?!.*\b{QUESTION_WORD}\b)", re.IGNORECASE)
# Questions for a time; the last are none that begin with a clause: "When the pump is wet, what do I do?"
_WHAT_DAY = r"(?:on )?(?:what|which) (?:day|date)"
ASKS_WHEN = lazy_pattern(
    rf"\W*(?:when|{_WHAT_DAY}|(?:what was )?(?:the )?last time|(?:the )?(?:release )?date)\b", re.IGNORECASE
)
ASKS_WHEN_DID = lazy_pattern(rf"\W*(?:when|{_WHAT_DAY}) did\b", re.IGNORECASE)
ASKS_WHEN_IT_IS = lazy_pattern(
    rf"\W*(?:when (?:is|are|was|were|will|did|does|do)|{_WHAT_DAY}|(?:the )?(?:date|day) of)\b", re.IGNORECASE
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
