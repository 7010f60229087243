"""Re-rank the first passages by what was computed on each together with the question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from index import CrossEncoderModel
from qa.answer.results import Mode
from qa.reader.reading import Reading
from qa.retrieval.distinct import RankedPassage
from qa.retrieval.hybrid import min_max
from qa.retrieval.late_interaction import TokenMatch, span_score
from qa.retrieval.query import Query

# Passages whose tokens are compared with the question's; where these seem not to answer it, with as many more; and of
# these the first that are read.
RERANK_DEPTH = 10
SECOND_DEPTH = 20
READ_DEPTH = 5
# Passages that a cross-encoder scores.
SCORED_DEPTH = 30
# Share of late interaction in a passage's score, and what the reader adds before all is scaled back to 1.
LATE_SHARE = 0.65
READER_SHARE = 0.6
# The reader's logits are divided by this before they are compared: it is often sure of several passages.
_TEMPERATURE = 3.0


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of one passage together with the question.

    Attributes:
        match: How its tokens match those of the question.
        reading: What the reader tells of it; None without the reader.
    """

    match: TokenMatch
    reading: Reading | None = None

    def span_score(self, query: Query, start: int, end: int) -> float:
        """How well part of a passage's text answers; by its first character and one past its last."""
        score = span_score(query, self.match, start, end)
        return score if self.reading is None else score + self.reading.share(start, end)


def rerank(query: Query, ranked: Sequence[RankedPassage], judged: Mapping[int, Judged]) -> list[RankedPassage]:
    """Re-order the first passages of a hybrid ranking; levels stay in order.

    Args:
        query: Whose mode it is; searches by one half of the index keep their order.
        ranked: Passages, best first.
        judged: Those of the first few, by row number.
    """
    if query.mode is not Mode.HYBRID or not judged:
        return list(ranked)
    late = min_max(np.array([one.match.score for one in judged.values()]))
    read = _shares([-math.inf if one.reading is None else one.reading.relevant for one in judged.values()])
    total = 1 + (READER_SHARE if read.any() else 0)
    gained = (LATE_SHARE * late + READER_SHARE * read) / total
    kept = (1 - LATE_SHARE) / total
    by_id = dict(zip(judged, gained.tolist(), strict=True))
    mixed = [replace(one, score=kept * one.score + by_id.get(one.passage.id, 0.0)) for one in ranked]
    # The rest keeps its order: it had no chance to gain.
    head = sorted(mixed[: len(judged)], key=lambda one: (one.level, -np.round(one.score, 6), one.passage.key))
    return [*head, *mixed[len(judged) :]]


def rerank_by_model(query: Query, ranked: Sequence[RankedPassage], model: CrossEncoderModel) -> list[RankedPassage]:
    """Order the first passages by a cross-encoder's score alone; levels stay in order.

    New scores are between the lowest old one of a level and 1, so that what was not scored stays below.
    """
    head = ranked[:SCORED_DEPTH]
    if not head:
        return []
    shares = min_max(np.round(model.scores(query.text, [one.passage.encoder_text for one in head]), 6))
    lowest: dict[int, float] = {}
    for one in head:
        lowest[one.level] = min(lowest.get(one.level, 1.0), one.score)
    found = [
        replace(one, score=lowest[one.level] + (1 - lowest[one.level]) * share)
        for one, share in zip(head, shares.tolist(), strict=True)
    ]
    return [*sorted(found, key=lambda one: (one.level, -one.score, one.passage.key)), *ranked[SCORED_DEPTH:]]


def _shares(logits: Sequence[float]) -> npt.NDArray[np.float64]:
    """Of 1, by how each logit compares with the others; 0 for minus infinity."""
    found = np.array(logits)
    if not np.isfinite(found).any():
        return np.zeros(len(found))
    odds = np.exp((found - found.max()) / _TEMPERATURE)
    shares: npt.NDArray[np.float64] = odds / odds.sum()
    return shares
