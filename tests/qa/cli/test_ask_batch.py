"""`qa ask --batch`: many questions at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qa.cli import batch as batch_module
from tests.qa.commands import qa


def test_batch_answers_in_order(indexed: Path, tmp_path: Path) -> None:
    """A line a question, in order, with the caller's ids; 0 although some were not found."""
    batch = tmp_path / "questions"
    batch.write_text('soup\n{"id": "b", "question": "xylophone"}\n{"id": 3, "question": "train"}\n')
    done = qa("ask", "--batch", str(batch))
    values = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.exit_code == 0
    assert [(value["id"], value["question"], value["found"]) for value in values] == [
        (None, "soup", True),
        ("b", "xylophone", False),
        (3, "train", True),
    ]


def test_batch_from_stdin(indexed: Path) -> None:
    """A dash reads stdin; an empty batch answers nothing."""
    assert json.loads(qa("ask", "--batch", "-", stdin=b"soup\n").stdout)["question"] == "soup"
    assert (qa("ask", "--batch", "-", stdin=b"").exit_code, qa("ask", "--batch", "-", stdin=b"").stdout) == (0, "")


def test_batch_cuts_long_questions(indexed: Path) -> None:
    """The notice names the line."""
    done = qa("ask", "--batch", "-", stdin=b"soup\n" + b"soup " * 3000 + b"\n")
    assert done.exit_code == 0
    assert done.stderr == "Batch line 2: Question cut to 10,000 characters; the last 4,999 are ignored\n"


def test_batch_and_question(indexed: Path) -> None:
    """One or the other; and a file that can be read."""
    assert qa("ask", "--batch", "-", "soup", stdin=b"x\n").exit_code == 2
    done = qa("ask", "--batch", "gone")
    assert (done.exit_code, done.stderr) == (2, "qa: cannot read the batch gone: No such file or directory\n")


def test_batch_from_closed_stdin(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed stdin is said."""
    monkeypatch.setattr(batch_module, "_stdin", lambda: None)
    done = qa("ask", "--batch", "-")
    assert (done.exit_code, done.stderr) == (2, "qa: --batch - reads stdin, which is closed.\n")
