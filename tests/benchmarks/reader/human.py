"""Questions by people that a paragraph only seems to answer, each with a twin that it does answer.

The questions are those of 20 articles of squad-dev-v2 without an answer. A line of `twins/` has such a question's id,
the answer of its twin, and the twin's changes as in `edits/`. Without twins the reader learns by heart that these
questions have no answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.common import read_lines

from .edits import BETWEEN, Change, changed, read_changes
from .examples import Example, answered, most_similar, no_answer, passages_of
from .sources import DATA, trained_articles

TWINS = Path(__file__).parent / "twins"


@dataclass(frozen=True, slots=True)
class Twin:
    """The changes that make a question answerable, and its answer."""

    answer: str
    changes: list[Change]


def read_twins(folder: Path) -> dict[str, Twin]:
    """All twins by the id of their question."""
    twins = {}
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            question, answer, *changes = line.split(BETWEEN)
            twins[question] = Twin(answer, read_changes(changes))
    return twins


def human_groups(work: Path) -> Iterator[list[Example]]:
    """Each question without an answer, and its twin, with a passage of their paragraph."""
    passages, twins = passages_of(work, "squad-dev"), read_twins(TWINS)
    texts = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-dev-v2/corpus.jsonl")}
    trained = set(trained_articles()[0])
    files = {row["id"]: row["file"] for row in read_lines(DATA / "squad-dev-v2/questions.jsonl")}
    questions = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-dev-v2/queries.jsonl")}
    for row in read_lines(DATA / "squad-dev-v2/answers.jsonl"):
        name = row["_id"]
        if row["answerable"] or files[name] not in trained:
            continue
        question = " ".join(questions[name].split())
        parts = [part for part in passages[files[name]] if part["text"].strip() in texts[row["doc"]]]
        if parts:
            yield _with_twin(name, question, most_similar(question, parts), twins.get(name))


def _with_twin(name: str, question: str, parts: list[dict[str, Any]], twin: Twin | None) -> list[Example]:
    """A question without an answer, with the first passage, and its twin with the first that has the answer."""
    miss = no_answer(name, question, parts[0], "human")
    answering = [part for part in parts if twin is not None and twin.answer in part["text"]]
    if twin is None or not answering:
        return [miss]
    return [miss, answered(name, changed(question, twin.changes), answering[0], twin.answer, "human-twin")]
