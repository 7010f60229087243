"""Put keyword and dense candidates into one ranking: a convex combination of normalised scores.

Weighed against reciprocal-rank fusion and several normalisations by Bruch, Gai and Ingber, "An Analysis
of Fusion Functions for Hybrid Retrieval" (https://arxiv.org/abs/2210.11934), and on our own sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import numpy as np
import numpy.typing as npt

from index import Link, Snapshot, Vectors
from qa.answer.results import Mode

# Candidates each half brings in.
DEPTH = 100
# Share of the dense half.
DENSE_SHARE = 0.5
# What of the keyword score of the passage before or behind it a passage is given: an answer often stands beside the
# words of the question. Beside is what begins within so many characters of the other's end.
BESIDE_SHARE = 0.2
_BESIDE = 100

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Passages that may answer, best first.

    Attributes:
        ids: Row numbers of passages.
        scores: `(n,)` in [0, 1], descending.
        cosines: `(n,)`, the dense half's own scores.
        keyword: `(n,)`, the keyword half's scores, each with its share of the better one beside it.
        timings_ms: What each step took.
    """

    ids: tuple[int, ...]
    scores: Floats
    cosines: Floats
    keyword: Floats
    timings_ms: dict[str, float]


def gather(
    snapshot: Snapshot,
    question: str,
    vector: Vectors,
    *,
    mode: Mode,
    documents: frozenset[int] | None,
    depth: int = DEPTH,
) -> Candidates:
    """Ask both halves of the index and fuse what they find.

    Args:
        snapshot: The generation to ask.
        question: As asked.
        vector: The question's vector, `(dim,)`, unit L2 norm.
        mode: Which halves bring in candidates and count.
        documents: Row numbers of the documents to choose from, or None for all.
        depth: Candidates each half brings in at most.
    """
    begun = perf_counter()
    keyword: dict[int, float] = {}
    links: dict[int, Link] = {}
    if mode is not Mode.DENSE:
        for link, score in snapshot.keyword(question, depth, documents=documents):
            keyword[link.id] = score
            links[link.id] = link
    searched = perf_counter()
    cosine: dict[int, float] = {}
    if mode is not Mode.KEYWORD:
        for link, score in snapshot.dense(vector, depth, documents=documents):
            cosine[link.id] = score
            links[link.id] = link
    found = perf_counter()
    ids = list(links)
    if not ids:
        empty = np.zeros(0)
        return Candidates((), empty, empty, empty, {})
    others = [passage for passage in ids if passage not in cosine]
    scored = snapshot.cosines([links[passage].vector for passage in others], vector)
    cosine.update(zip(others, scored.tolist(), strict=True))
    cosines = np.array([cosine[passage] for passage in ids])
    beside = _best_beside(links.values(), keyword)
    bm25 = np.array([keyword.get(passage, 0.0) + BESIDE_SHARE * beside.get(passage, 0.0) for passage in ids])
    share = {Mode.HYBRID: DENSE_SHARE, Mode.DENSE: 1.0, Mode.KEYWORD: 0.0}[mode]
    scores = np.round(share * spread(cosines) + (1 - share) * bm25 / (bm25.max() or 1.0), 9)
    keys = [(-score, link.key) for score, link in zip(scores.tolist(), links.values(), strict=True)]
    order = sorted(range(len(ids)), key=keys.__getitem__)
    steps = {"keyword": searched - begun, "dense": found - searched, "fuse": perf_counter() - found}
    timings = {name: round(1000 * seconds, 3) for name, seconds in steps.items()}
    return Candidates(tuple(ids[i] for i in order), scores[order], cosines[order], bm25[order], timings)


def _best_beside(links: Iterable[Link], scores: Mapping[int, float]) -> dict[int, float]:
    """The best score of a passage right before or behind each, in its document, where there is one."""
    best: dict[int, float] = {}
    ordered = sorted(links, key=lambda link: (link.document, link.start, link.end))
    for one, other in pairwise(ordered):
        if one.document == other.document and 0 <= other.start - one.end <= _BESIDE:
            best[one.id] = max(best.get(one.id, 0.0), scores.get(other.id, 0.0))
            best[other.id] = scores.get(one.id, 0.0)
    return best


def spread(values: Floats) -> Floats:
    """Stretch scores so that the lowest is 0 and the highest 1; all 1 where they are equal."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.ones_like(values)
