"""Labels topics by class-based TF-IDF (Grootendorst, https://arxiv.org/abs/2203.05794) over the keyword index.

A topic's terms are frequent in its passages and rare in the rest of the collection, in their most common spelling.
Terms similar to those already chosen are penalised (maximal marginal relevance, Carbonell and Goldstein 1998).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise, repeat

from index import STOP_WORDS, Index, word_terms

# Passages from which a label is made.
SAMPLE = 120
# Terms of a label.
_MIN_TERMS, _MAX_TERMS = 2, 4
# A further term needs at least this share of the first term's score.
_MIN_SCORE = 0.35
# The share of its score that a term loses if it fully overlaps with a chosen term.
_DIVERSITY = 0.7
_MAX_CANDIDATES = 40
# An earlier label is kept while all its terms are among this many best terms.
_STILL_BEST = 12
# The document frequencies of this many terms are looked up at a time.
_BATCH = 200
_MIN_LETTERS = 3
_SHARED_PREFIX = 4
# Two words are one term, such as "steam engine", if this share of one word's passages has the other next to it.
_ADJACENT = 0.6
_WORD = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_RUN = re.compile(f"{_WORD}(?: {_WORD})*")


class _Class:
    """The words of a topic's passages: a class of class-based TF-IDF.

    Attributes:
        texts: For each passage, its runs of words separated by single spaces.
        words: How often each word occurs.
        postings: The passages in which each term occurs.
    """

    def __init__(self, terms: Terms, passages: Iterable[str]) -> None:
        self.terms = terms
        self.texts = [_RUN.findall(text) for text in passages]
        self.words: Counter[str] = Counter()
        self.postings: defaultdict[str, set[int]] = defaultdict(set)
        for number, runs in enumerate(self.texts):
            words = " ".join(runs).split(" ")
            self.words.update(words)
            for word in set(words):
                for term in terms[word]:
                    self.postings[term].add(number)

    def passage_counts(self, left_out: set[str]) -> Counter[str]:
        """Count the passages of each term, without terms in fewer than two, or a tenth of them, if others remain."""
        fewest = max(2, len(self.texts) / 10)
        counts = {term: len(postings) for term, postings in self.postings.items() if term not in left_out}
        return Counter({term: count for term, count in counts.items() if count >= fewest} or counts)

    def spellings(self, term: str) -> Counter[str]:
        """Count the spellings of a term; for a word with several terms, count the term itself."""
        counts: Counter[str] = Counter()
        for word in self.terms.words[term]:
            counts[word if len(self.terms[word]) == 1 else term] += self.words[word]
        return counts

    def pairs(self, terms: Iterable[str]) -> Counter[tuple[str, str]]:
        """Count the passages in which two of these terms are adjacent, in this order."""
        stems = {word: self.terms[word] for term in terms for word in self.terms.words[term] if word in self.words}
        counts: Counter[tuple[str, str]] = Counter()
        for runs in self.texts:
            pairs = (pair for run in runs for pair in pairwise(run.split(" ")))
            counts.update(
                {(stems[a][0], stems[b][0]) for a, b in pairs if a in stems and b in stems and len(stems[a]) == 1}
            )
        return counts


def _usual_spelling(spellings: Counter[str]) -> str:
    """Return a term's commonest spelling, or its lower case if a quarter as common: sentences begin with capitals."""
    word = max(spellings, key=lambda spelling: (spellings[spelling], spelling))
    lower = word.lower()
    return lower if 4 * spellings[lower] >= spellings[word] else word


class Terms(dict[str, tuple[str, ...]]):
    """The distinctive terms of each word, looked up once, and the words of each term."""

    def __init__(self) -> None:
        super().__init__()
        self.words: defaultdict[str, list[str]] = defaultdict(list)

    def __missing__(self, word: str) -> tuple[str, ...]:
        folded = word.casefold().replace("’", "'").removesuffix("'s")
        # "I'm" and "aren't" are no more distinctive than "I" and "are".
        stem = folded.partition("'")[0].removesuffix("n")
        is_distinctive = not {folded, stem} & STOP_WORDS and (len(stem) >= _MIN_LETTERS or not folded.isascii())
        terms = tuple(word_terms(folded)) if is_distinctive else ()
        self[word] = terms
        for term in terms:
            self.words[term].append(word)
        return terms


def label_topics(
    snapshot: Index,
    texts: Sequence[Iterable[str]],
    *,
    earlier: Sequence[tuple[str, ...]] | None,
    without: Sequence[str] = (),
    terms: Terms,
) -> list[tuple[str, ...]]:
    """Return the terms of each topic.

    Args:
        snapshot: Its keyword index has the document frequencies.
        texts: Some passages of each topic.
        earlier: Earlier terms of the same topics, kept if they are still among the best.
        without: Terms of the topic these are parts of, which do not tell the parts apart.
        terms: The terms of words looked up before.
    """
    classes = [_Class(terms, passages) for passages in texts]
    left_out = {term for name in without for word in name.split() for term in terms[word]}
    topic_counts = [topic.passage_counts(left_out) for topic in classes]
    overall: Counter[str] = Counter()
    for counts in topic_counts:
        overall.update(counts)
    candidates = [
        sorted(counts, key=lambda term: (-(counts[term] ** 2) / overall[term], term))[:_MAX_CANDIDATES]
        for counts in topic_counts
    ]
    frequency = _frequencies(snapshot, sorted(set().union(*candidates)))
    rarity = {term: math.log(1 + snapshot.info.passages / max(count, 1)) for term, count in frequency.items()}
    labels = []
    for topic, counts, ranked, label in zip(classes, topic_counts, candidates, earlier or repeat(()), strict=False):
        scores = {
            term: len(topic.postings[term]) / len(topic.texts) * rarity[term] * counts[term] / overall[term]
            for term in ranked
        }
        labels.append(label if label and _are_still_best(label, scores, terms) else _choose_terms(topic, scores))
    return labels


def _are_still_best(label: Sequence[str], scores: dict[str, float], terms: Terms) -> bool:
    best = set(sorted(scores, key=lambda term: (-scores[term], term))[:_STILL_BEST])
    return all(set(terms[word]) <= best for name in label for word in name.split())


def _frequencies(snapshot: Index, terms: Sequence[str]) -> dict[str, int]:
    """Return the document frequencies of terms, read in batches, as the index caches what it reads."""
    frequencies: dict[str, int] = {}
    for at in range(0, len(terms), _BATCH):
        frequencies |= snapshot.frequencies(terms[at : at + _BATCH])
    return frequencies


def _choose_terms(topic: _Class, scores: dict[str, float]) -> tuple[str, ...]:
    chosen: list[str] = []
    remaining = dict(scores)
    while remaining and len(chosen) < _MAX_TERMS:
        penalised = {
            term: score * (1 - _DIVERSITY * max((_overlap(topic, term, other) for other in chosen), default=0.0))
            for term, score in remaining.items()
        }
        best = min(penalised, key=lambda term: (-penalised[term], term))
        if len(chosen) >= _MIN_TERMS and penalised[best] < _MIN_SCORE * scores[chosen[0]]:
            break
        chosen.append(best)
        del remaining[best]
    return _spell_out(topic, chosen, scores)


def _overlap(topic: _Class, term: str, other: str) -> float:
    """Return the share of passages with either term that have both; 1 for terms with the same prefix."""
    if term[:_SHARED_PREFIX] == other[:_SHARED_PREFIX]:
        return 1.0
    postings, other_postings = topic.postings[term], topic.postings[other]
    return len(postings & other_postings) / len(postings | other_postings)


def _spell_out(topic: _Class, chosen: Sequence[str], candidates: Iterable[str]) -> tuple[str, ...]:
    """Return the chosen terms as they are spelled, each joined with another candidate if mostly next to it."""
    names: list[str] = []
    remaining = list(chosen)
    pairs = topic.pairs(candidates)
    while remaining:
        term = remaining.pop(0)
        possible = [pair for other in candidates if other != term for pair in ((term, other), (other, term))]
        pair = max(possible, key=lambda pair: (pairs[pair], pair), default=(term,))
        if len(pair) == 1 or pairs[pair] < max(2, _ADJACENT * len(topic.postings[term])):
            pair = (term,)
        remaining = [other for other in remaining if other not in pair]
        names.append(" ".join(_usual_spelling(topic.spellings(term)) for term in pair))
    return tuple(names)
