"""Compares two runs on the same questions: their differences, and whether these are significant."""

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

ROUNDS = 1_999
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two runs in a measure, over the questions that have it in both.

    `low` and `high` are the 95 % confidence interval of `second - first`; `p` is the probability of a difference at
    least this large if both runs are equally good.
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
        """The second value minus the first."""
        return self.second - self.first

    @property
    def is_significant(self) -> bool:
        """Whether p is below 0.05."""
        return self.p < LEVEL


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared: how many questions are in both and in only one of them, and the differences."""

    questions: int
    only_first: int
    only_second: int
    differences: tuple[Difference, ...]


def compare(first: Sequence[QuestionScore], second: Sequence[QuestionScore]) -> Comparison:
    """Compare two runs, question by question; the result is deterministic.

    p comes from a paired randomisation test (Smucker et al., https://doi.org/10.1145/1321440.1321528), the interval
    from a percentile bootstrap over questions. Runs with fewer than two questions in common are a UsageError.
    """
    by_id = {row.id: row for row in second}
    pairs = [(row, by_id[row.id]) for row in first if row.id in by_id and row.answerable == by_id[row.id].answerable]
    if len(pairs) < 2:
        raise UsageError("the two runs have fewer than two questions in common, which is too few to compare")
    names = dict.fromkeys(name for row, other_row in pairs for name in row.values if name in other_row.values)
    differences = []
    for name in names:
        values = [[[row.values[name]] for row in pair] for pair in pairs if all(name in row.values for row in pair)]
        differences.append(_compare_statistic(name, np.array(values), lambda rows: float(rows.mean())))
    table = np.array([[[row.confidence, row.right, row.answerable] for row in pair] for pair in pairs], float)
    differences.append(_compare_statistic("ece", table, lambda rows: calibration_error(rows[:, 0], rows[:, 1])))
    if len({row.answerable for row, _ in pairs}) == 2:
        differences.append(_compare_statistic("auroc", table, _auroc))
    return Comparison(len(pairs), len(first) - len(pairs), len(second) - len(pairs), tuple(differences))


def _compare_statistic(name: str, table: Array, statistic: Callable[[Array], float]) -> Difference:
    """Compare a statistic of two runs; `table` is (questions, runs, columns)."""
    from scipy.stats import permutation_test

    questions = np.arange(len(table))
    first, second = statistic(table[:, 0]), statistic(table[:, 1])
    if len(table) == 1 or np.array_equal(table[:, 0], table[:, 1]):  # no resample differs
        return Difference(name, first, second, second - first, second - first, 1.0, len(table))

    def difference(runs: Array, other_runs: Array) -> float:
        return statistic(table[questions, other_runs.astype(int)]) - statistic(table[questions, runs.astype(int)])

    # Permutations choose at random from which run each question's row is taken.
    sides = (np.zeros(len(table)), np.ones(len(table)))
    rng, interval_rng = np.random.default_rng(0), np.random.default_rng(1)
    test = permutation_test(sides, difference, permutation_type="samples", n_resamples=ROUNDS, rng=rng)
    resamples = (table[interval_rng.integers(0, len(table), size=len(table))] for _ in range(ROUNDS))
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
        return tuple(_parse_score(question_score) for question_score in value["per_question"])
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"{file} is not the output of qa eval --json: {error!r}") from error


def _parse_score(fields: dict[str, Any]) -> QuestionScore:
    return QuestionScore(
        id=str(fields["id"]),
        answerable=bool(fields["answerable"]),
        found=bool(fields["found"]),
        confidence=float(fields["confidence"]),
        right=bool(fields["right"]),
        ms=float(fields["ms"]),
        values={str(name): float(measure) for name, measure in fields["values"].items()},
    )
