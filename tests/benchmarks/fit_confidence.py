"""Fit the constants of `qa/answer/confidence.py` and say how well they hold.

    python -m tests.benchmarks.fit_confidence CORPUS QUESTIONS.jsonl [--sample N]

Wants questions of which many only look answerable, over several files: those of every other file are
fitted on, the rest are checked. A question counts as answered where its evidence is in the passages
shown. The bias is moved from the share of such questions in the set to the one that people ask, at which the
calibration error is given too, for the constants fitted here and for those of `qa/answer/confidence.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
import numpy.typing as npt

from qa import Mode, Retriever, build_index
from qa.answer import confidence
from qa.evaluation.evidence import Gold
from qa.evaluation.metrics import auroc
from qa.evaluation.questions import read_questions, sample
from tests import scoring
from tests.benchmarks.common import copied, question_parser, tell

# The share of questions to one's own collection that it answers: an assumption, stated in README.md.
ANSWERED_SHARE = 0.8

Array = npt.NDArray[np.float64]


def fit(features: Array, labels: Array) -> Array:
    """Logistic regression by Newton's method, lightly regularised: bias first, then a weight a feature."""
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    design = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    penalty = np.diag([0.0] + [1.0] * features.shape[1])
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (chance - labels) + penalty @ weights
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + penalty
        weights -= np.linalg.solve(curvature, gradient)
    scaled = weights[1:] / spread
    return np.concatenate([[weights[0] - (scaled * mean).sum()], scaled])


def calibration_error(chances: Array, labels: Array, share: float | None = None) -> float:
    """Expected calibration error over ten equal bins (Guo et al., https://arxiv.org/abs/1706.04599).

    Args:
        chances: What was said.
        labels: 1 where it came true.
        share: Weigh the questions as if this share had come true, and not the one that did.
    """
    there = labels.mean()
    weights = np.ones(len(labels)) if share is None else np.where(labels, share / there, (1 - share) / (1 - there))
    bins = np.minimum((chances * 10).astype(int), 9)
    off = (chances - labels) * weights
    return float(sum(abs(off[bins == b].sum()) for b in range(10)) / weights.sum())


def _chances(features: Array, bias: float, weights: Sequence[float]) -> Array:
    chances: Array = 1 / (1 + np.exp(-(bias + features @ np.array(weights))))
    return chances


def gather(root: Path, questions: Sequence[Gold], *, rerank: bool) -> tuple[Array, Array]:
    """Features of each question, and whether its evidence is in the passages shown."""
    rows, labels = [], []
    with Retriever.open(root) as retriever:
        for asked in questions:
            result, features = retriever._answer(
                asked.question, k=5, mode=Mode.HYBRID, path=None, rerank=rerank, question_id=None
            )
            rows.append(astuple(features) if features else (0.0, 0.0, 0.0))
            labels.append(any(asked.is_hit(hit.source.path, hit.source.chars) for hit in result.passages))
    return np.array(rows), np.array(labels, dtype=np.float64)


def main() -> None:
    """Run the fit that the command line describes."""
    parser = question_parser(__doc__, sample=2000)
    parser.add_argument("--no-rerank", action="store_true", help="fit confidence.QUICK instead of RERANKED")
    given = parser.parse_args()
    with copied(given.corpus) as root:
        build_index(root)
        questions = sample(scoring.read_questions(given.questions, root), given.sample)
        features, labels = gather(root, questions, rerank=not given.no_rerank)
    asked = sample(read_questions(given.questions), given.sample)
    files = sorted({each.file for each in asked})
    fitted = np.array([files.index(each.file) % 2 == 0 for each in asked])
    answerable = np.array([each.answerable for each in asked])
    bias, *weights = fit(features[fitted], labels[fitted])
    share = labels[fitted].mean()
    moved = bias + math.log(ANSWERED_SHARE / (1 - ANSWERED_SHARE)) - math.log(share / (1 - share))
    held = ~fitted
    chances = _chances(features, bias, weights)
    now = confidence.QUICK if given.no_rerank else confidence.RERANKED
    at_share = {
        "fitted here": _chances(features[held], moved, weights),
        "as they are now": _chances(features[held], now.bias, now.weights),
    }
    told_apart = auroc(chances[held & answerable], chances[held & ~answerable])
    tell(
        {
            "WEIGHTS": [round(float(weight), 3) for weight in weights],
            "BIAS": round(float(moved), 3),
            "fitted_on": int(fitted.sum()),
            "checked_on": int(held.sum()),
            "auroc_answerable": None if told_apart is None else round(told_apart, 3),
            "ece_at_the_set's_own_share": round(calibration_error(chances[held], labels[held]), 3),
            "ece_at_the_share_that_people_ask": {
                name: round(calibration_error(found, labels[held], ANSWERED_SHARE), 3)
                for name, found in at_share.items()
            },
        },
        given.out,
    )


if __name__ == "__main__":
    main()
