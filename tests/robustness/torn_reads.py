"""Readers ask while a writer alternates a folder between two states; each answer must be entirely from one of them.

    python -m tests.robustness.torn_reads --questions 20000 [--readers 4] [--out FILE]

Several files change at once, so an answer that mixed two generations would be noticed. Odd generations are of the first
state, so the generation of an open index says which of the two answers it must give.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
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
# A reader that saw fewer generations continues, as it would have tested nothing.
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
    found = answer_to(retriever, question, mode=mode)
    for passage in found["passages"]:
        del passage["source"]["state"]
    return found


def answers_of(root: Path) -> Answers:
    """An index's answers to each question in each mode."""
    with Retriever.open(root, encoder=BagEncoder(), reader=False) as retriever:
        return {f"{mode.value}: {asked}": ask(retriever, asked, mode) for asked in QUESTIONS for mode in Mode}


def _written(root: Path, state: int) -> Answers:
    change_to(root, state)
    return answers_of(root)


def _write(root: Path, stop: Path) -> int:
    """Alternate until the file `stop` exists; return the number of generations written."""
    number = 0
    while not stop.exists():
        number += 1
        change_to(root, (number + 1) % 2)
    return number


def _read(root: Path, states: tuple[Answers, Answers], *, questions: int, seed: int) -> dict[str, Any]:
    """Open the index, ask a few questions and close it, repeatedly; return what was found."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    asked, torn = 0, []
    generations: set[int] = set()
    while asked < questions or len(generations) < GENERATIONS:
        with _opened(root, chance) as retriever:
            generation = retriever.snapshot.info.generation
            generations.add(generation)
            for _ in range(_QUESTIONS_PER_OPENING):
                question, mode = chance.choice(QUESTIONS), chance.choice(list(Mode))
                asked += 1
                if ask(retriever, question, mode) != states[(generation + 1) % 2][f"{mode.value}: {question}"]:
                    torn.append({"generation": generation, "question": question, "mode": mode.value})
    return {"asked": asked, "torn": torn, "generations": len(generations)}


def _opened(root: Path, chance: random.Random) -> Retriever:
    """Open the index as usual, or delay loading its files so that later generations may have deleted them."""
    if chance.random() < 0.8:
        return Retriever.open(root, encoder=BagEncoder(), reader=False)
    snapshot = Snapshot(root / ".qa")
    time.sleep(chance.uniform(0, 0.05))
    return Retriever(root, snapshot, BagEncoder())


def run(questions: int = 20_000, readers: int = 4, seed: int = 0) -> dict[str, Any]:
    """Ask while the index is written; return what was found."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        states = (value_in_fork(partial(_written, folder / "a", 0)), value_in_fork(partial(_written, folder / "b", 1)))
        if any(states[0][key] == states[1][key] for key in states[0]):
            raise RuntimeError("an answer is the same in both states, so it proves nothing")
        root, stop = folder / "corpus", folder / "stop"
        value_in_fork(partial(change_to, root, 0))
        writer = Child(partial(_write, root, stop), seconds=_SECONDS)
        share = -(-questions // readers)
        reading = [partial(_read, root, states, questions=share, seed=seed + number) for number in range(readers)]
        children = [Child(task, seconds=_SECONDS) for task in reading]
        ended = [child.wait() for child in children]
        stop.touch()
        ended.append(writer.wait())
    seen = [one.value for one in ended[:-1] if one.succeeded]
    return {
        "questions": sum(one["asked"] for one in seen),
        "readers": readers,
        "generations_written": ended[-1].value,
        "generations_seen_by_a_reader": [one["generations"] for one in seen],
        "violations": [
            *(one for several in seen for one in several["torn"]),
            *(str(one) for one in ended if not one.succeeded),
        ],
        "seconds": round(time.monotonic() - started, 1),
    }


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(options.main(run))
