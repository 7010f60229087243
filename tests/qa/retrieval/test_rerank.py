"""Re-ranking by late interaction, the reader and a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np
import numpy.typing as npt
import pytest

from index.encoder.cross_encoder import CrossEncoderModel
from index.encoder.devices import Device
from index.encoder.model_files import find
from qa.answer.results import Mode
from qa.reader.reading import Reading
from qa.retrieval.distinct import RankedPassage
from qa.retrieval.rerank import SCORED_DEPTH, Judgement, rerank, rerank_by_model
from tests.encoders import BagEncoder
from tests.qa.passages import match, query, reading, stored

ENCODER = BagEncoder()


def ranked(*scores: float, levels: Sequence[int] | None = None) -> list[RankedPassage]:
    """Passages with these scores, numbered from 0."""
    passages = (replace(stored(f"text {number}"), id=number, key=f"{number:02}") for number in range(len(scores)))
    rows = zip(passages, scores, levels or [0] * len(scores), strict=True)
    return [RankedPassage(passage, score, 0.0, level) for passage, score, level in rows]


def judged(*scores: float, relevant: Sequence[float] = ()) -> dict[int, Judgement]:
    """Judgements of late interaction, and of the reader if relevances are given."""
    nothing = match(query("", ENCODER), stored(""), ENCODER)
    matches = [replace(nothing, score=score) for score in scores]
    readings: Sequence[Reading | None] = [reading("", relevant=label) for label in relevant] or [None] * len(scores)
    return {number: Judgement(*pair) for number, pair in enumerate(zip(matches, readings, strict=True))}


def order(hits: Sequence[RankedPassage]) -> list[int]:
    return [hit.passage.id for hit in hits]


def test_late_interaction_has_most_of_the_score() -> None:
    """It has 57 % of the min-max normalised score; ties are broken by key."""
    reranked = rerank(query("red", ENCODER), ranked(0.9, 0.8, 0.5, 0.4), judged(0.2, 0.6, 1.0))
    assert order(reranked) == [2, 1, 0, 3]
    assert [hit.score for hit in reranked] == pytest.approx([0.215 + 0.57, 0.344 + 0.285, 0.387, 0.172])


def test_unread_passages_rank_below_read_ones() -> None:
    """Even if the first of them ties with the last passage that was read."""
    tied = ranked(0.9, 0.5, 0.5)
    tied[1], tied[2] = tied[2], tied[1]
    assert order(rerank(query("red", ENCODER), tied, {0: judged(1.0)[0], 2: judged(0.0)[0]})) == [0, 2, 1]


def test_scores_that_differ_only_by_rounding_are_ties() -> None:
    """Processors differ in the last digits, so keys decide, with late interaction and with a cross-encoder."""
    nearly = ranked(0.5, 0.5 + 1e-9, 0.5 - 1e-9)
    assert order(rerank(query("red", ENCODER), nearly, judged(0.5, 0.5, 0.5))) == [0, 1, 2]
    assert order(rerank_by_model(query("red", ENCODER), ranked(0.5, 0.5, 0.5), NumberScores(step=1e-9))) == [0, 1, 2]


def test_levels_stay_in_order() -> None:
    reranked = rerank(
        query("red", ENCODER), ranked(0.5, 0.4, 0.9, 0.8, levels=(0, 0, 1, 1)), judged(0.0, 0.05, 0.5, 1.0)
    )
    assert order(reranked) == [0, 1, 3, 2]
    assert [hit.level for hit in reranked] == [0, 0, 1, 1]


@pytest.mark.parametrize("mode", [Mode.KEYWORD, Mode.DENSE])
def test_single_mode_search_keeps_its_ranking(mode: Mode) -> None:
    passages = ranked(0.9, 0.8, 0.5)
    assert rerank(query("red", ENCODER, mode=mode), passages, judged(0.0, 0.5, 1.0)) == passages


def test_the_reader_adds_eight_tenths() -> None:
    """By how it compares the passages, even if it is sure of several; scores do not exceed 1."""
    thrice = 3 * log(3)  # three times as likely
    for sure in (0, 40):
        logits = (-500, sure + thrice, sure)
        reranked = rerank(query("red", ENCODER), ranked(0.9, 0.8, 0.5, 0.4), judged(0.2, 0.6, 1.0, relevant=logits))
        assert order(reranked) == [1, 2, 0, 3]
        matched, read = (0.344 + 0.285, 0.215 + 0.57, 0.387, 0.172), (0.6, 0.2, 0.0, 0.0)
        assert [hit.matched for hit in reranked] == pytest.approx(matched)
        scores = [(late + reader) / 1.8 for late, reader in zip(matched, read, strict=True)]
        assert [hit.score for hit in reranked] == pytest.approx(scores)


def test_reader_adds_answer_probability_to_sentence_scores() -> None:
    red_fox = query("red fox", ENCODER)
    text = "red fox runs. grey mouse"
    matched = match(red_fox, stored(text), ENCODER)
    read = reading(text, answer="grey mouse", sure=50)
    for start, end, share in ((0, 13, 0.0), (14, 24, 1.0)):
        by_match = Judgement(matched).span_score(red_fox, start, end)
        assert Judgement(matched, read).span_score(red_fox, start, end) == pytest.approx(by_match + share)


class NumberScores(CrossEncoderModel):
    """Scores texts by their numbers, on a scale of its own."""

    def __init__(self, step: float = 10.0) -> None:
        super().__init__(find(), Device.CPU)
        self._step = step

    def scores(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.array([self._step * int(text.removeprefix("text ")) - 99 for text in texts])


def test_a_cross_encoder_orders_only_the_first_thirty() -> None:
    """Regardless of their scores before; the others keep their order and their scores, which are lower."""
    passages = ranked(*(0.9 - number / 100 for number in range(SCORED_DEPTH + 5)))
    reranked = rerank_by_model(query("red", ENCODER, mode=Mode.KEYWORD), passages, NumberScores())
    assert order(reranked) == [*reversed(range(30)), *range(30, 35)]
    assert reranked[30:] == passages[30:]
    scores = [hit.score for hit in reranked]
    assert scores == sorted(scores, reverse=True)
    assert (scores[0], scores[29]) == (1.0, passages[29].score)


def test_levels_stay_in_order_with_a_cross_encoder() -> None:
    reranked = rerank_by_model(query("", ENCODER), ranked(0.5, 0.4, 0.9, 0.8, levels=(0, 0, 1, 1)), NumberScores())
    assert order(reranked) == [1, 0, 3, 2]
    assert [hit.score for hit in reranked] == pytest.approx([0.4 + 0.6 / 3, 0.4, 1.0, 0.8 + 0.2 * 2 / 3])
    assert rerank_by_model(query("", ENCODER), [], NumberScores()) == []
