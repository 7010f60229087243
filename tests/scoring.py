"""Score answers against questions whose evidence is known: `qa eval`'s own rules, and whether citations hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from corpus.discovery.walk import walk
from qa import Result, Retriever
from qa.evaluation import questions
from qa.evaluation.evidence import DocumentLookup, Gold, resolve_evidence
from qa.evaluation.metrics import metrics_of
from qa.evaluation.scoring import TimedResult
from qa.evaluation.scoring import score as score_questions


def read_questions(file: Path, root: Path) -> list[Gold]:
    """Read questions, a JSON object a line, and find their evidence in the files under `root`."""
    collection = DocumentLookup(root, [found.path for found in walk(root).files])
    return [resolve_evidence(asked, collection) for asked in questions.read_questions(file)]


def ask(retriever: Retriever, golds: Sequence[Gold], *, k: int = 10, rerank: bool = True) -> list[TimedResult]:
    """Ask questions and time them."""
    answers = []
    for gold in golds:
        begun = perf_counter()
        result = retriever.ask(gold.question, k=k, rerank=rerank, question_id=gold.id)
        answers.append(TimedResult(gold, result, 1000 * (perf_counter() - begun)))
    return answers


def score(answers: Sequence[TimedResult], root: Path) -> dict[str, float]:
    """Score answers; fractions of the answerable questions, but for abstention."""
    figures = metrics_of(score_questions(answers, k=10))
    wanted = {"hit@1", "hit@3", "hit@5", "hit@10", "covered@1000", "highlight@1"}
    found = {measure.name: round(measure.value, 4) for measure in figures.measures if measure.name in wanted}
    told = figures.verdicts
    found["found_when_answerable"] = round(
        told.answerable_found / (told.answerable_found + told.answerable_not_found), 4
    )
    if figures.auroc is not None:
        none = told.unanswerable_found + told.unanswerable_not_found
        found["abstention_auroc"] = round(figures.auroc, 4)
        found["not_found_when_unanswerable"] = round(told.unanswerable_not_found / none, 4)
    found["citations_wrong"] = wrong_citations([each.result for each in answers], root)
    return found


def file_text(file: Path) -> str:
    """A text file as citations count its characters: UTF-8, newlines untouched."""
    return file.read_bytes().decode("utf-8")


def wrong_citations(results: Sequence[Result], root: Path) -> int:
    """Citations whose passage is not, to the character, what the file says there."""
    texts: dict[str, str] = {}
    wrong = 0
    for result in results:
        for hit in result.passages:
            path = hit.source.path
            text = texts.setdefault(path, file_text(root / path))
            wrong += text[slice(*hit.source.chars)] != hit.text
    return wrong
