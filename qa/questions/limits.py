"""Limits that a question exceeds: "up to four weeks" says nothing about leave of six weeks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qa.questions.steps import terms
from qa.questions.values import Span

_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_QUANTITY = re.compile(
    r"(?:\b(?P<limit>up to|at most|not? (?:more|longer) than|(?:a )?maximum of) "
    r"|\b(?P<below>(?:less|fewer|shorter) than|under|below|within) |\b(?P<over>(?:more|longer) than|over|above) )?"
    rf"(?<![\w.,])(?P<number>\d+(?:[.,]\d+)?|{'|'.join(_NUMBERS)})[ -](?P<unit>[^\W\d_]+)",
    re.IGNORECASE,
)
# Other questions get the limit itself as their answer.
_ASKS_ABOUT = re.compile(
    r"(?!.*\b(?:how|limit|longest|maximum|most)\b).*\b(?:what|when|where|which|who|whom|whose)\b", re.IGNORECASE
)
_MORE = r"\b(?:longer|larger|higher|more|above|beyond|over|exceed\w*|otherwise)\b"
_GOES_ON = re.compile(
    rf"{_MORE}|\b(?:then|after(?:wards| that| this)|thereafter|rest|others?|else|extra|additional|further"
    r"|(?:heavi|bigg|dear|old|full|great|tall|wid|lat)er)\b",
    re.IGNORECASE,
)
_BEGINS_WITH_MORE = re.compile(rf"\W*(?:\w+ ){{0,2}}{_MORE}", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.,;:?!]")
# How many words before and after a quantity say of what it is.
_NEAR = 3


class _Quantity(NamedTuple):
    unit: str
    value: float
    is_limit: bool
    is_exceeded: bool
    near: set[str]

    def is_beyond(self, limit: _Quantity) -> bool:
        is_more = self.value > limit.value or (self.is_exceeded and self.value == limit.value)
        return limit.is_limit and is_more and not self.near.isdisjoint(limit.near)


def exceeds_limit(question: str, sentence: str) -> bool:
    """Whether a question is about more than the limit up to which a sentence says something about the same thing."""
    if not _ASKS_ABOUT.match(question) or _GOES_ON.search(_QUANTITY.sub("", sentence)):
        return False
    said = list(_quantities(sentence))
    return any(
        any(one.unit == asked.unit for one in said)
        and all(asked.is_beyond(one) for one in said if one.unit == asked.unit)
        for asked in _quantities(question)
    )


def beyond_limit(question: str, text: str, spans: Sequence[Span], lead: Span) -> Span:
    """Return the sentence after one whose limit the question exceeds, if that goes on: "Longer leave needs ..."."""
    after = next((span for span in spans if span[0] >= lead[1]), lead)
    is_next = _BEGINS_WITH_MORE.match(text, *after) and exceeds_limit(question, text[slice(*lead)])
    return after if is_next else lead


def _quantities(text: str) -> Iterator[_Quantity]:
    for found in _QUANTITY.finditer(text):
        if found["below"]:
            continue
        word = found["number"].lower()
        value = float(_NUMBERS.index(word)) if word in _NUMBERS else float(word.replace(",", "."))
        before = _CLAUSE_END.split(text[: found.start()])[-1].split()[-_NEAR:]
        after = _CLAUSE_END.split(text[found.end() :])[0].split()[:_NEAR]
        near = terms(" ".join((*before, *after)))
        yield _Quantity(found["unit"].lower().rstrip("s"), value, bool(found["limit"]), bool(found["over"]), near)
