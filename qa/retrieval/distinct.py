"""Rank distinct passages: each text once, best first, and near-duplicates within a document after all others.

This keeps repetition from filling the page. The ranking does not depend on how many passages are requested: a caller
who asks for more gets the same passages first, with the same scores.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from index import Index, StoredPassage
from qa.near_duplicates import nearly_same, words_of
from qa.questions.lookup import Lookup
from qa.retrieval.hybrid import Pool

# Near-duplicates found so far are ranked after the pool of this depth, before anything that deeper pools add.
DEEPEST_POOL = 1600
# With more front matter than this, the text of very similar notes would not make it into the top ten.
_MOST_FRONT_MATTER = 2
# The original of a quotation may lack this share of its words, but none of its numbers.
_MAX_MISSING = 0.1
_WORD = re.compile(r"\w+")
# How many passages are read from the index at a time.
_READ_AHEAD = 10


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage in a ranking.

    Attributes:
        passage: The passage.
        score: In [0, 1], comparable within its level.
        cosine: Cosine similarity with the query.
        level: 0 for passages of the first pool, then ascending; each level ranks below the one before.
        matched: What of the score is not the reader's, in [0, 1]; 0 if the passages were not re-ranked.
    """

    passage: StoredPassage
    score: float
    cosine: float
    level: int = 0
    matched: float = 0.0


def distinct(snapshot: Index, pools: Iterable[Pool], wanted: int, lookup: Lookup | None = None) -> list[RankedPassage]:
    """Return the first `wanted` distinct passages from ever deeper pools, or as many as there are.

    A passage that contains the code of a lookup is never a near-duplicate: rows may differ only in their codes.
    """
    ranked: list[RankedPassage] = []
    near: list[RankedPassage] = []
    texts: set[tuple[bytes, int]] = set()
    front_matter = 0
    words_by_document: defaultdict[int, list[frozenset[str]]] = defaultdict(list)
    level = 0
    for pool, candidates in _unseen(snapshot, pools):
        for candidate in candidates:
            passage = candidate.passage
            # Identical front matter in two notes still describes two different notes.
            text_key = (passage.text_digest, passage.document.id if passage.is_front_matter else 0)
            if text_key in texts:
                continue
            texts.add(text_key)
            front_matter += passage.is_front_matter
            own, kept = words_of(passage), words_by_document[passage.document.id]
            is_near = any(nearly_same(own, other) for other in kept) and not (lookup and lookup.has_code_of(passage))
            if is_near or (passage.is_front_matter and front_matter > _MOST_FRONT_MATTER and lookup is None):
                near.append(replace(candidate, level=level))
                continue
            kept.append(own)
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
    """Move near-duplicates down, `level` levels below their own."""
    return (replace(one, level=level + one.level) for one in near)


def _unseen(snapshot: Index, pools: Iterable[Pool]) -> Iterator[tuple[Pool, Iterator[RankedPassage]]]:
    """Yield each pool with those of its passages that no earlier pool had, read lazily."""
    seen: set[int] = set()
    for pool in pools:
        yield pool, _passages(snapshot, pool, [i for i, row_id in enumerate(pool.ids) if row_id not in seen])
        seen.update(pool.ids)


def _passages(snapshot: Index, pool: Pool, positions: Sequence[int]) -> Iterator[RankedPassage]:
    for first in range(0, len(positions), _READ_AHEAD):
        batch = positions[first : first + _READ_AHEAD]
        for i, passage in zip(batch, snapshot.passages([pool.ids[i] for i in batch]), strict=True):
            yield RankedPassage(passage, float(pool.scores[i]), float(pool.cosines[i]))


def one_per_document(ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put the best lookup match of each document before all other passages.

    Args:
        ranked: Matches first, on levels below 0, better ones lower; then the rest.
    """
    best: dict[tuple[int, str], RankedPassage] = {}
    for one in (one for one in ranked if one.level < 0):
        known = best.setdefault((one.passage.document.id, one.passage.title), one)
        if (one.level, one.passage.start) < (known.level, known.passage.start):
            best[one.passage.document.id, one.passage.title] = one
    chosen = {one.passage.id for one in best.values()}
    demoted = [one if one.passage.id in chosen or one.level >= 0 else replace(one, level=0) for one in ranked]
    return sorted(demoted, key=lambda one: one.level)


def originals_first(ranked: Sequence[RankedPassage], depth: int) -> list[RankedPassage]:
    """Put the original in the place of a message's quotation from it, and the quotation after the first `depth`.

    A quotation whose original is not among these keeps its place.
    """
    head = ranked[:depth]
    originals = [(one, _words_and_numbers(one.passage)) for one in head if not one.passage.is_quoted]
    if len(originals) == len(head):
        return list(ranked)
    placed: dict[int, RankedPassage] = {}
    quotations = []
    for one in head:
        chosen = one
        if one.passage.is_quoted:
            words = _words_and_numbers(one.passage)
            chosen = next((original for original, others in originals if _are_quoted_from(words, others)), one)
            quotations += [one] if chosen is not one else []
        placed.setdefault(chosen.passage.id, replace(chosen, score=one.score, level=one.level))
    *_, last = placed.values()
    below = [replace(one, score=last.score, level=last.level) for one in quotations]
    return [*placed.values(), *below, *ranked[depth:]]


def _words_and_numbers(passage: StoredPassage) -> frozenset[str]:
    return frozenset(_WORD.findall(passage.text[passage.body :].lower()))


def _are_quoted_from(words: frozenset[str], others: frozenset[str]) -> bool:
    missing = words - others
    return len(missing) <= _MAX_MISSING * len(words) and not any(map(str.isdecimal, missing))


def with_final_scores(ranked: Iterable[RankedPassage]) -> list[RankedPassage]:
    """Scale the scores of each level to below the lowest score of the levels before it, and round all scores."""
    scaled: list[RankedPassage] = []
    level, ceiling, lowest = 0, 1.0, 1.0
    for one in ranked:
        if one.level != level:
            level, ceiling = one.level, lowest
        score = one.score * ceiling
        lowest = min(lowest, score)
        scaled.append(replace(one, score=float(np.round(score, 6))))
    return scaled
