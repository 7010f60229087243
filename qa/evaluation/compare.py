"""Two runs on the same questions: how far they differ, and whether that can be told from chance."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import UsageError
from qa.evaluation.figures import auroc, calibration_error
from qa.evaluation.judge import Row

Array = npt.NDArray[np.float64]

ROUNDS = 10_000
# Figures of a whole run cannot be averaged over questions; each round computes them anew.
ROUNDS_OF_WHOLE = 2_000
LEVEL = 0.05
_AT_ONCE = 4_000_000
_Statistic = Callable[[Array], float]


@dataclass(frozen=True, slots=True)
class Difference:
    """How far two runs differ in one measure.

    Attributes:
        name: The measure.
        first: Its value in the first run, on the questions of both.
        second: Its value in the second run, on the same.
        low: Lower end of the 95 % interval of `second - first`.
        high: Its upper end.
        p: The probability of a difference at least this large where the two runs are as good as each other.
        questions: How many have this measure in both runs.
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
        """The second less the first."""
        return self.second - self.first

    @property
    def is_told(self) -> bool:
        """Whether chance is an unlikely reason for the difference."""
        return self.p < LEVEL


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side: on how many questions, how many only one of them has, and by how much they differ."""

    questions: int
    only_first: int
    only_second: int
    differences: tuple[Difference, ...]


def compare(first: Sequence[Row], second: Sequence[Row]) -> Comparison:
    """Compare two runs, question by question.

    The p-value is that of a paired randomisation test (10,000 rounds in which each question's two outcomes change
    sides by chance: Smucker et al., https://doi.org/10.1145/1321440.1321528), the interval the middle 95 % of a
    bootstrap over questions. For the calibration error and the AUROC, 2,000 rounds. The same in every run.

    Raises:
        UsageError: They have no question in common.
    """
    others = {row.id: row for row in second}
    pairs = [(row, others[row.id]) for row in first if row.id in others and row.answerable == others[row.id].answerable]
    if not pairs:
        raise UsageError("the two runs have no question in common")
    names = dict.fromkeys(name for one, other in pairs for name in one.values if name in other.values)
    differences = [_of_means(name, pairs) for name in names]
    table = np.array([[[_confidence(row), row.right, row.answerable] for row in pair] for pair in pairs], dtype=float)
    differences.append(_of_wholes("ece", table, lambda rows: calibration_error(rows[:, 0], rows[:, 1])))
    kinds = {one.answerable for one, _ in pairs}
    if len(kinds) == 2:
        differences.append(_of_wholes("auroc", table, _auroc))
    return Comparison(len(pairs), len(first) - len(pairs), len(second) - len(pairs), tuple(differences))


def _confidence(row: Row) -> float:
    return row.confidence


def _auroc(rows: Array) -> float:
    answerable = rows[:, 2] > 0
    found = auroc(rows[answerable, 0], rows[~answerable, 0])
    return float("nan") if found is None else found


def _of_means(name: str, pairs: Sequence[tuple[Row, Row]]) -> Difference:
    values = np.array([(a.values[name], b.values[name]) for a, b in pairs if name in a.values and name in b.values])
    apart = values[:, 1] - values[:, 0]
    flips, draws = np.random.default_rng(0), np.random.default_rng(1)
    chance, spread = [], []
    n = len(apart)
    for rounds in _portions(n):
        signs = flips.integers(0, 2, size=(rounds, n), dtype=np.int8) * 2 - 1
        chance.append(signs @ apart / n)
        spread.append(apart[draws.integers(0, n, size=(rounds, n))].mean(axis=1))
    low, high = np.percentile(np.concatenate(spread), (2.5, 97.5))
    return Difference(
        name,
        first=float(values[:, 0].mean()),
        second=float(values[:, 1].mean()),
        low=float(low),
        high=float(high),
        p=_p_value(np.concatenate(chance), float(apart.mean())),
        questions=n,
    )


def _of_wholes(name: str, table: Array, statistic: _Statistic) -> Difference:
    """As `_of_means`, for a figure of a whole run; `table` is (questions, runs, columns)."""
    random = np.random.default_rng(0)
    n = len(table)
    first, second = statistic(table[:, 0]), statistic(table[:, 1])
    chance, spread = np.empty(ROUNDS_OF_WHOLE), np.empty(ROUNDS_OF_WHOLE)
    for at in range(ROUNDS_OF_WHOLE):
        side = random.integers(0, 2, size=n)
        rows = np.arange(n)
        chance[at] = statistic(table[rows, 1 - side]) - statistic(table[rows, side])
        drawn = table[random.integers(0, n, size=n)]
        spread[at] = statistic(drawn[:, 1]) - statistic(drawn[:, 0])
    low, high = np.nanpercentile(spread, (2.5, 97.5))
    return Difference(name, first, second, float(low), float(high), _p_value(chance, second - first), n)


def _portions(n: int) -> list[int]:
    """Rounds to compute together, so that memory stays small however many questions there are."""
    size = max(1, min(ROUNDS, _AT_ONCE // n))
    return [min(size, ROUNDS - at) for at in range(0, ROUNDS, size)]


def _p_value(chance: Array, seen: float) -> float:
    """The share of rounds at least as far from 0 as what was seen, which counts as a round itself."""
    return float((1 + (np.abs(chance) >= abs(seen) - 1e-12).sum()) / (1 + len(chance)))


def read_rows(file: Path) -> tuple[Row, ...]:
    """Read what became of each question from what `qa eval --json` printed.

    Raises:
        UsageError: It is no such file.
    """
    try:
        value = json.loads(file.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not JSON: {error}") from error
    if not isinstance(value, dict) or value.get("version") != 1 or not isinstance(value.get("per_question"), list):
        raise UsageError(f"{file} is not what qa eval --json prints")
    try:
        return tuple(_row(each) for each in value["per_question"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{file} is not what qa eval --json prints: {error!r}") from error


def _row(value: dict[str, Any]) -> Row:
    return Row(
        id=str(value["id"]),
        answerable=bool(value["answerable"]),
        found=bool(value["found"]),
        confidence=float(value["confidence"]),
        right=bool(value["right"]),
        ms=float(value["ms"]),
        values={str(name): float(number) for name, number in value["values"].items()},
    )
