"""From a question to the terms it is searched by; nothing in it is an operator."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from index.lexical.analyzer import parts_of, word_terms, words

# Words that say how a question is asked, not what it is about.
_STOP_WORDS = """
    a about after all also am an and any are as at be because been before being between both but by can could
    did do does doing during each few for from further had has have having he her here hers him his how i if in
    into is it its itself just may me might more most must my no nor not of off on once only or other our ours
    out over own same shall she should so some such than that the their theirs them then there these they this
    those through to too under until up us very was we were what when where which while who whom whose why will
    with would you your yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# A question is a sentence; with more different words than this it is a document.
MAX_WORDS = 200

# BM25's k3: a term said twice weighs 1.8 times as much, said three times 2.5.
_K3 = 8

_NEGATION = re.compile("n't$")


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word of a question and a term of the keyword index that it is looked up by.

    Several words may share a term (`cat`, `cats`), and a word may have several (pairs of characters, in writing
    without spaces).

    Attributes:
        term: As the index has it.
        weight: 1 for a term said once, more for one said several times; the same wherever the term comes from.
        word: Folded: lower-case, without accents and possessive ending.
        spans: Where in the question the word occurs, as characters, ends exclusive.
        is_part: It occurs as a part of joined words only, and the spans are theirs.
    """

    term: str
    weight: float
    word: str
    spans: tuple[tuple[int, int], ...]
    is_part: bool


@dataclass(slots=True)
class _Occurrences:
    alone: list[tuple[int, int]] = field(default_factory=list)
    inside: list[tuple[int, int]] = field(default_factory=list)


def analyse(question: str) -> tuple[QueryTerm, ...]:
    """The terms a question is searched by, each with the word it comes from, in the order of the words.

    A joined word is searched for whole and by its parts, since writers do not agree on hyphens. Stop words and
    negations (`don't`) are left out unless nothing else remains, and so are words behind the first 200.
    """
    found: dict[str, _Occurrences] = {}
    said: Counter[str] = Counter()
    for word, start, end in words(question):
        found.setdefault(word, _Occurrences()).alone.append((start, end))
        parts = parts_of(word)
        joined = len(parts) > 1
        said.update(term for part in parts for term in word_terms(part))
        said.update([word] if joined else [])
        for part in parts if joined and not _NEGATION.search(word) else ():
            if len(part) > 1:
                found.setdefault(part, _Occurrences()).inside.append((start, end))
    telling = [word for word in found if word not in STOP_WORDS and not _NEGATION.search(word)]
    return tuple(
        QueryTerm(term, _weight(said[term]), word, tuple(places.alone or places.inside), not places.alone)
        for word in (telling or list(found))[:MAX_WORDS]
        for places in (found[word],)
        for term in dict.fromkeys(word_terms(word))
    )


def _weight(times: int) -> float:
    return (_K3 + 1) * times / (_K3 + times)


def query_weights(question: str) -> dict[str, float]:
    """The terms of a question, each once, in order, with its weight."""
    return {term.term: term.weight for term in analyse(question)}


def query_terms(question: str) -> tuple[str, ...]:
    """The terms of a question, each once, in order."""
    return tuple(query_weights(question))
