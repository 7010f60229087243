"""Batches of questions: their format, and `qa ask --batch`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from corpus.errors import UsageError
from qa.cli.batch import BatchItem, parse_batch, read_batch
from tests.qa.commands import qa


def test_a_line_is_a_question_or_a_json_object() -> None:
    """Sets of questions have keys of their own, which are ignored."""
    lines = (
        '\ufeffwho won?\r\n{"id": "q7", "question": " when? "}\n\r\n \n'
        '{"question": "why", "id": 3, "file": 0}\n{"question":"x"}'
    )
    expected = ((1, None, "who won?"), (2, "q7", "when?"), (5, 3, "why"), (6, None, "x"))
    assert parse_batch(lines.encode()) == tuple(BatchItem(*fields) for fields in expected)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"id": 1', "batch line 2 starts with { but is not valid JSON"),
        (b'{"a":' * 100_000, "batch line 2 starts with { but is not valid JSON"),
        (b'{"quest": 1}', 'batch line 2 has no "question"'),
        (b'{"question": 5}', 'batch line 2: "question" must be a string'),
        (b'{"question": "x", "id": true}', 'batch line 2: "id" must be'),
        (b'{"question": "  "}', "batch line 2: the question is empty"),
        (b"caf\xe9", r"batch line 2 is not UTF-8 \(byte 4 of the line\)"),
    ],
)
def test_invalid_line_is_reported(line: bytes, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_batch(b"first\n" + line + b"\nthird\n")


def test_batch_answers_in_order(indexed: Path, tmp_path: Path) -> None:
    """There is a line per question, with the caller's id; the exit code is 0 even if some have no answer."""
    batch = tmp_path / "questions"
    batch.write_text('soup\n{"id": "b", "question": "xylophone"}\n{"id": 3, "question": "train"}\n')
    done = qa("ask", "--batch", batch)
    values = [json.loads(line) for line in done.stdout.splitlines()]
    answers = [(value["id"], value["question"], value["found"]) for value in values]
    assert done.exit_code == 0
    assert answers == [(None, "soup", True), ("b", "xylophone", False), (3, "train", True)]


def test_a_batch_in_the_collection_is_not_searched(indexed: Path) -> None:
    """Questions, answers and other JSON output of qa are no passages."""
    (indexed / "questions").write_text("soup\n" * 2)
    outputs = {
        "answers.jsonl": qa("ask", "--batch", "questions"),
        "saved.txt": qa("ask", 'train "to" Lyon', "--json"),
    }
    for name, done in outputs.items():
        (indexed / name).write_bytes(done.stdout_bytes)
    assert "questions" in qa("ask", "soup").stdout
    shown = [json.loads(line)["passages"] for line in qa("ask", "--batch", "questions").stdout.splitlines()]
    assert [{hit["source"]["path"] for hit in passages} for passages in shown] == [{"talks.md", "sub/travel.md"}] * 2
    assert "output of qa, not a document (2): answers.jsonl, saved.txt" in qa("status").stdout


def test_batch_from_stdin(indexed: Path) -> None:
    assert json.loads(qa("ask", "--batch", "-", stdin=b"soup\n").stdout)["question"] == "soup"
    empty = qa("ask", "--batch", "-", stdin=b"")
    assert (empty.exit_code, empty.stdout) == (0, "")


def test_batch_cuts_long_questions(indexed: Path) -> None:
    done = qa("ask", "--batch", "-", stdin=b"soup\n" + b"soup " * 3000 + b"\n")
    assert done.exit_code == 0
    assert done.stderr == "Batch line 2: Question cut to 10,000 characters; the last 4,999 are ignored\n"


def test_batch_with_a_question_or_without_a_file(indexed: Path) -> None:
    assert qa("ask", "--batch", "-", "soup", stdin=b"x\n").exit_code == 2
    done = qa("ask", "--batch", "gone")
    assert (done.exit_code, done.stderr) == (2, "qa: cannot read the batch gone: No such file or directory\n")


def test_batch_from_closed_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="reads stdin, which is closed"):
        read_batch("-")
