"""Confidence: the probability that the answer is in the passages shown, by a logistic model over a few features.

It is fitted on questions many of which only look answerable, which is the hard part; eleven in twenty can be
answered. `tests/benchmarks/fit_confidence.py` fits it and prints the constants below;
qa/RANKING.md says on which questions, and how well they hold on others.
"""

from __future__ import annotations

import math
import re
from dataclasses import astuple, dataclass

from index import StoredPassage
from qa.reader.reading import Reading


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Weights in the order of `Features`, and a bias."""

    weights: tuple[float, ...]
    bias: float


# With the reader, with late interaction alone, and with neither.
READ = LogisticModel((0.0, 0.0, -0.758, 0.662, -0.2), 0.832)
RERANKED = LogisticModel((0.586, 4.453, -0.716, 0.0, 0.0), -3.237)
QUICK = LogisticModel((4.164, 1.259, -1.12, 0.0, 0.0), -1.704)
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
        answered: The reader's logit that the best passage answers; 0 without the reader.
        relevant: Its logit that the passage is the one to read; 0 without the reader. What is about the question is
            the likelier said to answer it, so some of this is taken back.
    """

    cosine: float
    sentence: float
    missing_number: float
    answered: float = 0.0
    relevant: float = 0.0


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
    question: str, best: StoredPassage, *, cosine: float, sentence: float, reading: Reading | None = None
) -> Features:
    """The features of an answer; `best` is the first passage shown, `reading` what the reader tells of it."""
    asked = _numbers(question)
    around = f"{best.document.path} {best.context} {best.text}"
    missing = float(bool(asked) and not asked <= _numbers(around) | _number_words(around))
    if reading is None:
        return Features(cosine, sentence, missing)
    return Features(cosine, sentence, missing, reading.answered, reading.relevant)


def _numbers(text: str) -> set[str]:
    """Numbers in digits, without separators of thousands and zeros before: 11039, and 4 of 2024-06-04."""
    return {_THOUSANDS.sub("", number.rstrip(".,")).lstrip("0") for number in _NUMBER.findall(text)}


def _number_words(text: str) -> set[str]:
    """Small numbers written as words, in digits."""
    return {_NUMBER_WORDS[word] for word in _WORD.findall(text.lower()) if word in _NUMBER_WORDS}
