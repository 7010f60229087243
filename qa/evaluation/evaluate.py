"""Measure a collection with questions whose answers are known.

from qa import Retriever
from qa.evaluation.evaluate import Settings, compare, evaluate, read_questions

questions = read_questions(Path("questions.jsonl"))
with Retriever.open("notes/") as retriever:
    first = evaluate(retriever, questions)
    second = evaluate(retriever, questions, Settings(rerank=False))
print(first.figures.measures, compare(first.rows, second.rows).differences)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from corpus.errors import UsageError
from index import Progress
from qa.answer.results import IndexInfo, Mode, State
from qa.evaluation.compare import Comparison, Difference, compare, read_rows
from qa.evaluation.figures import Figures, figures_of
from qa.evaluation.gold import Collection, Gold, place
from qa.evaluation.judge import Answered, Row, judge
from qa.evaluation.questions import Asked, read_questions, sample
from qa.evaluation.ranking import require_ir_measures

if TYPE_CHECKING:
    from qa.retrieval.retriever import Retriever

__all__ = [
    "Comparison",
    "Difference",
    "Evaluation",
    "Missing",
    "Settings",
    "compare",
    "evaluate",
    "read_questions",
    "read_rows",
    "sample",
]

# Passages asked for in place of one, where documents are ranked: their best passages make the ranking.
_PASSAGES_A_DOCUMENT = 5
_MOST_PASSAGES = 1000
_SYNTAX = "Settings are mode=hybrid, mode=dense, mode=keyword, rerank=on, rerank=off and no-rerank, commas between."


@dataclass(frozen=True, slots=True)
class Settings:
    """How questions are asked; see `Retriever.ask`."""

    mode: Mode = Mode.HYBRID
    rerank: bool = True
    k: int = 10


@dataclass(frozen=True, slots=True)
class Missing:
    """A question of whose answer some or all is not in the collection, and what is missing."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a run showed.

    Attributes:
        settings: How the questions were asked.
        index: The state of the index that answered.
        rows: What became of each question, in the order asked.
        figures: The figures of the run.
        left_out: Questions that nothing could be judged by: all that answers them is missing. They count nowhere.
        partly: Questions of whose answer something is missing; they count, and what is missing was not found.
        changed: Questions that were shown text of files that have changed or gone since they were indexed.
    """

    settings: Settings
    index: IndexInfo
    rows: tuple[Row, ...]
    figures: Figures
    left_out: tuple[Missing, ...]
    partly: tuple[Missing, ...]
    changed: int


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison, what its two runs are in words, and the second where it was run now."""

    comparison: Comparison
    names: tuple[str, str]
    second: Evaluation | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run, and what it was compared with."""

    run: Evaluation
    compared: Compared | None


def evaluate(
    retriever: Retriever,
    questions: Sequence[Asked],
    settings: Settings | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Evaluation:
    """Ask questions and judge what comes back.

    The first question is asked once before, unmeasured, so that times are those of a tool that is warm.

    Args:
        retriever: Open.
        questions: As `read_questions` gives them.
        settings: How to ask them.
        progress: Told how many were asked.

    Raises:
        UsageError: ir-measures is not installed, there are no questions, or none of their answers is in the
            collection.
    """
    require_ir_measures()
    settings = settings or Settings()
    paths = (document.path for document in retriever.snapshot.documents())
    collection = Collection(retriever.root, paths, retriever.snapshot)
    golds = [place(asked, collection) for asked in questions]
    placed = [gold for gold in golds if gold.placed]
    if not placed:
        reason = next((f" ({gold.id}: {gold.missing[0]})" for gold in golds if gold.missing), "")
        raise UsageError(f"nothing to ask: no question has its answer in this collection{reason}")
    _ask(retriever, placed[0], settings)
    answers = []
    for number, gold in enumerate(placed, 1):
        answers.append(_ask(retriever, gold, settings))
        if progress is not None:
            progress(Progress(number, len(placed)))
    rows = judge(answers, k=settings.k)
    return Evaluation(
        settings=settings,
        index=answers[0].result.index,
        rows=rows,
        figures=figures_of(rows),
        left_out=tuple(Missing(gold.id, gold.missing[0]) for gold in golds if not gold.placed),
        partly=tuple(Missing(gold.id, gold.missing[0]) for gold in placed if gold.missing),
        changed=sum(_is_changed(each) for each in answers),
    )


def _ask(retriever: Retriever, gold: Gold, settings: Settings) -> Answered:
    k = min(_MOST_PASSAGES, settings.k * _PASSAGES_A_DOCUMENT) if gold.by_document else settings.k
    begun = perf_counter()
    result = retriever.ask(gold.question, k=k, mode=settings.mode, path=None, rerank=settings.rerank, question_id=None)
    return Answered(gold, result, (perf_counter() - begun) * 1000)


def _is_changed(answered: Answered) -> bool:
    return any(hit.source.state is not State.VERIFIED for hit in answered.result.passages)


def settings_from(text: str, base: Settings) -> Settings:
    """Read settings such as "mode=keyword,rerank=off", applied to others.

    Raises:
        UsageError: They cannot be meant, or change nothing.
    """
    found = base
    for part in text.split(","):
        match part.strip().split("=", 1):
            case ["mode", value] if value in [mode.value for mode in Mode]:
                found = replace(found, mode=Mode(value))
            case ["rerank", ("on" | "off") as value]:
                found = replace(found, rerank=value == "on")
            case ["no-rerank"]:
                found = replace(found, rerank=False)
            case _:
                raise UsageError(f"--compare: cannot read the setting {part.strip() or text!r}. {_SYNTAX}")
    if found == base:
        raise UsageError(f"--compare {text} changes nothing: both runs would be the same")
    return found


def run_name(settings: Settings) -> str:
    """Settings in words."""
    return f"{settings.mode.value}, {'re-ranked' if settings.rerank else 'not re-ranked'}"
