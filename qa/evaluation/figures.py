"""From what became of each question to the figures of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qa.evaluation.judge import Row

Array = npt.NDArray[np.float64]

BINS = 10
THRESHOLDS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Measure:
    """The mean of a measure over the questions that have it."""

    name: str
    value: float
    questions: int


@dataclass(frozen=True, slots=True)
class Bin:
    """Questions of neighbouring confidence: how many, their mean confidence, and the share that was right."""

    questions: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class Risk:
    """Answering only from a confidence on: the share of questions answered, and of those the share right (or None)."""

    threshold: float
    answered: float
    right: float | None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How often the tool said found and not found of what has an answer, and of what has none."""

    answerable_found: int
    answerable_not_found: int
    unanswerable_found: int
    unanswerable_not_found: int


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a run.

    Attributes:
        measures: Means over the answerable questions.
        ece: Expected calibration error of the confidence, over ten bins of equal size.
        brier: Mean squared distance of the confidence from what came true.
        bins: What the calibration error is made of, from the lowest confidence up.
        risk: What answering only above a confidence would mean.
        auroc: How often an answerable question has a higher confidence than one without an answer; a tie counts
            half. None where one of the two kinds is missing.
        verdicts: Found and not found against the truth.
        median_ms: Median of the milliseconds a question took.
        p95_ms: 95 of 100 questions took no longer.
    """

    measures: tuple[Measure, ...]
    ece: float
    brier: float
    bins: tuple[Bin, ...]
    risk: tuple[Risk, ...]
    auroc: float | None
    verdicts: Verdicts
    median_ms: float
    p95_ms: float


def figures_of(rows: Sequence[Row]) -> Figures:
    """Compute the figures of a run; there is at least one row."""
    confidence = np.array([row.confidence for row in rows])
    right = np.array([float(row.right) for row in rows])
    answerable = np.array([row.answerable for row in rows])
    milliseconds = np.array([row.ms for row in rows])
    bins = _bins(confidence, right)
    return Figures(
        measures=tuple(measures_of(rows)),
        ece=calibration_error(confidence, right),
        brier=float(((confidence - right) ** 2).mean()),
        bins=bins,
        risk=tuple(_risk(threshold, confidence, right) for threshold in THRESHOLDS),
        auroc=auroc(confidence[answerable], confidence[~answerable]),
        verdicts=_verdicts(rows),
        median_ms=float(np.median(milliseconds)),
        p95_ms=float(np.percentile(milliseconds, 95)),
    )


def measures_of(rows: Sequence[Row]) -> list[Measure]:
    """The mean of each measure, over the questions that have it."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.values.items():
            values.setdefault(name, []).append(value)
    return [Measure(name, float(np.mean(several)), len(several)) for name, several in values.items()]


def calibration_error(confidence: Array, right: Array) -> float:
    """Expected calibration error: the mean distance of confidence and truth, over ten bins of equal size.

    Guo et al., https://arxiv.org/abs/1706.04599; bins of equal size after Nixon et al.,
    https://arxiv.org/abs/1904.01685. Equal confidences stay in the order given.
    """
    distance = (confidence - right)[np.argsort(confidence, kind="stable")]
    return float(sum(abs(part.sum()) for part in np.array_split(distance, BINS)) / len(distance))


def auroc(positive: Array, negative: Array) -> float | None:
    """How often a positive scores above a negative, a tie counting half; None where either is missing."""
    if not len(positive) or not len(negative):
        return None
    ordered = np.sort(negative)
    below, upto = np.searchsorted(ordered, positive, "left"), np.searchsorted(ordered, positive, "right")
    return float((below + upto).mean() / 2 / len(negative))


def _bins(confidence: Array, right: Array) -> tuple[Bin, ...]:
    parts = np.array_split(np.argsort(confidence, kind="stable"), BINS)
    return tuple(
        Bin(len(part), float(confidence[part].mean()), float(right[part].mean())) for part in parts if len(part)
    )


def _risk(threshold: float, confidence: Array, right: Array) -> Risk:
    answered = confidence >= threshold
    return Risk(threshold, float(answered.mean()), float(right[answered].mean()) if answered.any() else None)


def _verdicts(rows: Sequence[Row]) -> Verdicts:
    def count(*, answerable: bool, found: bool) -> int:
        return sum(row.answerable is answerable and row.found is found for row in rows)

    return Verdicts(
        count(answerable=True, found=True),
        count(answerable=True, found=False),
        count(answerable=False, found=True),
        count(answerable=False, found=False),
    )
