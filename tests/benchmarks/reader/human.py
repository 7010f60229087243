"""Questions by people that a paragraph only seems to answer, each with twins that it does answer, or only seems to.

The questions are those of 20 articles of squad-dev-v2 without an answer. A line of `twins/` has such a question's id,
the answer of its twin, or nothing if it has none, and the twin's changes as in `edits/`. Without twins the reader
learns by heart that these questions have no answer.
"""

from __future__ import annotations

from collections import defaultdict
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
    """The changes that make a question another one, and that one's answer; empty if there is none."""

    answer: str
    changes: list[Change]


def read_twins(folder: Path) -> dict[str, list[Twin]]:
    """All twins by the id of their question."""
    twins: dict[str, list[Twin]] = defaultdict(list)
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            question, answer, *changes = line.split(BETWEEN)
            twins[question].append(Twin(answer, read_changes(changes)))
    return twins


def human_groups(work: Path) -> Iterator[list[Example]]:
    """Each question without an answer, and its twins, with a passage of their paragraph."""
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
            yield _with_twins(name, question, parts, twins.get(name, []))


def _with_twins(name: str, question: str, parts: list[dict[str, Any]], twins: list[Twin]) -> list[Example]:
    """A question without an answer, and its twins, each with the most similar passage that has the answer, if any."""
    group = [no_answer(name, question, most_similar(question, parts)[0], "human")]
    for twin in twins:
        new = changed(question, twin.changes)
        passages = [part for part in most_similar(new, parts) if twin.answer in part["text"]]
        if not twin.answer:
            group.append(no_answer(name, new, passages[0], "human-miss"))
        elif passages:
            group.append(answered(name, new, passages[0], twin.answer, "human-twin"))
    return group
