"""Scores answers against their gold evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from qa.answer.results import Hit, Result
from qa.evaluation.evidence import Gold
from qa.evaluation.ranking_measures import Run, rank_measures

# How many passages `qa ask` shows; its confidence is about these.
SHOWN = 5
CUTOFFS = (1, 3, 5, 10)
# How many characters a person is assumed to read.
BUDGET = 1000
# A longer highlight does not point at anything in particular.
MOST_HIGHLIGHTED = 400


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The score of a question: the verdict, and whether it is right.

    `right` tells whether one of the passages shown has the answer; `values` are measures by name, each in [0, 1].
    Without an answer in the collection, they are False and empty.
    """

    id: str
    answerable: bool
    found: bool
    confidence: float
    right: bool
    ms: float
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class TimedResult:
    """A question, its result, and the time it took in milliseconds."""

    gold: Gold
    result: Result
    ms: float


def score(answers: Sequence[TimedResult], *, k: int) -> tuple[QuestionScore, ...]:
    """Score results for which `k` passages were requested: one score per question, in order."""
    cutoffs = sorted({*(cutoff for cutoff in CUTOFFS if cutoff < k), k})
    runs = {
        timed.gold.id: (_rank_graded if timed.gold.grades else _rank_pieces)(timed.gold, timed.result.passages)
        for timed in answers
        if timed.gold.answerable
    }
    ranked = rank_measures(runs, cutoffs=cutoffs, depth=min(10, k))
    return tuple(_score(timed, cutoffs, ranked.get(timed.gold.id, {}), runs.get(timed.gold.id)) for timed in answers)


def _score(timed: TimedResult, cutoffs: Sequence[int], ranked: dict[str, float], run: Run | None) -> QuestionScore:
    gold, result = timed.gold, timed.result
    row = QuestionScore(gold.id, gold.answerable, result.found, result.confidence, right=False, ms=timed.ms, values={})
    if run is None:
        return row
    first, hits = run.first_relevant(), result.passages
    values = {f"hit@{k}": float(first <= k) for k in cutoffs}
    if gold.evidence:
        files = {span.path for span in gold.spans}
        values |= {f"file@{k}": float(any(_paths(hit) & files for hit in hits[:k])) for k in cutoffs}
        values[f"covered@{BUDGET}"] = float(_is_covered(gold, hits))
        values["highlight@1"] = float(_is_highlighted(gold, hits))
    return replace(row, right=_is_shown(gold, run, hits), values=values | ranked)


def _rank_graded(gold: Gold, hits: Sequence[Hit]) -> Run:
    """Rank documents by their best passages, also those with the same text; or passages if only these are graded."""
    grades = dict(gold.grades)
    units: dict[str, int] = {}
    for hit in hits:
        names = [hit.id]
        if gold.by_document and hit.id not in grades:
            names = sorted(_paths(hit) & grades.keys()) or [hit.source.path]
        rank = max(units.values(), default=0) + 1
        for name in names:
            units.setdefault(name, rank)
    return Run(grades, tuple(units.items()))


def _rank_pieces(gold: Gold, hits: Sequence[Hit]) -> Run:
    """Rank each piece of evidence by the first passage that hits it; a passage may hit several."""
    missing = dict(enumerate(gold.evidence))
    units: list[tuple[str, int]] = []
    for rank, hit in enumerate(hits, 1):
        places = list(_places(hit, *hit.source.chars))
        pieces = [at for at, piece in missing.items() if any(span.is_hit(*to) for span in piece for to in places)]
        for number in pieces:
            del missing[number]
        names = [f"piece {number}" for number in pieces] or [f"passage {rank}"]
        units.extend((name, rank) for name in names)
    return Run({f"piece {number}": 1 for number in range(len(gold.evidence))}, tuple(units))


def _is_shown(gold: Gold, run: Run, hits: Sequence[Hit]) -> bool:
    """Return whether one of the passages that `qa ask` shows has the answer."""
    if not gold.grades:
        return run.first_relevant() <= SHOWN
    return any(hit.id in run.grades or _paths(hit) & run.grades.keys() for hit in hits[:SHOWN])


def _is_covered(gold: Gold, hits: Sequence[Hit]) -> bool:
    """Return whether the first `BUDGET` characters shown contain at least half of a piece of evidence."""
    budget = BUDGET
    for hit in hits:
        start, end = hit.source.chars
        last = min(end, start + budget)
        if last <= start:
            return False
        if any(span.is_covered(*place) for span in gold.spans for place in _places(hit, start, last)):
            return True
        budget -= end - start
    return False


def _is_highlighted(gold: Gold, hits: Sequence[Hit]) -> bool:
    """Return whether the first highlight of the first passage is short and hits the evidence."""
    if not hits or not hits[0].highlights:
        return False
    start, end = hits[0].highlights[0].chars
    is_hit = any(gold.is_hit(*place) for place in _places(hits[0], start, end))
    return end - start <= MOST_HIGHLIGHTED and is_hit


def _places(hit: Hit, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield the places of a part of a passage: its own, and those where the same text is."""
    yield hit.source.path, start, end
    for other in hit.also_in:
        shift = other.chars[0] - hit.source.chars[0]
        yield other.path, start + shift, end + shift


def _paths(hit: Hit) -> set[str]:
    return {hit.source.path, *(other.path for other in hit.also_in)}
