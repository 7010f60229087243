"""Confidence: the probability that the answer is in the passages shown, by a logistic model over a few features.

It is fitted on questions many of which only look answerable, which is the hard part; its bias is then moved as if
eleven in twenty could be answered. `tests/benchmarks/fit_confidence.py` fits it and prints the constants below;
qa/RANKING.md says on which questions, and how well they hold on others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass

from index import StoredPassage
from qa.reader.reading import Reading


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Weights in the order of `Features`, and a bias."""

    weights: tuple[float, ...]
    bias: float


# With the reader, with late interaction alone, and with neither.
READ = LogisticModel((0.0, 0.0, -0.559, 0.468), 0.416)
RERANKED = LogisticModel((0.586, 4.453, -0.716, 0.0), -3.237)
QUICK = LogisticModel((4.164, 1.259, -1.12, 0.0), -1.704)
# From this probability on the answer counts as found.
THRESHOLD = 0.5
# What is looked up stands in the passage, or nowhere.
_STANDS = 0.8
_IS_NOWHERE = 0.05

_NUMBER = re.compile(r"\d[\d.,]*")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_SMALL, start=1)}
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Features:
    """What the confidence is computed from.

    Attributes:
        cosine: The best passage's cosine with the question.
        sentence: Its best sentence's score: by late interaction and the reader, or without them by shared words.
        missing_number: 1 where the question has a number that the passage lacks, else 0.
        answered: The reader's logit that the passage answers which it finds most relevant; 0 without the reader.
    """

    cosine: float
    sentence: float
    missing_number: float
    answered: float = 0.0


def probability(features: Features, model: LogisticModel) -> float:
    """The probability in [0, 1] that the answer is in the passages."""
    logit = model.bias + sum(weight * value for weight, value in zip(model.weights, astuple(features), strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def of_lookup(sure: float, *, stands: bool, is_nowhere: bool) -> float:
    """The probability of a lookup that the model gives another one.

    Args:
        sure: By the model, which is fitted on questions.
        stands: The first passage has all that is looked up.
        is_nowhere: No passage has a code or quoted words of it.
    """
    return min(sure, _IS_NOWHERE) if is_nowhere else max(sure, _STANDS) if stands else sure


def features_of(
    question: str, best: StoredPassage, *, cosine: float, sentence: float, readings: Iterable[Reading] = ()
) -> Features:
    """The features of an answer; `best` is the first passage shown, `readings` those of all that were read."""
    asked = _numbers(question)
    read = max(readings, key=lambda one: one.relevant, default=None)
    around = f"{best.document.path} {best.context} {best.text}"
    missing = float(bool(asked) and not asked <= _numbers(around) | _number_words(around))
    return Features(cosine, sentence, missing, 0.0 if read is None else read.answered)


def _numbers(text: str) -> set[str]:
    """Numbers in digits, without separators of thousands and zeros before: 11039, and 4 of 2024-06-04."""
    return {_THOUSANDS.sub("", number.rstrip(".,")).lstrip("0") for number in _NUMBER.findall(text)}


def _number_words(text: str) -> set[str]:
    """Small numbers written as words, in digits."""
    return {_NUMBER_WORDS[word] for word in _WORD.findall(text.lower()) if word in _NUMBER_WORDS}
