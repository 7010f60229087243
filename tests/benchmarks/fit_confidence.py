"""Fit the constants of `qa/answer/confidence.py` and measure their accuracy.

    python -m tests.benchmarks.fit_confidence --fit CORPUS QUESTIONS.jsonl ... [--check CORPUS QUESTIONS.jsonl ...]

Many of the questions should only look answerable. Without `--check`, the questions on every other file are used to fit
and all others to check. A question counts as answered if it is answerable: nine in ten of these have their evidence in
the passages shown. `--share` moves the bias to the share of such questions that people ask. Accuracy is reported both
for the constants fitted here and for those of `qa/answer/confidence.py`. With the reader, the first two features have
no weight. Yes/no questions have constants of their own: they are used only with `--yes-no`, and then no others.
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
from qa.answer.confidence import Features
from qa.evaluation.metrics import auroc
from qa.evaluation.questions import read_questions, sample
from qa.language.question_kinds import asks_yes_or_no
from qa.retrieval.question_text import AskRequest
from tests.benchmarks.common import result_parser, temporary_copy, write_result

Array = npt.NDArray[np.float64]


def fit(features: Array, labels: Array) -> Array:
    """Lightly regularised logistic regression by Newton's method: the bias, then a weight per feature."""
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    design = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    penalty = np.diag([0.0] + [1.0] * features.shape[1])
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        predicted = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (predicted - labels) + penalty @ weights
        curvature = (design * (predicted * (1 - predicted))[:, None]).T @ design + penalty
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
    errors = (chances - labels) * weights
    return float(sum(abs(errors[bins == b].sum()) for b in range(10)) / weights.sum())


def _chances(features: Array, bias: float, weights: Sequence[float]) -> Array:
    chances: Array = 1 / (1 + np.exp(-(bias + features @ np.array(weights))))
    return chances


# Of each dataset, by question: the features, whether it is answerable, and its file.
Datasets = list[tuple[Array, Array, list[str]]]


def ask_all(options: argparse.Namespace, pairs: Sequence[Sequence[str]]) -> Datasets:
    """Ask the questions of each corpus and question file."""
    datasets: Datasets = []
    for corpus, file in pairs:
        candidates = (q for q in read_questions(Path(file)) if asks_yes_or_no(q.question) == options.yes_no)
        questions = sample(list(candidates), options.sample)
        rows = []
        with temporary_copy(Path(corpus)) as root:
            build_index(root)
            with Retriever.open(root, reader=not (options.no_reader or options.no_rerank)) as retriever:
                for question in questions:
                    _, features = retriever._answer(AskRequest.of(question.question, rerank=not options.no_rerank))
                    rows.append(astuple(features or Features(0.0, 0.0, 0.0)))
        labels = np.array([question.answerable for question in questions], dtype=np.float64)
        datasets.append((np.array(rows), labels, [question.file for question in questions]))
    return datasets


def halves(datasets: Datasets) -> tuple[Datasets, Datasets]:
    """Divide each dataset in two: the questions on every other file, and all others."""
    both: tuple[Datasets, Datasets] = ([], [])
    for features, labels, files in datasets:
        order = sorted(set(files))
        in_first = np.array([order.index(file) % 2 == 0 for file in files])
        for half, rows in zip(both, (in_first, ~in_first), strict=True):
            half.append((features[rows], labels[rows], []))
    return both


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
    options = parser.parse_args()
    fitted, checked = ask_all(options, options.fit), ask_all(options, options.check)
    if not checked:
        fitted, checked = halves(fitted)
    features, labels = (np.concatenate([dataset[i] for dataset in fitted]) for i in range(2))
    if not (options.no_reader or options.no_rerank):
        features[:, :2] = 0.0  # cosine and sentence add nothing once the passage has been read
    bias, *weights = fit(features, labels)
    if options.share:
        share = labels.mean()
        bias += math.log(options.share / (1 - options.share)) - math.log(share / (1 - share))
    with_reader = confidence.READ_YES_NO if options.yes_no else confidence.READ
    current = confidence.QUICK if options.no_rerank else confidence.RERANKED if options.no_reader else with_reader
    report: dict[str, Any] = {
        "WEIGHTS": [round(float(weight), 3) for weight in weights],
        "BIAS": round(float(bias), 3),
        "fitted_on": len(labels),
        "checked": [],
    }
    for x, truth, _ in checked:
        row: dict[str, Any] = {"questions": len(truth), "answered": round(float(truth.mean()), 3)}
        for name, model in (("fitted here", (bias, weights)), ("as they are now", (current.bias, current.weights))):
            chances = _chances(x, *model)
            area = auroc(chances[truth == 1], chances[truth == 0])
            row[name] = {
                "auroc_answerable": None if area is None else round(area, 3),
                "ece": round(calibration_error(chances, truth, options.share), 3),
            }
        report["checked"].append(row)
    write_result(report, options.out)


if __name__ == "__main__":
    main()
