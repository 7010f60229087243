"""Choose the terms to search for; a question has no operators."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from index.lexical.analyzer import Word, word_terms, words

# Words that belong to the form of a question, not to its topic.
_STOP_WORDS = """
    a about after all also am an and any are as at be because been before being between both but by can could
    did do does doing during each few for from further had has have having he her here hers him his how i if in
    into is it its itself just may me might more most must my no nor not of off on once only or other our ours
    out over own same shall she should so some such than that the their theirs them then there these they this
    those through to too under until up us very was we were what when where which while who whom whose why will
    with would you your yours hows whats whens wheres whos
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# A question is a sentence; with more different words than this it is a document.
MAX_WORDS = 200

# BM25's k3: a term that occurs twice weighs 1.8 times as much, three times 2.5.
_K3 = 8

_NEGATION = re.compile("n't$")


@dataclass(frozen=True, slots=True)
class Analysis:
    """The words and search terms of a question.

    Attributes:
        words: All words, in order, with their spans.
        terms: The terms to search for in the keyword index, in the order of the words, with their weights: 1 for a term
            that occurs once, more for a repeated one.
    """

    words: tuple[Word, ...]
    terms: dict[str, float]


def analyse(question: str) -> Analysis:
    """Cut a question into words and choose the terms to search for.

    A joined word is searched for as a whole and by its parts, since hyphens vary. Stop words and negations (`don't`)
    are left out unless there are no other words; words after the first 200 always are.
    """
    all_words = tuple(words(question))
    distinct: dict[str, None] = {}
    counts: Counter[str] = Counter()
    for word in all_words:
        distinct[word.text] = None
        counts.update(term for part in word.parts or (word,) for term in word_terms(part.text))
        if word.parts:
            counts[word.text] += 1
        if not _NEGATION.search(word.text):
            distinct.update((part.text, None) for part in word.parts if len(part.text) > 1)
    content_words = [word for word in distinct if word not in STOP_WORDS and not _NEGATION.search(word)]
    chosen = (content_words or list(distinct))[:MAX_WORDS]
    return Analysis(all_words, {term: _weight(counts[term]) for word in chosen for term in word_terms(word)})


def _weight(times: int) -> float:
    return (_K3 + 1) * times / (_K3 + times)
