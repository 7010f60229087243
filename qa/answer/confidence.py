"""Confidence: the probability that the answer is in the passages shown, by a logistic model over three features.

It is fitted on questions half of which were written so that they only look answerable, which is the hard part; its bias
is then moved to the share of answerable questions that people ask of their own collections.
`tests/benchmarks/fit_confidence.py` fits it, prints the constants below, and checks them on articles that were not
fitted on.
"""

from __future__ import annotations

import math
import re
from dataclasses import astuple, dataclass

from index import StoredPassage


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Weights in the order of `Features`, and a bias."""

    weights: tuple[float, float, float]
    bias: float


# With late interaction and without.
RERANKED = LogisticModel((0.586, 4.453, -0.716), -3.237)
QUICK = LogisticModel((4.164, 1.259, -1.12), -1.704)
# From this probability on the answer counts as found.
THRESHOLD = 0.5

_NUMBER = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class Features:
    """What the confidence is computed from.

    Attributes:
        cosine: The best passage's cosine with the question.
        sentence: Its best sentence's score: by late interaction, or without it by shared words.
        missing_number: 1 where the question has a number that the passage lacks, else 0.
    """

    cosine: float
    sentence: float
    missing_number: float


def probability(features: Features, model: LogisticModel) -> float:
    """The probability in [0, 1] that the answer is in the passages."""
    logit = model.bias + sum(weight * value for weight, value in zip(model.weights, astuple(features), strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def features_of(question: str, best: StoredPassage, *, cosine: float, sentence: float) -> Features:
    """The features of an answer; `best` is the first passage shown."""
    present = _numbers(f"{best.document.path} {best.context} {best.text}")
    return Features(cosine, sentence, float(not _numbers(question) <= present))


def _numbers(text: str) -> set[str]:
    return {number.rstrip(".,") for number in _NUMBER.findall(text)}
