"""The same files give the same answers with the real model too; `tests/index/test_machine.py` has all histories."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from index.encoder.load import load_encoder
from index.encoder.protocol import Encoder
from index.update.report import Request
from index.update.update import update_index
from qa.answer.results import Mode
from qa.retrieval.retriever import Retriever
from tests.paths import SAMPLE


def answers(root: Path, questions: Sequence[str], encoder: Encoder) -> list[dict[str, Any]]:
    """The whole JSON of each answer, without times and generation; modes and k vary with the question."""
    found = []
    with Retriever.open(root, encoder=encoder) as retriever:
        for number, question in enumerate(questions):
            value = retriever.ask(question, k=1 + number % 12, mode=list(Mode)[number % 3]).as_json()
            del value["timings_ms"], value["index"]["generation"]
            found.append(value)
    return found


def test_with_the_real_model(tmp_path: Path) -> None:
    """Files one after another, backwards, one moved, against all at once elsewhere: the same to the last bit."""
    names = ("awards.md", "numbers.md", "schedule.md", "travel/getting-around.txt", "talks/song-chun-zhu.md")
    encoder = load_encoder()
    one_by_one, at_once = tmp_path / "one", tmp_path / "somewhere" / "else" / "all"
    for root, parts in ((at_once, [names]), (one_by_one, [(name,) for name in reversed(names)])):
        for part in parts:
            for name in part:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(SAMPLE / name, root / name)
            update_index(Request(root, encoder))
    for old, new in (("awards.md", "moved.md"), ("moved.md", "awards.md")):
        (one_by_one / old).rename(one_by_one / new)
        update_index(Request(one_by_one, encoder))
    lines = (SAMPLE.parents[1] / "tests" / "sample_questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines[:12]]
    assert json.dumps(answers(one_by_one, questions, encoder)) == json.dumps(answers(at_once, questions, encoder))
