"""How sure an answer is."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer import confidence
from qa.answer.confidence import Features, LogisticModel, features_of, probability
from tests.qa.passages import reading, stored

FINITE = st.floats(allow_nan=False)


def features(question: str, text: str, *, path: str = "x.txt", context: str = "") -> Features:
    passage = stored(text, path=path, context=context)
    return features_of(question, passage, cosine=0.5, sentence=0.25, matched=0.0, reading=None)


def test_probability_is_logistic() -> None:
    """1 / (1 + e^-(bias + weights · features))."""
    model = LogisticModel((1.0, 2.0, -1.5, 0.25, -0.5, 2.0, 1.0), -1.0)
    assert probability(Features(0.5, 0.25, 0.0), model) == 0.5
    assert probability(Features(0.5, 0.75, 0.0), model) == pytest.approx(1 / (1 + exp(-1)), abs=1e-15)
    assert probability(Features(0.5, 0.75, 1.0), model) == pytest.approx(1 / (1 + exp(0.5)), abs=1e-15)
    assert probability(Features(0.5, 0.25, 0.0, 4.0, 2.0), model) == 0.5
    assert probability(Features(0.5, 0.25, 0.0, 4.0, 7.0, 1.0, 0.5), model) == 0.5


@pytest.mark.parametrize("model", [confidence.RERANKED, confidence.QUICK], ids=["reranked", "quick"])
def test_each_feature_has_its_effect(model: LogisticModel) -> None:
    """A closer passage and a better sentence raise the confidence, and a missing number lowers it."""
    middle = probability(Features(0.5, 0.7, 0.0), model)
    assert probability(Features(0.6, 0.7, 0.0), model) > middle
    assert probability(Features(0.5, 0.8, 0.0), model) > middle
    assert probability(Features(0.5, 0.7, 1.0), model) < middle
    nothing, everything = Features(0.0, 0.0, 0.0), Features(1.0, 1.5, 0.0)
    assert probability(nothing, model) < confidence.THRESHOLD < probability(everything, model)


def test_each_feature_of_the_reader_has_its_effect() -> None:
    """It is more likely to see an answer in a relevant passage, so relevance is subtracted."""
    read = reading("x", answered=3.0, relevant=5.0)
    result = features_of("who won?", stored("x"), cosine=0.5, sentence=0.25, matched=0.75, reading=read)
    assert result == Features(0.5, 0.25, 0.0, 3.0, 5.0, read.spread, 0.75)
    middle = probability(result, confidence.READ)
    assert probability(replace(result, answered=3.5), confidence.READ) > middle
    assert probability(replace(result, relevant=5.5), confidence.READ) < middle
    assert probability(replace(result, answered=4.0, relevant=6.0), confidence.READ) > middle
    assert probability(replace(result, spread=0.5), confidence.READ) > middle
    assert probability(replace(result, matched=0.9), confidence.READ) > middle


@given(cosine=st.floats(-1, 1), sentence=FINITE, missing=st.sampled_from((0.0, 1.0)))
def test_probability_is_in_bounds(cosine: float, sentence: float, missing: float) -> None:
    """Between 0 and 1, without overflow, whatever the features."""
    assert 0.0 < probability(Features(cosine, sentence, missing), confidence.RERANKED) < 1.0


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("who won?", 0.0),
        ("who won in 2024?", 0.0),
        ("who won in 2025?", 1.0),
        ("who won in 2024 or 2025", 1.0),
        ("is it 12,000.", 0.0),
        ("is it 3.5, or more", 0.0),
        ("is it 3.6?", 1.0),
        ("what of volume 7", 0.0),
        ("what of edition 9", 0.0),
        ("is it 12000", 0.0),
        ("is it 1,2000", 1.0),
        ("did the 3 win", 0.0),
        ("did the 5 win", 1.0),
        ("did the 8 win", 0.0),
        ("what of 4 June", 0.0),
        ("what of 65 kg", 0.0),
        ("what of 65 lb", 1.0),
    ],
)
def test_number_missing_from_the_passage_is_detected(question: str, missing: float) -> None:
    """It is looked for in the text, the headings and the path, without the punctuation that follows it."""
    text = "Eight won in 2024, 12,000 to 3.5, against three. 2023-06-04. 60-69 kg."
    result = features(question, text, path="vol-7/x.txt", context="Edition 9")
    assert result == Features(0.5, 0.25, missing)
