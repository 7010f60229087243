"""Compares two runs on the same questions: how far they differ, and whether the difference is significant."""

# ruff: noqa: PLC0415 - scipy takes long to import, and only a comparison needs it

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corpus.errors import UsageError
from qa.evaluation.metrics import Array, auroc, calibration_error
from qa.evaluation.scoring import QuestionScore

ROUNDS = 9_999
# Fewer rounds for ECE and AUROC, which are recomputed in each.
ROUNDS_OF_WHOLE = 1_999
LEVEL = 0.05
# How many resamples are computed together; limits memory.
_BATCH = 250


@dataclass(frozen=True, slots=True)
class Difference:
    """How far two runs differ in a measure, over the questions that have it in both.

    `low` and `high` are the 95 % confidence interval of `second - first`, `p` is the probability of a difference at
    least this large if the two runs are equally good.
    """

    name: str
    first: float
    second: float
    low: float
    high: float
    p: float
    questions: int

    @property
    def difference(self) -> float:
        """The second value less the first."""
        return self.second - self.first

    @property
    def is_significant(self) -> bool:
        """Whether p is below 0.05."""
        return self.p < LEVEL


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side: questions in both, questions in only one, and the differences."""

    questions: int
    only_first: int
    only_second: int
    differences: tuple[Difference, ...]


def compare(first: Sequence[QuestionScore], second: Sequence[QuestionScore]) -> Comparison:
    """Compare two runs, question by question; the same input gives the same output.

    p comes from a paired randomisation test (Smucker et al., https://doi.org/10.1145/1321440.1321528), the interval
    from a percentile bootstrap over questions. Runs with fewer than two questions in common are a UsageError.
    """
    by_id = {score.id: score for score in second}
    pairs = [(one, by_id[one.id]) for one in first if one.id in by_id and one.answerable == by_id[one.id].answerable]
    if len(pairs) < 2:
        raise UsageError("the two runs have fewer than two questions in common, which is too few to compare")
    names = dict.fromkeys(name for one, other in pairs for name in one.values if name in other.values)
    differences = [_mean_difference(name, pairs) for name in names]
    table = np.array([[[score.confidence, score.right, score.answerable] for score in pair] for pair in pairs], float)
    differences.append(_statistic_difference("ece", table, lambda rows: calibration_error(rows[:, 0], rows[:, 1])))
    if len({one.answerable for one, _ in pairs}) == 2:
        differences.append(_statistic_difference("auroc", table, _auroc))
    return Comparison(len(pairs), len(first) - len(pairs), len(second) - len(pairs), tuple(differences))


def _mean_difference(name: str, pairs: Sequence[tuple[QuestionScore, QuestionScore]]) -> Difference:
    values = np.array(
        [(one.values[name], other.values[name]) for one, other in pairs if name in one.values and name in other.values]
    )
    first, second = values.mean(axis=0)
    p, low, high = paired_test(values[:, 1] - values[:, 0])
    return Difference(name, float(first), float(second), low, high, p, len(values))


def paired_test(differences: Array) -> tuple[float, float, float]:
    """Return p for the hypothesis that the mean of paired differences is 0, and the mean's 95 % interval."""
    from scipy.stats import bootstrap, permutation_test

    if np.ptp(differences) == 0:  # scipy warns of a degenerate interval
        return (1.0 if differences[0] == 0 else 2.0 ** (1 - len(differences))), differences[0], differences[0]
    options: dict[str, Any] = {"n_resamples": ROUNDS, "batch": _BATCH, "vectorized": True}
    test_rng, interval_rng = np.random.default_rng(0), np.random.default_rng(1)
    test = permutation_test((differences,), np.mean, permutation_type="samples", rng=test_rng, **options)
    interval = bootstrap((differences,), np.mean, method="percentile", rng=interval_rng, **options).confidence_interval
    return float(test.pvalue), float(interval.low), float(interval.high)


def _statistic_difference(name: str, table: Array, statistic: Callable[[Array], float]) -> Difference:
    """Do the same as `paired_test` for a statistic of a whole run; `table` is (questions, runs, columns)."""
    from scipy.stats import permutation_test

    rows = np.arange(len(table))
    first, second = statistic(table[:, 0]), statistic(table[:, 1])

    def difference(one: Array, other: Array) -> float:
        return statistic(table[rows, other.astype(int)]) - statistic(table[rows, one.astype(int)])

    # Permutations swap, at random, which run each question's row is taken from.
    sides = (np.zeros(len(table)), np.ones(len(table)))
    test = permutation_test(
        sides, difference, permutation_type="samples", n_resamples=ROUNDS_OF_WHOLE, rng=np.random.default_rng(0)
    )
    rng = np.random.default_rng(1)
    resamples = (table[rng.integers(0, len(table), size=len(table))] for _ in range(ROUNDS_OF_WHOLE))
    # A statistic is NaN if a resample has only questions of one kind.
    low, high = np.nanpercentile([statistic(rows[:, 1]) - statistic(rows[:, 0]) for rows in resamples], (2.5, 97.5))
    return Difference(name, first, second, float(low), float(high), float(test.pvalue), len(table))


def _auroc(rows: Array) -> float:
    answerable = rows[:, 2] > 0
    area = auroc(rows[answerable, 0], rows[~answerable, 0])
    return float("nan") if area is None else area


def read_scores(file: Path) -> tuple[QuestionScore, ...]:
    """Read the score of each question from the output of `qa eval --json`; any other file is a UsageError."""
    try:
        value = json.loads(file.read_bytes())
        if value["version"] != 1:
            raise ValueError("version 1 expected")
        return tuple(_score(each) for each in value["per_question"])
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"{file} is not the output of qa eval --json: {error!r}") from error


def _score(value: dict[str, Any]) -> QuestionScore:
    return QuestionScore(
        id=str(value["id"]),
        answerable=bool(value["answerable"]),
        found=bool(value["found"]),
        confidence=float(value["confidence"]),
        right=bool(value["right"]),
        ms=float(value["ms"]),
        values={str(name): float(number) for name, number in value["values"].items()},
    )
