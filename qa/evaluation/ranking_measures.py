"""Ranking measures, computed by ir-measures (https://ir-measur.es), which only this module imports."""

# ruff: noqa: PLC0415 - ir-measures is an extra, imported only when it is needed

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus.errors import UsageError

_INSTALL = "qa eval needs the package ir-measures. Run: pip install 'qa-passages[eval]'"
# Deeper than any ranking.
_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """The ranking of documents, passages or pieces of evidence for a question.

    `grades` are those of all relevant units, found or not (the qrels). `units` are the units found, best first, each
    with its rank from 1; several may share a rank.
    """

    grades: Mapping[str, int]
    units: tuple[tuple[str, int], ...]

    def first_relevant(self) -> float:
        """Return the rank of the first relevant unit; infinite if there is none."""
        return min((rank for unit, rank in self.units if self.grades.get(unit, 0) > 0), default=math.inf)


def require_ir_measures() -> Any:
    """Import and return ir-measures; if it is missing, a UsageError has the command that installs it."""
    try:
        import ir_measures
    except ImportError as error:
        raise UsageError(_INSTALL) from error
    return ir_measures


def rank_measures(runs: Mapping[str, Run], *, cutoffs: Sequence[int], depth: int) -> dict[str, dict[str, float]]:
    """Measure rankings, by question id; an empty ranking scores 0.

    The measures are `recall@k` for each cutoff, `MRR@depth` (reciprocal rank), and `nDCG@depth` with the grade as gain
    and log2(rank + 1) as discount, as in trec_eval (Järvelin and Kekäläinen, https://doi.org/10.1145/582415.582418).
    """
    library = require_ir_measures()
    qrels = {question: dict(run.grades) for question, run in runs.items()}
    measured: dict[str, dict[str, float]] = {question: {} for question in runs}
    by_rank = {library.RR @ depth: f"MRR@{depth}", library.nDCG @ depth: f"nDCG@{depth}"}
    wanted = [(math.inf, by_rank), *((k, {library.R @ _ALL: f"recall@{k}"}) for k in cutoffs)]
    for last_rank, names in wanted if runs else ():
        scores = {question: _descending_scores(run, last_rank) for question, run in runs.items()}
        for values in measured.values():
            values.update(dict.fromkeys(names.values(), 0.0))
        for metric in library.iter_calc(list(names), qrels, scores):
            measured[metric.query_id][names[metric.measure]] = float(metric.value)
    return measured


def _descending_scores(run: Run, last_rank: float) -> dict[str, float]:
    """Return distinct descending scores up to a rank, as ir-measures sorts by score."""
    return {unit: -float(at) for at, (unit, rank) in enumerate(run.units) if rank <= last_rank}
