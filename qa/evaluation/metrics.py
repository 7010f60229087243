"""Computes the metrics of a run from the scores of its questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qa.evaluation.scoring import QuestionScore

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
class CalibrationBin:
    """Questions of similar confidence: how many, their mean confidence, and the share answered correctly."""

    questions: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """The share of questions answered at a threshold of confidence, and the share of these answered correctly."""

    threshold: float
    answered: float
    right: float | None


@dataclass(frozen=True, slots=True)
class FoundCounts:
    """How often an answer was found, and not found, for answerable and unanswerable questions."""

    answerable_found: int
    answerable_not_found: int
    unanswerable_found: int
    unanswerable_not_found: int


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """The metrics of a run's rankings, confidence, verdicts and speed.

    `measures` cover the answerable questions, `bins` group questions by confidence, `auroc` needs questions of both
    kinds.
    """

    measures: tuple[Measure, ...]
    ece: float
    brier: float
    bins: tuple[CalibrationBin, ...]
    risk: tuple[RiskPoint, ...]
    auroc: float | None
    verdicts: FoundCounts
    median_ms: float
    p95_ms: float


def metrics_of(scores: Sequence[QuestionScore]) -> RunMetrics:
    """Return the metrics of a run of at least one question."""
    confidence = np.array([score.confidence for score in scores])
    right = np.array([float(score.right) for score in scores])
    answerable = np.array([score.answerable for score in scores])
    found = np.array([score.found for score in scores])
    milliseconds = np.array([score.ms for score in scores])
    values: dict[str, list[float]] = {}
    for score in scores:
        for name, value in score.values.items():
            values.setdefault(name, []).append(value)
    parts = [part for part in np.array_split(np.argsort(confidence, kind="stable"), BINS) if len(part)]
    counts = (answerable & found, answerable & ~found, ~answerable & found, ~answerable & ~found)
    return RunMetrics(
        measures=tuple(Measure(name, float(np.mean(numbers)), len(numbers)) for name, numbers in values.items()),
        ece=calibration_error(confidence, right),
        brier=float(((confidence - right) ** 2).mean()),
        bins=tuple(CalibrationBin(len(at), float(confidence[at].mean()), float(right[at].mean())) for at in parts),
        risk=tuple(_risk_at(threshold, confidence, right) for threshold in THRESHOLDS),
        auroc=auroc(confidence[answerable], confidence[~answerable]),
        verdicts=FoundCounts(*(int(mask.sum()) for mask in counts)),
        median_ms=float(np.median(milliseconds)),
        p95_ms=float(np.percentile(milliseconds, 95)),
    )


def calibration_error(confidence: Array, right: Array) -> float:
    """Return the expected calibration error over ten bins of equal size, in [0, 1].

    Guo et al., https://arxiv.org/abs/1706.04599; equal-size bins after Nixon et al., https://arxiv.org/abs/1904.01685.
    Equal confidences keep their order.
    """
    errors = (confidence - right)[np.argsort(confidence, kind="stable")]
    return float(sum(abs(part.sum()) for part in np.array_split(errors, BINS)) / len(errors))


def auroc(positive: Array, negative: Array) -> float | None:
    """Return the probability that a positive scores above a negative, ties counting half; None without both kinds."""
    if not len(positive) or not len(negative):
        return None
    ordered = np.sort(negative)
    below, not_above = (np.searchsorted(ordered, positive, side).sum() for side in ("left", "right"))
    return float((below + not_above) / 2 / len(positive) / len(negative))


def _risk_at(threshold: float, confidence: Array, right: Array) -> RiskPoint:
    answered = confidence >= threshold
    return RiskPoint(threshold, float(answered.mean()), float(right[answered].mean()) if answered.any() else None)
