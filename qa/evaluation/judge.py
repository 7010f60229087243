"""One answer against its gold: what of it is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from qa.answer.results import Hit, Result
from qa.evaluation.gold import Gold
from qa.evaluation.ranking import Run, rank_measures

# What `qa ask` shows; the confidence is about these.
SHOWN = 5
CUTOFFS = (1, 3, 5, 10)
# Characters that a reader may have patience for.
BUDGET = 1000
# A highlight longer than this no longer points at anything.
MOST_HIGHLIGHTED = 400


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one question.

    Attributes:
        id: The question's id.
        answerable: Whether the collection answers it.
        found: Whether the tool said that it does.
        confidence: As the tool gave it, in [0, 1].
        right: Whether the answer stands in the first passages shown; False for what has no answer.
        ms: Milliseconds it took.
        values: The measures of this question by name, each in [0, 1]; none for what has no answer.
    """

    id: str
    answerable: bool
    found: bool
    confidence: float
    right: bool
    ms: float
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, what it came back with, and the milliseconds that took."""

    gold: Gold
    result: Result
    ms: float


def judge(answers: Sequence[Answered], *, k: int) -> tuple[Row, ...]:
    """Judge answers; `k` is how many passages were asked for."""
    cutoffs = cutoffs_to(k)
    runs = {each.gold.id: run_of(each.gold, each.result.passages) for each in answers if each.gold.answerable}
    ranked = rank_measures(runs, cutoffs=cutoffs, depth=min(10, k))
    return tuple(_row(each, cutoffs, ranked.get(each.gold.id, {}), runs.get(each.gold.id)) for each in answers)


def cutoffs_to(k: int) -> tuple[int, ...]:
    """The places in a ranking after which it is looked at, when it has `k`."""
    return tuple(sorted({*(cutoff for cutoff in CUTOFFS if cutoff < k), k}))


def _row(each: Answered, cutoffs: Sequence[int], ranked: dict[str, float], run: Run | None) -> Row:
    gold, result = each.gold, each.result
    row = Row(gold.id, gold.answerable, result.found, result.confidence, right=False, ms=each.ms, values={})
    if run is None:
        return row
    first = run.first_useful()
    values = {f"hit@{k}": float(first <= k) for k in cutoffs}
    if gold.evidence:
        hits = result.passages
        values |= {f"file@{k}": float(any(_has_file(gold, hit) for hit in hits[:k])) for k in cutoffs}
        values[f"covered@{BUDGET}"] = float(is_covered(gold, hits, BUDGET))
        values["highlight@1"] = float(is_highlighted(gold, hits))
    return replace(row, right=_is_shown(gold, run, result.passages), values=values | ranked)


def run_of(gold: Gold, hits: Sequence[Hit]) -> Run:
    """A ranking of what can be useful: graded documents and passages, or the pieces of the evidence."""
    return _graded(gold, hits) if gold.grades else _pieces(gold, hits)


def _graded(gold: Gold, hits: Sequence[Hit]) -> Run:
    """Each document stands where its best passage is; passages stand by themselves where only such are graded."""
    grades = dict(gold.grades)
    units: dict[str, int] = {}
    for hit in hits:
        unit = hit.source.path if gold.by_document and hit.id not in grades else hit.id
        units.setdefault(unit, len(units) + 1)
    return Run(grades, tuple(units.items()))


def _pieces(gold: Gold, hits: Sequence[Hit]) -> Run:
    """Each piece of evidence stands where the first passage is that hits it; a passage may bring several."""
    left = dict(enumerate(gold.evidence))
    units: list[tuple[str, int]] = []
    for rank, hit in enumerate(hits, 1):
        path, (start, end) = hit.source.path, hit.source.chars
        brought = [at for at, piece in left.items() if any(span.is_hit(path, start, end) for span in piece)]
        for at in brought:
            del left[at]
        names = [f"piece {at}" for at in brought] or [f"passage {rank}"]
        units.extend((name, rank) for name in names)
    return Run({f"piece {at}": 1 for at in range(len(gold.evidence))}, tuple(units))


def _is_shown(gold: Gold, run: Run, hits: Sequence[Hit]) -> bool:
    """Whether the answer stands in the passages that `qa ask` would show."""
    if not gold.grades:
        return run.first_useful() <= SHOWN
    return any(hit.id in run.grades or hit.source.path in run.grades for hit in hits[:SHOWN])


def _has_file(gold: Gold, hit: Hit) -> bool:
    return any(span.path == hit.source.path for span in gold.spans)


def is_covered(gold: Gold, hits: Sequence[Hit], budget: int) -> bool:
    """Whether half of some evidence is reached within the first `budget` characters shown."""
    for hit in hits:
        start, end = hit.source.chars
        last = min(end, start + budget)
        if last <= start:
            return False
        if any(span.is_covered(hit.source.path, start, last) for span in gold.spans):
            return True
        budget -= end - start
    return False


def is_highlighted(gold: Gold, hits: Sequence[Hit]) -> bool:
    """Whether the first highlight of the first passage hits some evidence and is short enough to point at it."""
    for hit in hits[:1]:
        for mark in hit.highlights[:1]:
            return mark.chars[1] - mark.chars[0] <= MOST_HIGHLIGHTED and gold.is_hit(hit.source.path, mark.chars)
    return False
