"""Confidence: the probability that the answer is in the passages shown, by a logistic model over a few features.

Of the questions that it is fitted on, 11 of 20 can be answered; many of the others only look answerable, which makes it
hard. `tests/benchmarks/fit_confidence.py` fits it and prints the constants below; qa/RANKING.md says on which
questions, and how well it does on others.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

from corpus import lazy_pattern
from index import StoredPassage
from qa.language.question_kinds import asks_yes_or_no
from qa.language.values import NUMBER_WORDS
from qa.questions.bands import write_as_bands
from qa.reader.reading import Reading


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Weights in the order of `Features`, and a bias."""

    weights: tuple[float, ...]
    bias: float


# With the reader, with it for questions that ask for yes or no, with late interaction alone, and with neither.
READ = LogisticModel((0.0, 0.0, -1.243, 0.73, -0.201, 0.736, 2.546), -2.797)
READ_YES_NO = LogisticModel((0.0, 0.0, 0.0, 0.095, 0.18, 0.0, 0.0), -0.084)
RERANKED = LogisticModel((0.586, 4.453, -0.716, 0.0, 0.0, 0.0, 0.0), -3.237)
QUICK = LogisticModel((4.164, 1.259, -1.12, 0.0, 0.0, 0.0, 0.0), -1.704)
# At or above this probability, the answer counts as found.
THRESHOLD = 0.5
# Confidence of a lookup found in the first passage, or in no passage.
_IS_FOUND = 0.8
_IS_NOWHERE = 0.05
# The highest confidence in an answer about another subject than the question's, such as box 4 instead of box 5.
OTHER_SUBJECT = 0.2

_NUMBER = lazy_pattern(r"\d[\d.,]*")
_THOUSANDS = lazy_pattern(r",(?=\d{3}(?!\d))")
_WORD = lazy_pattern(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Features:
    """The features from which confidence is computed.

    Attributes:
        cosine: The best passage's cosine with the question.
        sentence: Its best sentence's score: by late interaction and the reader, or without them by shared words.
        missing_number: 1 if the question has a number that the passage lacks, and no band of it includes, else 0. Not
            used for yes or no.
        answered: The reader's logit that the best passage answers; 0 without the reader.
        relevant: Its logit that the passage is the one to read; 0 without the reader. The weight is negative, as the
            reader overrates `answered` for passages that are merely on topic; for yes or no, `relevant` says more.
        spread: How many places the reader sees for the answer, as entropy; 0 without it. In a passage that does not
            answer, it tends to pick one name or number.
        matched: The passage's score without the reader's share.
    """

    cosine: float
    sentence: float
    missing_number: float
    answered: float = 0.0
    relevant: float = 0.0
    spread: float = 0.0
    matched: float = 0.0


def model_for(question: str, *, is_read: bool, is_reranked: bool) -> LogisticModel:
    """Return the model for a question whose first passage was read, or else compared by late interaction or not."""
    if not is_read:
        return RERANKED if is_reranked else QUICK
    return READ_YES_NO if asks_yes_or_no(question) else READ


def probability(features: Features, model: LogisticModel) -> float:
    """Return the probability in [0, 1] that the answer is in the passages."""
    logit = model.bias + sum(weight * value for weight, value in zip(model.weights, astuple(features), strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def adjust_for_lookup(fitted: float, *, is_found: bool, is_nowhere: bool) -> float:
    """Adjust the model's probability for a lookup.

    Args:
        fitted: The probability by the model, which is fitted on questions.
        is_found: The first passage matches the whole lookup.
        is_nowhere: No passage has some code or quoted words of the lookup.
    """
    return min(fitted, _IS_NOWHERE) if is_nowhere else max(fitted, _IS_FOUND) if is_found else fitted


def features_of(
    question: str,
    best: StoredPassage,
    *,
    cosine: float,
    sentence: float,
    matched: float,
    reading: Reading | None,
) -> Features:
    """Compute the features of an answer from the first passage shown, and from the reader's result on it, if any."""
    path, text = best.document.path, f"{best.context} {best.text}"
    question = write_as_bands(best, question)
    missing = float(not _numbers(question) <= _numbers(f"{path} {text}") | _number_words(f"{path} {text}"))
    if reading is None:
        return Features(cosine, sentence, missing)
    return Features(cosine, sentence, missing, reading.answered, reading.relevant, reading.spread, matched)


def _numbers(text: str) -> set[str]:
    """Return the numbers in digits, without thousands separators and leading zeros: 11039, and 4 from 2024-06-04."""
    return {_THOUSANDS.sub("", number.rstrip(".,")).lstrip("0") for number in _NUMBER.findall(text)}


def _number_words(text: str) -> set[str]:
    """Return the numbers that are written as words, in digits."""
    return {str(NUMBER_WORDS[word]) for word in _WORD.findall(text.lower()) if word in NUMBER_WORDS}
