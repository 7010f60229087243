"""Retrieve candidates from both halves of the index, and fuse them into one ranking.

Fusion is a convex combination of normalised scores. Bruch, Gai and Ingber compare it with reciprocal-rank fusion and
several normalisations in "An Analysis of Fusion Functions for Hybrid Retrieval" (https://arxiv.org/abs/2210.11934); so
did we on our own sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from index import Index, Link
from qa.answer.results import Mode
from qa.retrieval.query import Floats, Query
from qa.stopwatch import Stopwatch

# Candidates that each half contributes to the first pool; each further pool is deeper by this factor.
POOL_DEPTH = 100
_DEEPER = 4
# Share of the dense half in the score.
DENSE_SHARE = 0.5
# A passage gains this share of its better neighbour's keyword score, since an answer is often next to the words of the
# question. Neighbours are at most this many characters apart.
NEIGHBOUR_SHARE = 0.2
_NEIGHBOUR_GAP = 100


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidate passages, best first; scores are normalised over the pool.

    Attributes:
        depth: The most candidates that each half could contribute.
        ids: Row numbers of passages.
        scores: `(n,)` in [0, 1], descending.
        cosines: `(n,)`, the dense half's own scores.
    """

    depth: int
    ids: tuple[int, ...]
    scores: Floats
    cosines: Floats


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The candidates of both halves, with the scores of each half by row number."""

    links: Mapping[int, Link]
    keyword: Mapping[int, float]
    cosines: Mapping[int, float]


def pools(snapshot: Index, query: Query, clock: Stopwatch) -> Iterator[Pool]:
    """Yield ever deeper pools of candidates, each including the one before, until the index is exhausted.

    Depths do not depend on how many passages are requested, so scores do not either.
    """
    depth = POOL_DEPTH
    while True:
        pool = fuse(snapshot, query, retrieve(snapshot, query, depth, clock), depth)
        clock.lap("fuse")
        yield pool
        clock.lap("passages")
        if len(pool.ids) < depth:
            return
        depth *= _DEEPER


def retrieve(snapshot: Index, query: Query, depth: int, clock: Stopwatch) -> Retrieved:
    """Search both halves of the index, or the one that the query's mode names, for `depth` passages each."""
    by_keyword = [] if query.mode is Mode.DENSE else snapshot.keyword(query.terms, depth, documents=query.documents)
    keyword = {hit.link.id: hit.score for hit in by_keyword}
    clock.lap("keyword")
    by_vector = [] if query.mode is Mode.KEYWORD else snapshot.dense(query.vector, depth, documents=query.documents)
    clock.lap("dense")
    cosines = {hit.link.id: hit.score for hit in by_vector}
    return Retrieved({hit.link.id: hit.link for hit in (*by_keyword, *by_vector)}, keyword, cosines)


def fuse(snapshot: Index, query: Query, retrieved: Retrieved, depth: int) -> Pool:
    """Rank candidates by the convex combination of their normalised scores; ties by passage key."""
    links = retrieved.links
    if not links:
        return Pool(depth, (), np.zeros(0), np.zeros(0))
    unscored = [link for link in links.values() if link.id not in retrieved.cosines]
    scored = snapshot.cosines([link.vector for link in unscored], query.vector).tolist()
    cosine_by_id = {**retrieved.cosines, **{link.id: score for link, score in zip(unscored, scored, strict=True)}}
    cosines = np.array([cosine_by_id[passage] for passage in links])
    keyword = retrieved.keyword
    beside = _best_neighbour_score(links.values(), keyword)
    bm25 = np.array([keyword.get(row_id, 0.0) + NEIGHBOUR_SHARE * beside.get(row_id, 0.0) for row_id in links])
    share = {Mode.HYBRID: DENSE_SHARE, Mode.DENSE: 1.0, Mode.KEYWORD: 0.0}[query.mode]
    scores = np.round(share * min_max(cosines) + (1 - share) * bm25 / (bm25.max() or 1.0), 9)
    keys = [(-score, link.key) for score, link in zip(scores.tolist(), links.values(), strict=True)]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    ids = tuple(links)
    return Pool(depth, tuple(ids[i] for i in order), scores[order], cosines[order])


def _best_neighbour_score(links: Iterable[Link], scores: Mapping[int, float]) -> dict[int, float]:
    """Map passages to the better score of the ones right before and after in the same document, if there are any."""
    best: dict[int, float] = {}
    ordered = sorted(links, key=lambda link: (link.document, link.start, link.end))
    for link, following in pairwise(ordered):
        if link.document == following.document and 0 <= following.start - link.end <= _NEIGHBOUR_GAP:
            best[link.id] = max(best.get(link.id, 0.0), scores.get(following.id, 0.0))
            best[following.id] = scores.get(link.id, 0.0)
    return best


def min_max(values: Floats) -> Floats:
    """Min-max normalise: the lowest becomes 0, the highest 1; if all are equal, they become 1."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.ones_like(values)
