"""Re-rank the top passages by models that judge each of them together with the question."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt

from corpus import path_words
from index import CrossEncoderModel, StoredPassage
from qa.answer.dated_records import edition_of, names_date
from qa.answer.results import Mode
from qa.language.terms import terms
from qa.reader.reading import Reading
from qa.retrieval.distinct import RankedPassage
from qa.retrieval.hybrid import min_max
from qa.retrieval.late_interaction import TokenMatch, span_score
from qa.retrieval.query import Query

# How many passages have their tokens compared with the question's, at first and if those seem not to answer it; and how
# many of these are read.
RERANK_DEPTH = 10
SECOND_DEPTH = 20
READ_DEPTH = 6
# How many passages a cross-encoder scores.
SCORED_DEPTH = 30
# Share of late interaction in a passage's score, and what the reader adds before the sum is scaled back to 1.
LATE_SHARE = 0.57
READER_SHARE = 0.8
# Questions about what was the case, or about what is outdated.
_ASKS_FOR_PAST = re.compile(
    r"\b(?:did|earlier|former(?:ly)?|had|obsolete|old(?:er)?|original(?:ly)?|outdated|previous(?:ly)?|replaced"
    r"|superseded|until|used to|was|were|withdrawn)\b",
    re.IGNORECASE,
)
# How much lower the logit of an answer may be in a current document than in an outdated one, or in the record of the
# asked date than in another, and still come first.
MOST_LESS_SURE = 4.0
_DIGIT = re.compile(r"\d")
# What the names of two editions of a document differ in.
_OF_EDITION = re.compile(
    r"\b(?:v|version|edition|rev(?:ision)?)?[ .]?\d[\d.]*\b|\b(?:archived?|current|draft|final|former|new|obsolete|old"
    r"|outdated|replaced|superseded|withdrawn)\b",
    re.IGNORECASE,
)
# The reader's logits are divided by this before they are compared, since it is often sure of several passages.
_TEMPERATURE = 3.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the models say about one passage together with the question.

    Attributes:
        match: How its tokens match those of the question.
        reading: The reader's result; None if it was not read.
    """

    match: TokenMatch
    reading: Reading | None = None

    def span_score(self, query: Query, start: int, end: int) -> float:
        """Score how well part of the passage's text answers, from character `start` up to, not including, `end`."""
        score = span_score(query, self.match, start, end)
        return score if self.reading is None else score + self.reading.share(start, end)


def reading_of(judgements: Mapping[int, Judgement], passage: StoredPassage) -> Reading | None:
    """Return the reader's result for a passage, if it was read."""
    return judgements[passage.id].reading if passage.id in judgements else None


def rerank(query: Query, ranked: Sequence[RankedPassage], judgements: Mapping[int, Judgement]) -> list[RankedPassage]:
    """Re-order the first passages of a hybrid ranking; levels stay in order.

    Args:
        query: The query; searches of one half of the index keep their order.
        ranked: Passages, best first.
        judgements: On the first few passages, by row number.
    """
    if query.mode is not Mode.HYBRID or not judgements:
        return list(ranked)
    late = min_max(np.array([judged.match.score for judged in judgements.values()]))
    read = _shares([-math.inf if judged.reading is None else judged.reading.relevant for judged in judgements.values()])
    total = 1 + (READER_SHARE if read.any() else 0)
    gains = dict(zip(judgements, zip(LATE_SHARE * late, READER_SHARE * read, strict=True), strict=True))
    mixed = []
    for hit in ranked:
        by_tokens, by_reader = gains.get(hit.passage.id, (0.0, 0.0))
        matched = float((1 - LATE_SHARE) * hit.score + by_tokens)
        mixed.append(replace(hit, score=float(matched + by_reader) / total, matched=matched))
    # The rest keeps its order, as it was not judged.
    head = sorted(mixed[: len(judgements)], key=lambda hit: (hit.level, -np.round(hit.score, 6), hit.passage.key))
    return [*head, *mixed[len(judgements) :]]


def current_first(
    question: str, ranked: list[RankedPassage], judgements: Mapping[int, Judgement]
) -> list[RankedPassage]:
    """If the first passage is from an outdated document, put the best answer from a current one before it.

    That has at least half of the question's terms that the outdated one has, and all of those with digits, unlike for
    "How long is leave under policy 3?" if no current policy has that number. An edition of the same document that has
    all of these terms may be less sure of its answer.

    Args:
        question: The text that was searched for.
        ranked: Passages, best first.
        judgements: On the first few passages, by row number.
    """
    first = ranked[0] if ranked else None
    if first is None or not first.passage.document.outdated:
        return ranked
    first_reading = reading_of(judgements, first.passage)
    least = 0.0 if first_reading is None else max(0.0, first_reading.answered - MOST_LESS_SURE)
    for hit in ranked[1:]:
        reading = reading_of(judgements, hit.passage)
        is_sure = _series(hit.passage) == _series(first.passage) and not _missing(question, first.passage, hit.passage)
        limit = least - MOST_LESS_SURE if is_sure else least
        if reading is not None and reading.answered >= limit and is_updated_by(question, first.passage, hit.passage):
            return put_first(hit, ranked)
    return ranked


def _series(passage: StoredPassage) -> str:
    """Return the name of a file without its year, version or "old", which the next edition of it has, too."""
    return " ".join(_OF_EDITION.sub(" ", path_words(PurePosixPath(passage.document.path).stem)).lower().split())


def newest_edition_first(
    question: str, ranked: list[RankedPassage], judgements: Mapping[int, Judgement]
) -> list[RankedPassage]:
    """If the first passage is of an earlier year's edition, put the answer of the newest that answers before it.

    That is for questions about the present: "how much is a kayak?" with prices of three years.

    Args:
        question: As it was asked.
        ranked: Passages, best first.
        judgements: On the first few passages, by row number.
    """
    readings = [
        (hit, edition, reading_of(judgements, hit.passage))
        for hit in ranked[:SECOND_DEPTH]
        if (edition := edition_of(hit.passage)) is not None
    ]
    if not readings or readings[0][0] is not ranked[0] or _ASKS_FOR_PAST.search(question) or names_date(question):
        return ranked
    _, (name, year), first = readings[0]
    least = max(0.0, -math.inf if first is None else first.answered - MOST_LESS_SURE)
    later = [
        (edition[1], reading.answered, hit)
        for hit, edition, reading in readings
        if edition[0] == name and edition[1] > year and reading is not None and reading.answered >= least
    ]
    return put_first(max(later, key=lambda it: it[:2])[2], ranked) if later else ranked


def put_first(hit: RankedPassage, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put a passage before all others, with the score of the first."""
    return [replace(hit, score=ranked[0].score, level=ranked[0].level), *(it for it in ranked if it is not hit)]


def is_updated_by(question: str, outdated: StoredPassage, passage: StoredPassage) -> bool:
    """Whether a passage may answer a question instead of an outdated one; see `current_first`."""
    topic, missing = terms(question) & _terms_around(outdated), _missing(question, outdated, passage)
    is_of_topic = len(missing) <= len(topic) / 2 and not any(map(_DIGIT.search, missing))
    return is_of_topic and not passage.document.outdated and not _ASKS_FOR_PAST.search(question)


def _missing(question: str, outdated: StoredPassage, passage: StoredPassage) -> set[str]:
    """Return the question's terms that an outdated passage has, and another one has not."""
    return (terms(question) & _terms_around(outdated)) - _terms_around(passage)


def _terms_around(passage: StoredPassage) -> set[str]:
    """Return the terms of a passage, its headings, its title and its path."""
    return terms("\n".join((passage.text, *passage.heading, passage.title, path_words(passage.document.path))))


def rerank_by_model(query: Query, ranked: Sequence[RankedPassage], model: CrossEncoderModel) -> list[RankedPassage]:
    """Order the first passages by a cross-encoder's score alone; levels stay in order.

    New scores are between the lowest old score of their level and 1, so that passages that were not scored stay below.
    """
    head = ranked[:SCORED_DEPTH]
    if not head:
        return []
    shares = min_max(np.round(model.scores(query.text, [hit.passage.encoder_text for hit in head]), 6))
    lowest: dict[int, float] = {}
    for hit in head:
        lowest[hit.level] = min(lowest.get(hit.level, 1.0), hit.score)
    rescored = [
        replace(hit, score=lowest[hit.level] + (1 - lowest[hit.level]) * share)
        for hit, share in zip(head, shares.tolist(), strict=True)
    ]
    return [*sorted(rescored, key=lambda hit: (hit.level, -hit.score, hit.passage.key)), *ranked[SCORED_DEPTH:]]


def _shares(logits: Sequence[float]) -> npt.NDArray[np.float64]:
    """Softmax of logits at the reader's temperature; 0 for minus infinity, and all 0 if there is nothing else."""
    values = np.array(logits)
    if not np.isfinite(values).any():
        return np.zeros(len(values))
    odds = np.exp((values - values.max()) / _TEMPERATURE)
    shares: npt.NDArray[np.float64] = odds / odds.sum()
    return shares
