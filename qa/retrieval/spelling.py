"""Misspelt words of a question: what the collection lacks is asked for as what it has, one letter away.

On questions in which one letter of the rarest word was left out, doubled, changed or swapped with the next, this
brings back most of what the mistake cost; questions without mistakes are left alone, because a word is only changed
that no passage has and that the encoder does not know as a whole, as it knows the common words of its languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from index import STOP_WORDS, Encoder, Snapshot, cut, query_terms, term_of

# A short word has too many neighbours, a long one is no word.
_SHORTEST, _LONGEST = 5, 30
# Looking for the neighbours of a word takes about a millisecond, and more in a large collection.
_MOST = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Spelled:
    """A question as it is searched for.

    Attributes:
        text: The question, misspelt words replaced.
        corrections: Each word that was replaced, as it was asked, and what took its place.
    """

    text: str
    corrections: tuple[tuple[str, str], ...]


def spell(question: str, snapshot: Snapshot, encoder: Encoder) -> Spelled:
    """Replace words that the collection lacks by their neighbours that it has."""
    frequency = snapshot.frequencies(query_terms(question))
    found: dict[str, str] = {}
    tried = 0
    for match in _WORD.finditer(question):
        word = _plain(match[0])
        if word in found or not _is_candidate(match[0], word) or any(frequency.get(term) for term in term_of(word)):
            continue
        if encoder.count_tokens([word])[0] == 1:
            continue
        tried += 1
        if tried > _MOST:
            break
        neighbour = _neighbour(word, snapshot, encoder)
        if neighbour:
            found[word] = neighbour
    replaced: dict[str, str] = {}

    def put_right(match: re.Match[str]) -> str:
        right = found.get(_plain(match[0]))
        if right is None:
            return match[0]
        replaced[match[0]] = right
        return right

    text = _WORD.sub(put_right, question) if found else question
    return Spelled(text, tuple(replaced.items()))


def _plain(word: str) -> str:
    """A word as the keyword index has it, or "" where it is not one plain word to it."""
    pieces = cut(word)
    return pieces[0] if len(pieces) == 1 else ""


def _is_candidate(written: str, word: str) -> bool:
    """Whether a word may be misspelt: Latin letters only, and no abbreviation."""
    plain = word.isascii() and word.isalpha() and _SHORTEST <= len(word) <= _LONGEST
    return plain and word not in STOP_WORDS and not written.isupper()


def _neighbour(word: str, snapshot: Snapshot, encoder: Encoder) -> str:
    """The word one letter away whose term stands in the most passages, or ""."""
    own = term_of(word)
    spellings: dict[str, list[str]] = {}
    for other in dict.fromkeys(_edits(word)):
        terms = term_of(other)
        if len(terms) == 1 and terms != own and len(terms[0]) > 2:
            spellings.setdefault(terms[0], []).append(other)
    frequency = snapshot.frequencies(tuple(spellings))
    best = max(spellings, key=lambda term: (frequency[term], term), default="")
    if not best or not frequency[best]:
        return ""
    known = encoder.count_tokens(spellings[best])
    return min(zip(known, spellings[best], strict=True))[1]


def _edits(word: str) -> Iterator[str]:
    """All that is made by one slip; the first letter is seldom wrong."""
    for i in range(1, len(word)):
        yield word[:i] + word[i + 1 :]
    for i in range(len(word) - 1):
        yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    for letter in ascii_lowercase:
        for i in range(1, len(word)):
            yield word[:i] + letter + word[i + 1 :]
        for i in range(1, len(word) + 1):
            yield word[:i] + letter + word[i:]
