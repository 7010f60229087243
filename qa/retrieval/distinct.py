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

# After the pool of this depth, the near-duplicates so far are ranked, before anything that deeper pools add.
DEEPEST_POOL = 1600
# More front matter than this would crowd the text of similar notes out of the top ten.
_MOST_FRONT_MATTER = 2
# The original of a quotation may lack this share of its words, but none of its numbers.
_MAX_MISSING = 0.1
_WORD = re.compile(r"\w+")
# A number, or a word with one: "12", "d8123".
_CODE = re.compile(r"\w*\d\w*")
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
        matched: The score without the reader's share, in [0, 1]; 0 if the passages were not re-ranked.
    """

    passage: StoredPassage
    score: float
    cosine: float
    level: int = 0
    matched: float = 0.0


def distinct(
    snapshot: Index, pools: Iterable[Pool], wanted: int, question: str, lookup: Lookup | None = None
) -> list[RankedPassage]:
    """Return the first `wanted` distinct passages from ever deeper pools, or as many as there are.

    Lines of a log may differ only in their numbers. So a passage that contains the code of a lookup is never a
    near-duplicate, nor is one of a passage that lacks a number or code of the question that it has.
    """
    asked = set(_CODE.findall(question.lower()))
    ranked: list[RankedPassage] = []
    duplicates: list[RankedPassage] = []
    texts: set[tuple[bytes, int]] = set()
    front_matter = 0
    kept: defaultdict[int, list[tuple[frozenset[str], set[str]]]] = defaultdict(list)
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
            words, codes = words_of(passage), asked & set(_CODE.findall(passage.text.lower()))
            kept_here = kept[passage.document.id]
            is_duplicate = any(codes <= others and nearly_same(words, other) for other, others in kept_here)
            is_duplicate = is_duplicate and not (lookup and lookup.has_code_of(passage))
            if is_duplicate or (passage.is_front_matter and front_matter > _MOST_FRONT_MATTER and lookup is None):
                duplicates.append(replace(candidate, level=level))
                continue
            kept_here.append((words, codes))
            ranked.append(replace(candidate, level=level))
            if len(ranked) == wanted:
                return ranked
        level += 1
        if pool.depth >= DEEPEST_POOL:
            ranked += _demote(duplicates, level)
            duplicates, level = [], 2 * level
            if len(ranked) >= wanted:
                return ranked[:wanted]
    return [*ranked, *_demote(duplicates, level)][:wanted]


def _demote(hits: Iterable[RankedPassage], level: int) -> Iterator[RankedPassage]:
    """Move near-duplicates down, `level` levels below their own."""
    return (replace(hit, level=level + hit.level) for hit in hits)


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


def in_current_documents(
    snapshot: Index, ranked: Sequence[RankedPassage], searched: frozenset[int] | None
) -> list[RankedPassage]:
    """Replace passages of outdated documents by the same text in a current document that is searched, if any."""
    outdated = [hit.passage for hit in ranked if hit.passage.document.outdated]
    duplicates = snapshot.duplicates(outdated) if outdated else {}
    current = {
        row_id: next((passage for passage in passages if _is_current(passage, searched)), None)
        for row_id, passages in duplicates.items()
    }
    return [replace(hit, passage=current.get(hit.passage.id) or hit.passage) for hit in ranked]


def _is_current(passage: StoredPassage, searched: frozenset[int] | None) -> bool:
    return not passage.document.outdated and (searched is None or passage.document.id in searched)


def one_per_document(ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put the best lookup match of each document before all other passages.

    Args:
        ranked: Matches first, on levels below 0, better ones lower; then the rest.
    """
    best: dict[tuple[int, str], RankedPassage] = {}
    for hit in (hit for hit in ranked if hit.level < 0):
        best_of_document = best.setdefault((hit.passage.document.id, hit.passage.title), hit)
        if (hit.level, hit.passage.start) < (best_of_document.level, best_of_document.passage.start):
            best[hit.passage.document.id, hit.passage.title] = hit
    chosen = {hit.passage.id for hit in best.values()}
    demoted = [hit if hit.passage.id in chosen or hit.level >= 0 else replace(hit, level=0) for hit in ranked]
    return sorted(demoted, key=lambda hit: hit.level)


def originals_first(ranked: Sequence[RankedPassage], depth: int) -> list[RankedPassage]:
    """Among the first `depth` passages, let originals take the rank of quotations from them, and move these to the end.

    A quotation whose original is not among the first `depth` keeps its rank.
    """
    head = ranked[:depth]
    originals = [(hit, _words_and_numbers(hit.passage)) for hit in head if not hit.passage.is_quoted]
    if len(originals) == len(head):
        return list(ranked)
    placed: dict[int, RankedPassage] = {}
    quotations = []
    for hit in head:
        chosen = hit
        if hit.passage.is_quoted:
            quoted = _words_and_numbers(hit.passage)
            chosen = next((original for original, words in originals if _are_quoted_from(quoted, words)), hit)
            quotations += [hit] if chosen is not hit else []
        placed.setdefault(chosen.passage.id, replace(chosen, score=hit.score, level=hit.level))
    *_, last = placed.values()
    below = [replace(hit, score=last.score, level=last.level) for hit in quotations]
    return [*placed.values(), *below, *ranked[depth:]]


def _words_and_numbers(passage: StoredPassage) -> frozenset[str]:
    return frozenset(_WORD.findall(passage.text[passage.body :].lower()))


def _are_quoted_from(quoted: frozenset[str], original: frozenset[str]) -> bool:
    missing = quoted - original
    return len(missing) <= _MAX_MISSING * len(quoted) and not any(map(str.isdecimal, missing))


def with_final_scores(ranked: Iterable[RankedPassage]) -> list[RankedPassage]:
    """Scale the scores of each level to below the lowest score of the levels before it, and round all scores."""
    scaled: list[RankedPassage] = []
    level, ceiling, lowest = 0, 1.0, 1.0
    for hit in ranked:
        if hit.level != level:
            level, ceiling = hit.level, lowest
        score = hit.score * ceiling
        lowest = min(lowest, score)
        scaled.append(replace(hit, score=float(np.round(score, 6))))
    return scaled
