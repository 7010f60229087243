"""Readers ask while a writer alternates a folder between two states; each answer must be entirely from one of them.

    python -m tests.robustness.torn_reads --questions 20000 [--readers 4] [--out FILE]

Several files change at once, so an answer that mixed two generations would be noticed. Odd generations are of the first
state, so the generation of an open index determines which of the two answers it must give.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from index.snapshot import Snapshot
from index.update.report import Request
from index.update.update import update_index
from qa.answer.results import Mode
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.robustness import options
from tests.robustness.picture import answer_to
from tests.robustness.process import Child, value_in_fork

_ANIMALS = ("cat", "dog", "fish", "bird", "robot", "whale", "horse", "owl")
_PLACES = (
    ("mat", "road", "sea", "tree", "garage", "bay", "stable", "barn"),
    ("roof", "shed", "river", "nest", "moon", "deep", "field", "wood"),
)
QUESTIONS = tuple(f"Where did the {animal} sit in the morning?" for animal in _ANIMALS)
# A reader continues until it has seen this many generations: with fewer it would have tested nothing.
GENERATIONS = 5
_QUESTIONS_PER_OPENING = 8
_SECONDS = 1800.0

Answers = dict[str, Any]


def change_to(root: Path, state: int) -> None:
    """Write and index all files of a state; some have the same name in both states."""
    root.mkdir(exist_ok=True)
    for old in root.glob("*/*.md"):
        old.unlink()
    for number, (animal, place) in enumerate(zip(_ANIMALS, _PLACES[state], strict=True)):
        path = root / f"part-{number % 3}" / (f"{number}.md" if number % 2 else f"{number}-{state}.md")
        path.parent.mkdir(exist_ok=True)
        text = f"In the morning the {animal} sat at the {place}."
        path.write_text(f"# The {animal}\n\n{text}\n\n## Before\n\nNobody saw the {animal}.\n", encoding="utf-8")
    update_index(Request(root, BagEncoder()))


def ask(retriever: Retriever, question: str, mode: Mode) -> Any:
    """An answer without the current state of its files."""
    answer = answer_to(retriever, question, mode=mode)
    for passage in answer["passages"]:
        del passage["source"]["state"]
    return answer


def answers_of(root: Path) -> Answers:
    """An index's answers to each question in each mode."""
    with Retriever.open(root, encoder=BagEncoder(), reader=False) as retriever:
        return {f"{mode.value}: {text}": ask(retriever, text, mode) for text in QUESTIONS for mode in Mode}


def _write_and_ask(root: Path, state: int) -> Answers:
    change_to(root, state)
    return answers_of(root)


def _write(root: Path, stop: Path) -> int:
    """Alternate until the file `stop` exists; return the number of generations written."""
    number = 0
    while not stop.exists():
        number += 1
        change_to(root, (number + 1) % 2)
    return number


def _read(root: Path, states: Sequence[Answers], *, questions: int, seed: int) -> dict[str, Any]:
    """Open the index, ask a few questions and close it, repeatedly; return counts and torn answers."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    count, torn = 0, []
    generations: set[int] = set()
    while count < questions or len(generations) < GENERATIONS:
        with _open(root, chance) as retriever:
            generation = retriever.snapshot.info.generation
            generations.add(generation)
            for _ in range(_QUESTIONS_PER_OPENING):
                question, mode = chance.choice(QUESTIONS), chance.choice(list(Mode))
                count += 1
                if ask(retriever, question, mode) != states[(generation + 1) % 2][f"{mode.value}: {question}"]:
                    torn.append({"generation": generation, "question": question, "mode": mode.value})
    return {"asked": count, "torn": torn, "generations": len(generations)}


def _open(root: Path, chance: random.Random) -> Retriever:
    """Open the index, sometimes late enough for later generations to have deleted its files."""
    if chance.random() < 0.8:
        return Retriever.open(root, encoder=BagEncoder(), reader=False)
    snapshot = Snapshot(root / ".qa")
    time.sleep(chance.uniform(0, 0.05))
    return Retriever(root, snapshot, BagEncoder())


def run(questions: int = 20_000, readers: int = 4, seed: int = 0) -> dict[str, Any]:
    """Ask while the index is being written, and return the results."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        states = tuple(value_in_fork(partial(_write_and_ask, folder / f"{state}", state)) for state in (0, 1))
        if any(states[0][key] == states[1][key] for key in states[0]):
            raise RuntimeError("an answer is the same in both states, so it proves nothing")
        root, stop = folder / "corpus", folder / "stop"
        value_in_fork(partial(change_to, root, 0))
        writer = Child(partial(_write, root, stop), seconds=_SECONDS)
        share = -(-questions // readers)
        tasks = [partial(_read, root, states, questions=share, seed=seed + number) for number in range(readers)]
        children = [Child(task, seconds=_SECONDS) for task in tasks]
        results = [child.wait() for child in children]
        stop.touch()
        results.append(writer.wait())
    reports = [result.value for result in results[:-1] if result.succeeded]
    return {
        "questions": sum(report["asked"] for report in reports),
        "readers": readers,
        "generations_written": results[-1].value,
        "generations_seen_by_a_reader": [report["generations"] for report in reports],
        "violations": [
            *(answer for report in reports for answer in report["torn"]),
            *(str(result) for result in results if not result.succeeded),
        ],
        "seconds": round(time.monotonic() - started, 1),
    }


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(options.main(run))
