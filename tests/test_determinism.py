"""With the real model, the same files give the same answers; `tests/index/test_machine.py` tests random histories."""

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
from tests.paths import SAMPLE, SAMPLE_QUESTIONS


def answers(root: Path, questions: Sequence[str], encoder: Encoder) -> list[dict[str, Any]]:
    """The complete JSON of each answer except times and generation; modes and k vary with the question."""
    values = []
    with Retriever.open(root, encoder=encoder) as retriever:
        for number, question in enumerate(questions):
            value = retriever.ask(question, k=3 + 4 * number, mode=list(Mode)[number % 3]).as_json()
            del value["timings_ms"], value["index"]["generation"]
            values.append(value)
    return values


def test_answers_do_not_depend_on_how_the_index_was_built(tmp_path: Path) -> None:
    """Adding files one by one in reverse, and moving one away and back, gives the same bits as adding all at once."""
    names = ("awards.md", "schedule.md", "travel/getting-around.txt", "talks/song-chun-zhu.md")
    encoder = load_encoder()
    one_by_one, at_once = tmp_path / "one", tmp_path / "somewhere" / "else" / "all"
    for root, batches in ((at_once, [names]), (one_by_one, [(name,) for name in reversed(names)])):
        for batch in batches:
            for name in batch:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(SAMPLE / name, root / name)
            update_index(Request(root, encoder))
    for old, new in (("awards.md", "moved.md"), ("moved.md", "awards.md")):
        (one_by_one / old).rename(one_by_one / new)
        update_index(Request(one_by_one, encoder))
    lines = SAMPLE_QUESTIONS.read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines[:4]]
    assert json.dumps(answers(one_by_one, questions, encoder)) == json.dumps(answers(at_once, questions, encoder))
