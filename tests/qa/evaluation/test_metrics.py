"""Metrics of a run, and whether two runs differ."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import UsageError
from qa.answer.results import Mode
from qa.evaluation.comparison import compare, read_scores
from qa.evaluation.evaluate import EvalSettings, apply_changes
from qa.evaluation.metrics import FoundCounts, RiskPoint, auroc, calibration_error, metrics_of
from qa.evaluation.scoring import QuestionScore


def row(number: int, **fields: Any) -> QuestionScore:
    usual: dict[str, Any] = {"answerable": True, "found": True, "confidence": 0.5, "right": True, "ms": 1, "values": {}}
    return QuestionScore(f"q{number}", **usual | fields)


# One run


def test_calibration_error_by_hand() -> None:
    """For ten pairs of questions: the mean distance between a pair's confidence and its share of right answers."""
    shuffled = np.random.default_rng(0).permutation(20)
    confidence, right = np.repeat(np.arange(10) / 10, 2)[shuffled], np.tile([0.0, 1.0], 10)[shuffled]
    assert calibration_error(confidence, right) == pytest.approx(np.mean([abs(at / 10 - 0.5) for at in range(10)]))
    assert calibration_error(confidence, confidence) == 0


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_auroc_is_the_share_of_pairs_in_order(high: list[int], low: list[int]) -> None:
    """Ties count half."""
    pairs = list(itertools.product(high, low))
    expected = sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs)
    assert auroc(np.array(high) / 5, np.array(low) / 5) == pytest.approx(expected)


def test_auroc_needs_both_kinds() -> None:
    assert auroc(np.array([0.5]), np.array([])) is None
    assert metrics_of([row(1), row(2)]).auroc is None


def test_metrics_of_a_run() -> None:
    """Measures are averaged over the questions that have them; confidence, verdicts and times cover all."""
    rows = [
        row(1, confidence=0.9, ms=10, values={"hit@1": 1.0, "covered@1000": 1.0}),
        row(2, confidence=0.6, right=False, ms=20, values={"hit@1": 0.0}),
        row(3, confidence=0.3, found=False, ms=30, values={"hit@1": 0.0}),
        row(4, confidence=0.3, right=False, answerable=False, found=False, ms=40),
        row(5, confidence=0.7, right=False, answerable=False, ms=50),
    ]
    metrics = metrics_of(rows)
    assert {item.name: (item.value, item.questions) for item in metrics.measures} == {
        "hit@1": (pytest.approx(1 / 3), 3),
        "covered@1000": (1.0, 1),
    }
    assert metrics.verdicts == FoundCounts(2, 1, 1, 1)
    assert metrics.auroc == pytest.approx((1 + 1 + 0 + 1 + 0.5 + 0) / 6)
    assert metrics.median_ms == 30
    assert metrics.p95_ms == pytest.approx(48)
    assert metrics.brier == pytest.approx((0.01 + 0.36 + 0.49 + 0.09 + 0.49) / 5)
    assert {item.threshold: item for item in metrics.risk}[0.6] == RiskPoint(0.6, 3 / 5, 1 / 3)
    assert {item.threshold: item for item in metrics.risk}[0.0] == RiskPoint(0.0, 1.0, 2 / 5)
    assert sum(item.questions for item in metrics.bins) == 5


# Two runs


def test_a_run_does_not_differ_from_itself() -> None:
    rows = [
        row(at, confidence=at / 20, right=at % 2 == 0, answerable=at % 3 > 0, values={"hit@1": at % 2})
        for at in range(20)
    ]
    comparison = compare(rows, rows)
    assert (comparison.questions, comparison.only_first, comparison.only_second) == (20, 0, 0)
    assert [row.name for row in comparison.differences] == ["hit@1", "ece", "auroc"]
    assert {(row.difference, row.low, row.high, row.p, row.is_significant) for row in comparison.differences} == {
        (0, 0, 0, 1, False)
    }


@pytest.mark.parametrize(
    "differences", [[1, 1, 1, 1, 1, 1, 0, 0], [1, 1, -1, 1, 0.5, 0.25, -0.5, 1], [1, -1, 0, 0, 0, 0, 0, 0]]
)
def test_p_approximates_the_exact_permutation_test(differences: list[float]) -> None:
    """The exact value is computed from all 256 assignments of signs."""
    observed = abs(sum(differences))
    totals = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=8)
    ]
    exact = np.mean([total >= observed - 1e-9 for total in totals])
    runs = [[row(at, values={"hit@1": value}) for at, value in enumerate(values)] for values in ([0] * 8, differences)]
    measured = compare(*runs).differences[0]
    assert measured.p == pytest.approx(exact, abs=0.015)
    assert measured.difference == pytest.approx(np.mean(differences))
    assert measured.low < measured.difference < measured.high


def test_metrics_of_whole_runs_are_compared() -> None:
    """A confidence that distinguishes answerable questions is better than a random one."""
    random = np.random.default_rng(3)
    blind = [row(at, confidence=float(random.random()), answerable=at % 2 > 0, right=at % 2 > 0) for at in range(120)]
    sighted = [row(at, confidence=(at % 2) * 0.8 + 0.1, answerable=at % 2 > 0, right=at % 2 > 0) for at in range(120)]
    by_name = {measure.name: measure for measure in compare(blind, sighted).differences}
    assert by_name["auroc"].second == 1
    assert by_name["auroc"].is_significant
    assert by_name["auroc"].low > 0.3
    assert by_name["ece"].second == pytest.approx(0.1)
    assert by_name["ece"].is_significant
    assert by_name["ece"].high < 0


def test_only_questions_of_both_runs_are_compared() -> None:
    """Questions are matched by id, in any order; questions of only one run are counted."""
    first = [row(at, values={"hit@1": 1.0}) for at in range(6)]
    second = [row(at, values={"hit@1": 0.0}) for at in (7, 5, 3, 1)]
    first[1].values["file@1"], second[3].values["file@1"] = 1.0, 0.0  # a measure of one question
    comparison = compare(first, second)
    assert (comparison.questions, comparison.only_first, comparison.only_second) == (3, 3, 1)
    assert [(measure.name, measure.questions, measure.p) for measure in comparison.differences[:2]] == [
        ("hit@1", 3, pytest.approx(0.25)),
        ("file@1", 1, 1),
    ]
    with pytest.raises(UsageError, match="fewer than two questions in common"):
        compare(first[:1], second)


# What a run is compared with


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no-rerank", EvalSettings(rerank=False, k=7)),
        (" mode=dense , rerank=off", EvalSettings(Mode.DENSE, rerank=False, k=7)),
    ],
)
def test_settings_of_the_second_run(text: str, expected: EvalSettings) -> None:
    """They change the settings of the first run, whose number of passages is kept."""
    assert apply_changes(text, EvalSettings(k=7)) == expected


@pytest.mark.parametrize("text", ["", "mode=fast", "rerank", "no-rerank,", "rerank=on,mode=hybrid"])
def test_invalid_settings_of_the_second_run(text: str) -> None:
    with pytest.raises(UsageError, match="--compare"):
        apply_changes(text, EvalSettings())


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "per_question": []}', '{"version": 1}'])
def test_a_file_that_is_not_an_earlier_run(text: str, tmp_path: Path) -> None:
    file = tmp_path / "earlier.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"earlier\.json"):
        read_scores(file)
    with pytest.raises(UsageError, match="cannot read"):
        read_scores(tmp_path / "not there.json")


def test_scores_are_read_from_an_earlier_run(tmp_path: Path) -> None:
    rows = [row(1, values={"hit@1": 0.25}), row(2, answerable=False, found=False, right=False)]
    file = tmp_path / "earlier.json"
    file.write_text(json.dumps({"version": 1, "per_question": [asdict(score) for score in rows]}))
    assert read_scores(file) == tuple(rows)
