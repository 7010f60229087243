"""Spelling: a word that the collection lacks is searched for as one that it has, one letter away.

On questions in which one letter of the rarest word was left out, doubled, changed or swapped with the next, this
recovers most of what the mistake cost. Questions without mistakes are left alone: only words are changed that no
passage has and that are no single token of the encoder, as the common words of its languages are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from string import ascii_lowercase

from index import STOP_WORDS, Encoder, Index, Word, word_terms, words
from qa.answer.lookup import QUOTED
from qa.answer.results import Correction

# A short word has too many neighbours, a long one is no word.
_SHORTEST, _LONGEST = 5, 30
# Words of a question that are looked at, since finding the neighbours of one takes about a millisecond.
_MAX_WORDS = 5
# The terms, and the passages of each, in which a neighbour is looked for as it is written.
_MAX_TERMS, _MAX_PASSAGES = 3, 20
# Last letters that stemming makes one.
_ALIKE = {"y": "i", "i": "y"}
# "ø" and "ł" are letters of their own, which no folding makes ASCII.
_AFTER_LATIN = "\u0250"


def correct_spelling(
    question: str, found: Sequence[Word], snapshot: Index, encoder: Encoder
) -> tuple[str, tuple[Correction, ...]]:
    """Replace words that the collection lacks by neighbours that are written in it.

    Args:
        question: The question.
        found: Its words.
        snapshot: The collection.
        encoder: What it knows as one token is no mistake.

    Returns:
        The question to search for, and each word that was replaced, as it was written.
    """
    quoted = [match.span() for match in QUOTED.finditer(question)]
    suspects = [
        part
        for word in found
        # Parts of contractions and of names such as O'Brien are no words by themselves.
        if "'" not in word.text
        for part in word.parts or (word,)
        if _may_be_misspelt(part.text, question[part.start : part.end])
        and not any(start < part.start < end for start, end in quoted)
    ]
    neighbours = {}
    for word in _unknown({part.text: None for part in suspects}, snapshot, encoder)[:_MAX_WORDS]:
        neighbour = _neighbour(word, snapshot)
        if neighbour:
            neighbours[word] = neighbour
    corrections: dict[Correction, None] = {}
    pieces, at = [], 0
    for part in suspects:
        if part.text in neighbours:
            pieces += [question[at : part.start], neighbours[part.text]]
            at = part.end
            corrections[Correction(question[part.start : part.end], neighbours[part.text])] = None
    return "".join([*pieces, question[at:]]), tuple(corrections)


def _may_be_misspelt(word: str, written: str) -> bool:
    """Whether a word is Latin letters only, and no abbreviation."""
    plain = max(word, default="") < _AFTER_LATIN and word.isalpha() and _SHORTEST <= len(word) <= _LONGEST
    return plain and word not in STOP_WORDS and not written.isupper()


def _unknown(candidates: Collection[str], snapshot: Index, encoder: Encoder) -> list[str]:
    """The words that no passage has, perhaps, and that the encoder does not know as a whole, in order."""
    terms = {word: word_terms(word) for word in candidates}
    frequency = snapshot.frequencies([term for several in terms.values() for term in several])
    missing = [word for word in candidates if not any(frequency[term] for term in terms[word]) or _same_stem(word)]
    sizes = encoder.count_tokens(missing)
    return [word for word, size in zip(missing, sizes, strict=True) if size > 1]


def _neighbour(word: str, snapshot: Index) -> str:
    """A word of the collection that is one letter away, as it is written there; "" where there is none.

    That of the term in the most passages; the keyword index has stems only, so it is looked for in their text.
    """
    own = word_terms(word)
    if (other := _same_stem(word)) and any(snapshot.frequencies(own).values()):
        return "" if _written(own[0], {word}, snapshot) else _written(own[0], {other}, snapshot)
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    for other in _edits(word):
        terms = word_terms(other)
        if len(terms) == 1 and terms != own and len(terms[0]) > 2:
            spellings[terms[0]].add(other)
    frequency = snapshot.frequencies(tuple(spellings))
    known = sorted((term for term in spellings if frequency[term]), key=lambda term: (frequency[term], term))
    for term in known[: -_MAX_TERMS - 1 : -1]:
        written = _written(term, spellings[term], snapshot)
        if written:
            return written
    return ""


def _same_stem(word: str) -> str:
    """A name's other spelling, which its stem hides (Kowalsky, Kowalski); "" where there is none."""
    other = f"{word[:-1]}{_ALIKE.get(word[-1], '')}"
    return other if other != word[:-1] and word_terms(other) == word_terms(word) else ""


def _written(term: str, spellings: Collection[str], snapshot: Index) -> str:
    """The most frequent form of some spellings in passages that have a term; "" where they have none."""
    forms: Counter[str] = Counter()
    for passage in snapshot.passages([one.passage for one in snapshot.keyword({term: 1.0}, _MAX_PASSAGES)]):
        text = "\n".join((passage.document.path, passage.context, passage.text))
        parts = (part for word in words(text) for part in word.parts or (word,))
        forms.update(text[part.start : part.end] for part in parts if part.text in spellings)
    return max(forms, key=lambda form: (forms[form], form), default="")


def _edits(word: str) -> Iterator[str]:
    """All words one letter away; the first letter is seldom wrong."""
    for i in range(1, len(word)):
        yield word[:i] + word[i + 1 :]
    for i in range(len(word) - 1):
        yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    for letter in ascii_lowercase:
        for i in range(1, len(word)):
            yield word[:i] + letter + word[i + 1 :]
        for i in range(1, len(word) + 1):
            yield word[:i] + letter + word[i:]
