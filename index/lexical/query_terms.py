"""From a question to the words it is searched by, in which all input is literal text."""

from __future__ import annotations

import re
from collections import Counter

from index.lexical.analyzer import cut, parts, term_of, terms

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

# A question is a sentence; past this many different words it is a document.
MAX_TERMS = 200

# A term said twice counts 1.8 times as much, three times 2.5: k3 of BM25.
_K3 = 8

_NEGATED = re.compile("n't$")


def words(question: str) -> tuple[str, ...]:
    """The words to search for: folded, each once, in order, stop words dropped unless nothing remains.

    A word keeps the full stops, hyphens and apostrophes inside it and is also searched for by its parts,
    since writers do not agree on hyphens; a possessive ending is dropped.
    """
    found: dict[str, None] = {}
    for word in cut(question):
        found[word] = None
        pieces = parts(word)
        if len(pieces) > 1 and not _NEGATED.search(word):
            found.update(dict.fromkeys(piece for piece in pieces if len(piece) > 1))
    telling = [word for word in found if word not in STOP_WORDS and not _NEGATED.search(word)]
    return tuple((telling or list(found))[:MAX_TERMS])


def query_weights(question: str) -> dict[str, float]:
    """The same terms as `query_terms`, each with what it counts: more where it is said several times."""
    simple, joined = terms(question)
    said = Counter((*simple, *joined))
    return {
        term: (_K3 + 1) * times / (_K3 + times) for term in query_terms(question) for times in (max(said[term], 1),)
    }


def query_terms(question: str) -> tuple[str, ...]:
    """The terms of the keyword index that a question's words are looked up by, each once, in order."""
    found: dict[str, None] = {}
    for word in words(question):
        found.update(dict.fromkeys(term_of(word)))
    return tuple(found)
