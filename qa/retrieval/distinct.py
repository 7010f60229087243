"""One passage of each text, best first; near-duplicates of one document come after all others.

Nobody fills the page by saying one thing often. The ranking does not depend on how much of it is asked for: whoever
asks for more gets the same passages first, with the same scores.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from index import Index, StoredPassage
from qa.answer.lookup import Lookup
from qa.near_duplicates import nearly_same, words_of
from qa.retrieval.hybrid import Pool

# Behind a pool of this depth, near-duplicates come before what deeper pools bring.
DEEPEST_POOL = 1600
# More front matter than this would leave no room among the first ten for the texts of notes that are much alike.
_MOST_FRONT_MATTER = 2
# Passages that are read at once.
_READ_AHEAD = 10


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage in a ranking.

    Attributes:
        passage: The passage.
        score: In [0, 1], comparable within its level.
        cosine: With the query.
        level: 0 for what the first pool brings, then ascending; each level is below the one before.
    """

    passage: StoredPassage
    score: float
    cosine: float
    level: int = 0


def distinct(snapshot: Index, pools: Iterable[Pool], wanted: int, lookup: Lookup | None = None) -> list[RankedPassage]:
    """The first `wanted` distinct passages of ever deeper pools, or as many as there are.

    A passage with a code that is looked up is no near-duplicate: rows may differ in their codes alone.
    """
    ranked: list[RankedPassage] = []
    near: list[RankedPassage] = []
    texts: set[tuple[bytes, int]] = set()
    stated = 0
    words: defaultdict[int, list[frozenset[str]]] = defaultdict(list)
    level = 0
    for pool, candidates in _unseen(snapshot, pools):
        for candidate in candidates:
            passage = candidate.passage
            # Of the same front matter each is about a note of its own.
            text = (passage.text_digest, passage.document.id if passage.is_front_matter else 0)
            if text in texts:
                continue
            texts.add(text)
            stated += passage.is_front_matter
            own, known = words_of(passage), words[passage.document.id]
            is_near = any(nearly_same(own, other) for other in known) and not (lookup and lookup.has_code_of(passage))
            if is_near or (passage.is_front_matter and stated > _MOST_FRONT_MATTER and lookup is None):
                near.append(replace(candidate, level=level))
                continue
            known.append(own)
            ranked.append(replace(candidate, level=level))
            if len(ranked) == wanted:
                return ranked
        level += 1
        if pool.depth >= DEEPEST_POOL:
            ranked += _below(near, level)
            near, level = [], 2 * level
            if len(ranked) >= wanted:
                return ranked[:wanted]
    return [*ranked, *_below(near, level)][:wanted]


def _below(near: Iterable[RankedPassage], level: int) -> Iterator[RankedPassage]:
    """Near-duplicates on levels of their own, below all before."""
    return (replace(one, level=level + one.level) for one in near)


def _unseen(snapshot: Index, pools: Iterable[Pool]) -> Iterator[tuple[Pool, Iterator[RankedPassage]]]:
    """Each pool with its passages that no pool before had, read as they are needed."""
    seen: set[int] = set()
    for pool in pools:
        yield pool, _passages(snapshot, pool, [i for i, one in enumerate(pool.ids) if one not in seen])
        seen.update(pool.ids)


def _passages(snapshot: Index, pool: Pool, places: Sequence[int]) -> Iterator[RankedPassage]:
    for at in range(0, len(places), _READ_AHEAD):
        several = places[at : at + _READ_AHEAD]
        for i, passage in zip(several, snapshot.passages([pool.ids[i] for i in several]), strict=True):
            yield RankedPassage(passage, float(pool.scores[i]), float(pool.cosines[i]))


def one_a_document(ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Of the passages that have what is looked up the first of each document before all others.

    Args:
        ranked: What has it, the better the lower its level, below 0; then the rest.
    """
    first: dict[tuple[int, str], RankedPassage] = {}
    for one in (one for one in ranked if one.level < 0):
        known = first.setdefault((one.passage.document.id, one.passage.title), one)
        if (one.level, one.passage.start) < (known.level, known.passage.start):
            first[one.passage.document.id, one.passage.title] = one
    chosen = {one.passage.id for one in first.values()}
    found = [one if one.passage.id in chosen or one.level >= 0 else replace(one, level=0) for one in ranked]
    return sorted(found, key=lambda one: one.level)


def with_final_scores(ranked: Iterable[RankedPassage]) -> list[RankedPassage]:
    """Scale the scores of each level below the lowest of those before, and round all."""
    found: list[RankedPassage] = []
    level, ceiling, lowest = 0, 1.0, 1.0
    for one in ranked:
        if one.level != level:
            level, ceiling = one.level, lowest
        score = one.score * ceiling
        lowest = min(lowest, score)
        found.append(replace(one, score=float(np.round(score, 6))))
    return found
