"""From a question to an expression of SQLite's full-text search, in which all input is literal text."""

from __future__ import annotations

import re
import unicodedata

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

# A question is a sentence; past this many different words it is a document, and FTS5 has limits.
MAX_TERMS = 200

_JOINERS = ".-'’‑"
_INSIDE = re.compile(f"[{re.escape(_JOINERS)}]")
# "EFCA's", "they'll": the word is what stands before.
_SUFFIX = re.compile("['’](?:s|d|m|ll|re|ve)$")
_NEGATED = re.compile("n['’]t$")


def words(question: str) -> tuple[str, ...]:
    """The words to search for: lower-case, each once, in order, stop words dropped unless nothing remains.

    A word keeps the full stops, hyphens and apostrophes inside it and is also searched for by its parts,
    since writers do not agree on hyphens; a possessive ending is dropped.
    """
    found: dict[str, None] = {}
    for whole in _cut(question):
        word = _SUFFIX.sub("", whole)
        found[word] = None
        parts = _INSIDE.split(word)
        if len(parts) > 1 and not _NEGATED.search(word):
            found.update(dict.fromkeys(part for part in parts if len(part) > 1))
    telling = [word for word in found if word not in STOP_WORDS and not _NEGATED.search(word)]
    return tuple((telling or list(found))[:MAX_TERMS])


def expression(terms: tuple[str, ...]) -> str:
    """An FTS5 expression that any of these words satisfies; "" for none."""
    return " OR ".join(f'"{term}"' for term in terms)


def _cut(question: str) -> list[str]:
    # Lone surrogates have no UTF-8; composed letters are what the tokenizer folds.
    text = unicodedata.normalize("NFC", question).lower()
    spaced = "".join(char if _belongs(char) else " " for char in text)
    stripped = (word.strip(_JOINERS) for word in spaced.split())
    return [word for word in stripped if word]


def _belongs(char: str) -> bool:
    # Marks stand in the middle of words in many scripts.
    return char in _JOINERS or unicodedata.category(char)[0] in "LNM"
