"""Fit the constants of `qa/answer/confidence.py` and measure their accuracy.

    python -m tests.benchmarks.fit_confidence --fit CORPUS QUESTIONS.jsonl ... [--check CORPUS QUESTIONS.jsonl ...]

Many of the questions should only look answerable. Without `--check`, the questions on every other file are used to fit
and the rest to check. A question counts as answered if it is answerable: nine in ten of these have their evidence in
the passages shown. `--share` moves the bias to the share of such questions that people ask. Accuracy is reported both
for the constants fitted here and for those of `qa/answer/confidence.py`. With the reader, the first two features have
no weight. Questions for yes or no, which have constants of their own, are left out; with `--yes-no`, all others are.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qa import Retriever, build_index
from qa.answer import confidence
from qa.answer.confidence import Features, asks_yes_or_no
from qa.evaluation.metrics import auroc
from qa.evaluation.questions import read_questions, sample
from qa.retrieval.question_text import AskRequest
from tests.benchmarks.common import copied, result_parser, write_result

Array = npt.NDArray[np.float64]


def fit(features: Array, labels: Array) -> Array:
    """Lightly regularised logistic regression by Newton's method: the bias, then a weight per feature."""
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
        chances: The predicted probabilities.
        labels: 1 for true.
        share: Weight the questions as if this share of the labels were 1.
    """
    actual = labels.mean()
    weights = np.ones(len(labels)) if share is None else np.where(labels, share / actual, (1 - share) / (1 - actual))
    bins = np.minimum((chances * 10).astype(int), 9)
    off = (chances - labels) * weights
    return float(sum(abs(off[bins == b].sum()) for b in range(10)) / weights.sum())


def _chances(features: Array, bias: float, weights: Sequence[float]) -> Array:
    chances: Array = 1 / (1 + np.exp(-(bias + features @ np.array(weights))))
    return chances


# For each dataset, by question: features, whether it is answerable, and its file.
Sets = list[tuple[Array, Array, list[str]]]


def ask_all(given: argparse.Namespace, pairs: Sequence[Sequence[str]]) -> Sets:
    """Ask the questions of each corpus and question file."""
    found: Sets = []
    for corpus, file in pairs:
        kind = [one for one in read_questions(Path(file)) if asks_yes_or_no(one.question) == given.yes_no]
        questions = sample(kind, given.sample)
        rows = []
        with copied(Path(corpus)) as root:
            build_index(root)
            with Retriever.open(root, reader=not (given.no_reader or given.no_rerank)) as retriever:
                for one in questions:
                    _, features = retriever._answer(AskRequest.of(one.question, rerank=not given.no_rerank))
                    rows.append(astuple(features or Features(0.0, 0.0, 0.0)))
        labels = np.array([one.answerable for one in questions], dtype=np.float64)
        found.append((np.array(rows), labels, [one.file for one in questions]))
    return found


def halves(sets: Sets) -> tuple[Sets, Sets]:
    """The questions on every other file of each dataset, and the rest."""
    parts: tuple[Sets, Sets] = ([], [])
    for features, labels, files in sets:
        order = sorted(set(files))
        first = np.array([order.index(file) % 2 == 0 for file in files])
        for part, chosen in zip(parts, (first, ~first), strict=True):
            part.append((features[chosen], labels[chosen], []))
    return parts


def main() -> None:
    """Run the command line."""
    parser = result_parser(__doc__)
    for name in ("--fit", "--check"):
        parser.add_argument(name, nargs=2, action="append", default=[], metavar=("CORPUS", "QUESTIONS"))
    parser.add_argument("--sample", type=int, default=2000, help="questions per dataset")
    parser.add_argument("--share", type=float, help="move the bias to this share of answered questions")
    parser.add_argument("--yes-no", action="store_true", help="fit confidence.READ_YES_NO")
    parser.add_argument("--no-reader", action="store_true", help="fit confidence.RERANKED instead of READ")
    parser.add_argument("--no-rerank", action="store_true", help="fit confidence.QUICK")
    given = parser.parse_args()
    fitted, checked = ask_all(given, given.fit), ask_all(given, given.check)
    if not checked:
        fitted, checked = halves(fitted)
    features, labels = (np.concatenate([one[i] for one in fitted]) for i in range(2))
    if not (given.no_reader or given.no_rerank):
        features[:, :2] = 0.0  # cosine and sentence, which say nothing more once the passage has been read
    bias, *weights = fit(features, labels)
    if given.share:
        share = labels.mean()
        bias += math.log(given.share / (1 - given.share)) - math.log(share / (1 - share))
    reads = confidence.READ_YES_NO if given.yes_no else confidence.READ
    now = confidence.QUICK if given.no_rerank else confidence.RERANKED if given.no_reader else reads
    report: dict[str, Any] = {
        "WEIGHTS": [round(float(weight), 3) for weight in weights],
        "BIAS": round(float(bias), 3),
        "fitted_on": len(labels),
        "checked": [],
    }
    for x, truth, _ in checked:
        row: dict[str, Any] = {"questions": len(truth), "answered": round(float(truth.mean()), 3)}
        for name, model in (("fitted here", (bias, weights)), ("as they are now", (now.bias, now.weights))):
            chances = _chances(x, *model)
            area = auroc(chances[truth == 1], chances[truth == 0])
            row[name] = {
                "auroc_answerable": None if area is None else round(area, 3),
                "ece": round(calibration_error(chances, truth, given.share), 3),
            }
        report["checked"].append(row)
    write_result(report, given.out)


if __name__ == "__main__":
    main()
