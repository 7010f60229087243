"""The same files give the same answers, however the index came about."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from index.encoder.load import load_encoder
from index.encoder.protocol import Encoder
from index.update.report import BuildReport, Request
from index.update.update import update_index
from qa.answer.results import Mode
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.paths import SAMPLE

WORDS = [
    "award",
    "paper",
    "train",
    "lyon",
    "hour",
    "soup",
    "noon",
    "whale",
    "harbour",
    "winter",
    "model",
    "agent",
    "robot",
    "memory",
    "vector",
    "phrase",
    "café",
    "naïve",
    "kernel",
    "attack",
    "privacy",
    "budget",
    "token",
    "2024",
    "2025",
    "512",
    "keynote",
    "monday",
    "lecture",
    "reviewer",
    "poster",
]
STEPS = 40


def build(root: Path, encoder: Encoder) -> BuildReport:
    return update_index(Request(root, encoder, allow_empty=True))


def answers(root: Path, questions: Sequence[str], encoder: Encoder) -> list[dict[str, Any]]:
    """The whole JSON of each answer, without times and generation; modes and k vary with the question."""
    found = []
    with Retriever.open(root, encoder=encoder) as retriever:
        for number, question in enumerate(questions):
            value = retriever.ask(question, k=1 + number % 12, mode=list(Mode)[number % 3]).as_json()
            del value["timings_ms"], value["index"]["generation"]
            found.append(value)
    return found


def some_text(dice: random.Random) -> str:
    """A few headed paragraphs, often with sentences that stand elsewhere too."""
    parts = []
    for _ in range(dice.randint(1, 4)):
        if dice.random() < 0.5:
            parts.append(f"## {dice.choice(WORDS).title()}")
        sentences = [
            " ".join(dice.choices(WORDS[:8] if dice.random() < 0.3 else WORDS, k=dice.randint(1, 6)))
            for _ in range(dice.randint(1, 5))
        ]
        parts.append(" ".join(f"{sentence.capitalize()}." for sentence in sentences))
    return "\n\n".join(parts) + "\n"


def a_step(root: Path, dice: random.Random) -> None:
    """Edit, add, delete, rename, copy or swap."""
    files = sorted(path for path in root.rglob("*.md") if ".qa" not in path.parts)
    kind = dice.choice(["edit", "add", "delete", "rename", "copy", "swap"] if len(files) > 3 else ["add"])
    new = root / dice.choice(["", "sub", "sub/deep"]) / f"f{dice.randint(0, 99):02}.md"
    new.parent.mkdir(parents=True, exist_ok=True)
    one, other = (dice.choice(files), dice.choice(files)) if files else (new, new)
    if kind == "edit":
        one.write_text(one.read_text() + some_text(dice))
    elif kind == "add":
        new.write_text(some_text(dice))
    elif kind == "delete":
        one.unlink()
    elif kind == "rename":
        one.rename(new)
    elif kind == "copy":
        new.write_text(one.read_text())
    else:
        first, second = one.read_text(), other.read_text()
        one.write_text(second)
        other.write_text(first)


def test_however_it_was_reached(tmp_path: Path) -> None:
    """Forty random changes, an update after each, against two clean builds of the same files elsewhere."""
    dice = random.Random(20_241_117)  # noqa: S311 - not for secrets
    walked = tmp_path / "walked"
    walked.mkdir()
    for _ in range(12):
        a_step(walked, dice)
    for _ in range(STEPS):
        a_step(walked, dice)
        build(walked, BagEncoder())
    roots = [walked]
    for name in ("clean", "somewhere/else/clean again"):
        shutil.copytree(walked, tmp_path / name, ignore=shutil.ignore_patterns(".qa"))
        build(tmp_path / name, BagEncoder())
        roots.append(tmp_path / name)
    questions = [" ".join(dice.choices([*WORDS, "what", "is", "the"], k=dice.randint(1, 7))) for _ in range(200)]
    first, second, third = (answers(root, questions, BagEncoder()) for root in roots)
    assert len(first) == 200
    assert any(hit["also_in"] for value in first for hit in value["passages"])
    assert json.dumps(first) == json.dumps(second) == json.dumps(third)


def test_with_the_real_model(tmp_path: Path) -> None:
    """Five files one after another, backwards, against all at once: the same vectors, bit for bit, the same answers."""
    names = ("awards.md", "numbers.md", "schedule.md", "travel/getting-around.txt", "talks/song-chun-zhu.md")
    encoder = load_encoder()
    one_by_one, at_once = tmp_path / "one", tmp_path / "all"
    for root, parts in ((at_once, [names]), (one_by_one, [(name,) for name in reversed(names)])):
        for part in parts:
            for name in part:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(SAMPLE / name, root / name)
            build(root, encoder)
    lines = (SAMPLE.parents[1] / "tests" / "sample_questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines[:20]]
    assert json.dumps(answers(one_by_one, questions, encoder)) == json.dumps(answers(at_once, questions, encoder))
