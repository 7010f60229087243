"""Evaluates a collection with questions whose answers are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from corpus.errors import UsageError
from index import Progress, ProgressCallback
from qa.answer.results import MAX_HITS, IndexInfo, Mode, State
from qa.evaluation.comparison import Comparison, compare
from qa.evaluation.evidence import DocumentLookup, Gold, resolve_evidence
from qa.evaluation.metrics import RunMetrics, metrics_of
from qa.evaluation.questions import EvalQuestion
from qa.evaluation.scoring import QuestionScore, TimedResult, score
from qa.filters import EVERYTHING, Filter

if TYPE_CHECKING:
    from qa.retrieval.retriever import Retriever

# Documents are ranked by their best passages, so this many passages are requested for each document.
_PASSAGES_A_DOCUMENT = 5
_SYNTAX = "Settings are mode=hybrid, mode=dense, mode=keyword, rerank=on, rerank=off and no-rerank, comma-separated."


@dataclass(frozen=True, slots=True)
class EvalSettings:
    """How questions are asked; see `Retriever.ask`."""

    mode: Mode = Mode.HYBRID
    rerank: bool = True
    k: int = 10

    def __str__(self) -> str:
        return f"{self.mode.value}, {'re-ranked' if self.rerank else 'not re-ranked'}"


@dataclass(frozen=True, slots=True)
class Missing:
    """A question whose answer is not entirely in the collection, and what is missing."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run over the questions; `scores` are in the order asked.

    Attributes:
        left_out: Questions whose whole answer is missing; they are not scored.
        partly: Questions whose answer is partly missing; the missing part counts as not found.
        changed: How many questions were shown text of files changed or deleted since they were indexed.
    """

    settings: EvalSettings
    index: IndexInfo
    scores: tuple[QuestionScore, ...]
    metrics: RunMetrics
    left_out: tuple[Missing, ...]
    partly: tuple[Missing, ...]
    changed: int


@dataclass(frozen=True, slots=True)
class EvalReport:
    """A run and its comparison with a second, current or earlier run; `names` are the names of the two."""

    run: Evaluation
    comparison: Comparison | None = None
    names: tuple[str, str] = ("", "")
    second: Evaluation | None = None


def evaluate(
    retriever: Retriever,
    questions: Sequence[EvalQuestion],
    settings: EvalSettings | None = None,
    *,
    only: Filter = EVERYTHING,
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Ask questions and score the results.

    The first question is asked once before, so that times are those of a warm retriever.

    Raises:
        UsageError: ir-measures is not installed, or no question has its answer in the collection.
    """
    settings = settings or EvalSettings()
    paths = (document.path for document in retriever.snapshot.documents())
    documents = DocumentLookup(retriever.root, paths, retriever.snapshot)
    golds = [resolve_evidence(question, documents) for question in questions]
    resolved = [gold for gold in golds if gold.resolved]
    if not resolved:
        reason = next((f" ({gold.id}: {gold.missing[0]})" for gold in golds if gold.missing), "")
        raise UsageError(f"no question has its answer in this collection{reason}")
    _ask(retriever, resolved[0], settings, only)
    results = []
    for number, gold in enumerate(resolved, 1):
        results.append(_ask(retriever, gold, settings, only))
        if progress is not None:
            progress(Progress(number, len(resolved)))
    scores = score(results, k=settings.k)
    return Evaluation(
        settings=settings,
        index=results[0].result.index,
        scores=scores,
        metrics=metrics_of(scores),
        left_out=tuple(Missing(gold.id, gold.missing[0]) for gold in golds if not gold.resolved),
        partly=tuple(Missing(gold.id, gold.missing[0]) for gold in resolved if gold.missing),
        changed=sum(any(hit.source.state is not State.VERIFIED for hit in timed.result.passages) for timed in results),
    )


def _ask(retriever: Retriever, gold: Gold, settings: EvalSettings, only: Filter) -> TimedResult:
    k = min(MAX_HITS, settings.k * _PASSAGES_A_DOCUMENT) if gold.by_document else settings.k
    started = perf_counter()
    result = retriever.ask(gold.question, k=k, mode=settings.mode, rerank=settings.rerank, only=only)
    return TimedResult(gold, result, (perf_counter() - started) * 1000)


def evaluate_twice(
    retriever: Retriever,
    questions: Sequence[EvalQuestion],
    settings: EvalSettings,
    other_settings: EvalSettings,
    *,
    only: Filter = EVERYTHING,
    progress: ProgressCallback | None = None,
) -> EvalReport:
    """Evaluate a collection under two settings and compare; progress covers both runs."""
    runs = []
    for run_number, run_settings in enumerate((settings, other_settings)):

        def combined(step: Progress, runs_done: int = run_number) -> None:
            if progress is not None:
                progress(Progress(runs_done * step.total + step.done, 2 * step.total))

        runs.append(evaluate(retriever, questions, run_settings, only=only, progress=combined))
    first, second = runs
    return EvalReport(first, compare(first.scores, second.scores), (str(settings), str(other_settings)), second)


def apply_changes(text: str, first: EvalSettings) -> EvalSettings:
    """Apply changes such as "mode=keyword,rerank=off"; a UsageError if they are invalid or change nothing."""
    settings = first
    for change in text.split(","):
        match change.strip().split("=", 1):
            case ["mode", value] if value in [mode.value for mode in Mode]:
                settings = replace(settings, mode=Mode(value))
            case ["rerank", ("on" | "off") as value]:
                settings = replace(settings, rerank=value == "on")
            case ["no-rerank"]:
                settings = replace(settings, rerank=False)
            case _:
                raise UsageError(f"--compare: unknown setting {change.strip() or text!r}. {_SYNTAX}")
    if settings == first:
        raise UsageError(f"--compare {text} changes nothing: both runs would be the same")
    return settings
