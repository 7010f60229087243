"""Answers and probabilities from the logits of one passage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.reader.reading import Reading
from tests.qa.passages import reading

TEXT = "It opened in May 1932. It closed on 3 June."


def of_logits(start: Iterable[float], end: Iterable[float]) -> Reading:
    """The reading of a text in which every second character is a token."""
    starts, ends = (np.array(list(logits), dtype=np.float32) for logits in (start, end))
    spans = np.array([(2 * i, 2 * i + 1) for i in range(len(starts))], dtype=np.int32)
    return Reading(0, 0, starts, ends, 0, spans)


def test_best_answer_overall_and_within_a_sentence() -> None:
    """A span has an exclusive end; the margin is the mean of start and end above those of no answer."""
    result = reading(TEXT, answer="May 1932", sure=7, none=4)
    assert result.best(0, len(TEXT)) == (13, 21)
    assert result.margin == 5
    assert result.best(23, len(TEXT)) == (23, 25), "the first of equals"
    assert result.best(22, 23) is None


def test_both_ends_of_the_answer_count_in_a_share() -> None:
    result = reading(TEXT, answer="May 1932", sure=50)
    shares = [result.share(start, end) for start, end in ((0, 16), (16, 22), (13, 21))]
    assert shares == pytest.approx([0.5, 0.5, 1])


def test_answer_span_is_ordered_and_bounded() -> None:
    """If start and end disagree, the best ordered pair of at most 30 tokens is taken."""
    start, end = np.zeros(40), np.zeros(40)
    start[5], end[3] = 9, 8
    assert of_logits(start, end).best(0, 80) == (10, 11)
    end[34] = 1
    assert of_logits(start, end).best(0, 80) == (10, 69)
    end[35] = 2
    assert of_logits(start, end).best(0, 80) == (10, 69), "31 tokens"


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=12))
def test_shares_of_parts_add_up(logits: list[tuple[float, float]]) -> None:
    """The probability of the answer's ends is divided among the tokens."""
    result = of_logits(*zip(*logits, strict=True))
    half = len(logits)
    assert result.share(0, half) + result.share(half, 100) <= 1 + 1e-5
    assert result.share(0, 100) == pytest.approx(1, abs=1e-5)
    assert result.share(1, 2) == 0


def test_spread_is_the_entropy_of_the_places() -> None:
    """Of one token nothing, of five equally likely ones the logarithm of five."""
    assert reading("a b c d e", answer="c", sure=50).spread == pytest.approx(0, abs=1e-6)
    assert reading("a b c d e", answer="c", sure=0).spread == pytest.approx(log(5), abs=1e-6)


def test_the_mean_of_two_readings_is_of_the_same_tokens() -> None:
    """All logits are averaged; if the texts were cut differently, the first reading is used."""
    first, second = replace(of_logits([4, 0], [1, 5]), answered=3), replace(of_logits([0, 2], [3, 1]), none=-6)
    mean = first.mean_with(second)
    assert (mean.start.tolist(), mean.end.tolist()) == ([2, 1], [2, 3])
    assert (mean.answered, mean.none) == (1.5, -3)
    longer = of_logits([1, 2, 3], [1, 2, 3])
    assert first.mean_with(longer) is first


def test_an_empty_text_has_no_answer() -> None:
    result = reading(" ")
    assert result.best(0, 3) is None
    assert result.margin == -float("inf")
    assert result.share(0, 3) == 0
    assert result.spread == 0
