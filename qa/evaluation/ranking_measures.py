"""Ranking measures by ir-measures (https://ir-measur.es), which only this module imports."""

# ruff: noqa: PLC0415 - ir-measures is an extra, imported when something is measured

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
    """The ranking of one question: documents, passages, or pieces of evidence.

    `grades` are those of all relevant units, found or not (the qrels), `units` those found, best first, each with its
    rank from 1; several may share one.
    """

    grades: Mapping[str, int]
    units: tuple[tuple[str, int], ...]

    def first_relevant(self) -> float:
        """The rank of the first relevant unit; infinite without one."""
        return min((place for unit, place in self.units if self.grades.get(unit, 0) > 0), default=math.inf)


def require_ir_measures() -> Any:
    """Return ir-measures, imported; a UsageError has the command that installs it."""
    try:
        import ir_measures
    except ImportError as error:
        raise UsageError(_INSTALL) from error
    return ir_measures


def rank_measures(runs: Mapping[str, Run], *, cutoffs: Sequence[int], depth: int) -> dict[str, dict[str, float]]:
    """Measure rankings, by question id; one that is empty scores 0.

    The measures are `recall@k` for each cutoff, `MRR@depth` (reciprocal rank), and `nDCG@depth` with the grade as gain
    and log2(rank + 1) as discount, as in trec_eval (Järvelin and Kekäläinen, https://doi.org/10.1145/582415.582418).
    """
    library = require_ir_measures()
    judged = {question: dict(run.grades) for question, run in runs.items()}
    found: dict[str, dict[str, float]] = {question: {} for question in runs}
    by_rank = {library.RR @ depth: f"MRR@{depth}", library.nDCG @ depth: f"nDCG@{depth}"}
    wanted = [(math.inf, by_rank), *((k, {library.R @ _ALL: f"recall@{k}"}) for k in cutoffs)]
    for upto, names in wanted if runs else ():
        scores = {question: _scores(run, upto) for question, run in runs.items()}
        for values in found.values():
            values.update(dict.fromkeys(names.values(), 0.0))
        for metric in library.iter_calc(list(names), judged, scores):
            found[metric.query_id][names[metric.measure]] = float(metric.value)
    return found


def _scores(run: Run, upto: float) -> dict[str, float]:
    """Distinct descending scores, as ir-measures sorts by score."""
    return {unit: -float(at) for at, (unit, place) in enumerate(run.units) if place <= upto}
