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
_Pair = tuple[Row, Row]


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
    differences = [each for names, several in _alike(pairs) for each in _of_means(names, several)]
    table = np.array([[[row.confidence, row.right, row.answerable] for row in pair] for pair in pairs], dtype=float)
    differences.append(_of_wholes("ece", table, lambda rows: calibration_error(rows[:, 0], rows[:, 1])))
    if len({one.answerable for one, _ in pairs}) == 2:
        differences.append(_of_wholes("auroc", table, _auroc))
    return Comparison(len(pairs), len(first) - len(pairs), len(second) - len(pairs), tuple(differences))


def _alike(pairs: Sequence[_Pair]) -> list[tuple[list[str], list[_Pair]]]:
    """Measures with the pairs that have them, those of the same pairs together."""
    places: dict[str, list[int]] = {}
    for at, (one, other) in enumerate(pairs):
        for name in one.values:
            if name in other.values:
                places.setdefault(name, []).append(at)
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, several in places.items():
        groups.setdefault(tuple(several), []).append(name)
    return [(names, [pairs[at] for at in several]) for several, names in groups.items()]


def _of_means(names: Sequence[str], pairs: Sequence[_Pair]) -> list[Difference]:
    first, second = (np.array([[pair[side].values[name] for name in names] for pair in pairs]) for side in (0, 1))
    p, low, high = paired_test(second - first)
    return [
        Difference(
            name,
            first=float(first[:, at].mean()),
            second=float(second[:, at].mean()),
            low=float(low[at]),
            high=float(high[at]),
            p=float(p[at]),
            questions=len(pairs),
        )
        for at, name in enumerate(names)
    ]


def paired_test(apart: Array) -> tuple[Array, Array, Array]:
    """Test whether means differ from 0.

    Args:
        apart: `(questions, measures)`, the second run less the first.

    Returns:
        For each measure the p-value, and the lower and the upper end of the 95 % interval of the mean.
    """
    flips, draws = np.random.default_rng(0), np.random.default_rng(1)
    n = len(apart)
    chance, spread = [], []
    for rounds in _portions(n):
        signs = 2.0 * flips.integers(0, 2, size=(rounds, n), dtype=np.int8) - 1
        chance.append(signs @ apart / n)
        drawn = draws.integers(0, n, size=(rounds, n)) + n * np.arange(rounds)[:, None]
        spread.append(np.bincount(drawn.ravel(), minlength=rounds * n).reshape(rounds, n) @ apart / n)
    low, high = np.percentile(np.concatenate(spread), (2.5, 97.5), axis=0)
    return _p_values(np.concatenate(chance), apart.mean(axis=0)), low, high


def _auroc(rows: Array) -> float:
    answerable = rows[:, 2] > 0
    found = auroc(rows[answerable, 0], rows[~answerable, 0])
    return float("nan") if found is None else found


def _of_wholes(name: str, table: Array, statistic: _Statistic) -> Difference:
    """As `paired_test`, for a figure of a whole run; `table` is (questions, runs, columns)."""
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
    p = _p_values(chance[:, None], np.array([second - first]))
    return Difference(name, first, second, float(low), float(high), float(p[0]), n)


def _portions(n: int) -> list[int]:
    """Rounds to compute together, so that memory stays small however many questions there are."""
    size = max(1, min(ROUNDS, _AT_ONCE // n))
    return [min(size, ROUNDS - at) for at in range(0, ROUNDS, size)]


def _p_values(chance: Array, seen: Array) -> Array:
    """The share of rounds at least as far from 0 as what was seen, which counts as a round itself."""
    as_far: Array = (np.abs(chance) >= np.abs(seen) - 1e-12).sum(axis=0)
    return (1 + as_far) / (1 + len(chance))


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
