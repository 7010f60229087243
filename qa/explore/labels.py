"""Names of topics: class-based TF-IDF (Grootendorst, https://arxiv.org/abs/2203.05794) over the keyword index.

A topic's terms are those that many of its passages have and few of the collection's, in the words of the collection,
each as it is mostly written; a term that says much the same as one before it gives way (maximal marginal relevance,
Carbonell and Goldstein 1998).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from index import STOP_WORDS, Index, word_terms

# Passages that a label is made from.
SAMPLE = 120
_FEWEST, _MOST = 2, 4
# A further term has at least this share of the first one's score.
_TELLING = 0.35
# Of the score that a term loses for what it shares with one before it.
_DIVERSITY = 0.7
_CANDIDATES = 40
# Terms that an earlier label may have and be kept.
_STILL_TELLING = 12
_LOOKED_UP = 200
_LETTERS = 3
_SHARED_PREFIX = 4
# A word that is so often beside another is one term with it, such as "steam engine".
_ADJACENT = 0.6
_WORD = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_RUN = re.compile(f"{_WORD}(?: {_WORD})*")


@dataclass(slots=True)
class _Class:
    """The words of a topic's passages: how often each is written, and in which passages each term occurs.

    Attributes:
        texts: Of each passage, the stretches of words with nothing but a space between.
    """

    terms: Terms
    texts: list[list[str]] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    places: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    def add(self, text: str) -> None:
        """Count the words of one passage."""
        runs = _RUN.findall(text)
        written = " ".join(runs).split(" ")
        for word in set(written):
            for term in self.terms[word]:
                self.places[term].add(len(self.texts))
        self.words.update(written)
        self.texts.append(runs)

    def counts(self, left_out: set[str]) -> Counter[str]:
        """In how many passages each term is that is in a tenth of them, or in two; in one, if none is in more."""
        least = max(2, len(self.texts) / 10)
        counts = {term: len(places) for term, places in self.places.items() if term not in left_out}
        return Counter({term: count for term, count in counts.items() if count >= least} or counts)

    def forms(self, term: str) -> Counter[str]:
        """The words that a term is written as; one that is part of a word stands for itself."""
        found: Counter[str] = Counter()
        for word in self.terms.words[term]:
            found[word if len(self.terms[word]) == 1 else term] += self.words[word]
        return found

    def pairs(self, telling: Iterable[str]) -> Counter[tuple[str, str]]:
        """In how many passages one of some terms is right before another."""
        known = {word: self.terms[word] for term in telling for word in self.terms.words[term] if word in self.words}
        found: Counter[tuple[str, str]] = Counter()
        for runs in self.texts:
            beside = (
                pair for run in runs for pair in pairwise(run.split(" ")) if pair[0] in known and pair[1] in known
            )
            found.update({(known[one][0], known[other][0]) for one, other in beside if len(known[one]) == 1})
        return found


def _mostly(forms: Counter[str]) -> str:
    """The word that a term mostly is, without the capital of a sentence's beginning if it is also written so."""
    word = max(forms, key=lambda form: (forms[form], form))
    lower = word.lower()
    return lower if 4 * forms[lower] >= forms[word] else word


class Terms(dict[str, tuple[str, ...]]):
    """The telling terms of words, looked up once, and the words of terms."""

    def __init__(self) -> None:
        super().__init__()
        self.words: defaultdict[str, list[str]] = defaultdict(list)

    def __missing__(self, word: str) -> tuple[str, ...]:
        folded = word.casefold().replace("’", "'").removesuffix("'s")
        # "I'm" and "aren't" are no more telling than "I" and "are".
        bare = folded.partition("'")[0].removesuffix("n")
        telling = not {folded, bare} & STOP_WORDS and (len(bare) >= _LETTERS or not folded.isascii())
        found = tuple(word_terms(folded)) if telling else ()
        self[word] = found
        for term in found:
            self.words[term].append(word)
        return found


def label_all(
    snapshot: Index,
    texts: Sequence[Iterable[str]],
    *,
    kept: Sequence[tuple[str, ...]] | None = None,
    without: Sequence[str] = (),
    terms: Terms | None = None,
) -> list[tuple[str, ...]]:
    """Return the terms of topics, each of whose texts are given.

    Args:
        snapshot: Whose keyword index says how many passages have a term.
        texts: Some passages of each topic.
        kept: Earlier terms of the same topics; kept where they still tell.
        without: Terms of the topic that these are parts of, which tell nothing of a part.
        terms: What was looked up before.
    """
    terms = Terms() if terms is None else terms
    classes = [_Class(terms) for _ in texts]
    for one, several in zip(classes, texts, strict=True):
        for text in several:
            one.add(text)
    left_out = {term for name in without for word in name.split() for term in terms[word]}
    rough = [one.counts(left_out) for one in classes]
    overall: Counter[str] = Counter()
    for counts in rough:
        overall.update(counts)
    chosen = [
        sorted(counts, key=lambda term: (-(counts[term] ** 2) / overall[term], term))[:_CANDIDATES] for counts in rough
    ]
    frequency = _frequencies(snapshot, sorted(set().union(*chosen)))
    found = []
    for number, one in enumerate(classes):
        scores = {}
        for term in chosen[number]:
            rarity = math.log(1 + snapshot.info.passages / max(frequency[term], 1))
            scores[term] = len(one.places[term]) / len(one.texts) * rarity * rough[number][term] / overall[term]
        before = () if kept is None else kept[number]
        found.append(before if before and _still_tell(before, scores, terms) else _choose(one, scores))
    return found


def _still_tell(before: Sequence[str], scores: dict[str, float], terms: Terms) -> bool:
    best = set(sorted(scores, key=lambda term: (-scores[term], term))[:_STILL_TELLING])
    return all(set(terms[word]) <= best for name in before for word in name.split())


def _frequencies(snapshot: Index, terms: Sequence[str]) -> dict[str, int]:
    """In how many passages terms occur; a few at a time, as the index keeps what it read."""
    found: dict[str, int] = {}
    for at in range(0, len(terms), _LOOKED_UP):
        found |= snapshot.frequencies(terms[at : at + _LOOKED_UP])
    return found


def _choose(one: _Class, scores: dict[str, float]) -> tuple[str, ...]:
    chosen: list[str] = []
    left = dict(scores)
    while left and len(chosen) < _MOST:
        rated = {
            term: score * (1 - _DIVERSITY * max((_shared(one, term, other) for other in chosen), default=0.0))
            for term, score in left.items()
        }
        best = min(rated, key=lambda term: (-rated[term], term))
        if len(chosen) >= _FEWEST and rated[best] < _TELLING * scores[chosen[0]]:
            break
        chosen.append(best)
        del left[best]
    return _joined(one, chosen, scores)


def _shared(one: _Class, term: str, other: str) -> float:
    """How much two terms say the same: the share of passages with both, and all of it for words of one stock."""
    if term[:_SHARED_PREFIX] == other[:_SHARED_PREFIX]:
        return 1.0
    ours, theirs = one.places[term], one.places[other]
    return len(ours & theirs) / len(ours | theirs)


def _joined(one: _Class, chosen: Sequence[str], telling: Iterable[str]) -> tuple[str, ...]:
    """Words as they are written; one that is mostly beside another telling word is one term with it."""
    names: list[str] = []
    left = list(chosen)
    pairs = one.pairs(telling)
    while left:
        term = left.pop(0)
        beside = [pair for other in telling if other != term for pair in ((term, other), (other, term))]
        pair = max(beside, key=lambda pair: (pairs[pair], pair), default=(term,))
        if len(pair) == 1 or pairs[pair] < max(2, _ADJACENT * len(one.places[term])):
            pair = (term,)
        left = [other for other in left if other not in pair]
        names.append(" ".join(_mostly(one.forms(term)) for term in pair))
    return tuple(names)
