"""Paths in an index that lead outside its folder (case 34)."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import pytest

from corpus.errors import QAError
from qa.collection.show import show
from tests.robustness.foreign import answers, checked, within_limits
from tests.robustness.reseal import edit
from tests.robustness.samples import Sample
from tests.robustness.trials import Outcome

OUTSIDE = "The harbour opens with walnut.\n"
PATHS = [
    "../secret.txt",
    "../../etc/passwd",
    "/etc/passwd",
    "notes/../../secret.txt",
    "..",
    ".",
    "",
    "/",
    "notes//03.md",
    "./03.md",
    "a\0b",
    "\0",
    "notes/" + "x" * 5000,
    "..\\secret.txt",
    "C:/secret.txt",
    "\ud800.txt".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
]


@pytest.mark.parametrize("path", PATHS)
def test_no_path_of_the_index_leads_out_of_the_folder(sample: Sample, path: str) -> None:
    """Citations are compared with files, and places are shown: never with a file outside, whatever the index says."""
    secret = sample.root.parent / "secret.txt"
    secret.write_text(OUTSIDE, encoding="utf-8")
    edit(sample.folder / "index.db", ("UPDATE documents SET path = ? WHERE path = ?", (path, sample.questions.path)))

    assert within_limits(partial(_opened_outside, sample, path, secret), sample) == []


def _opened_outside(sample: Sample, path: str, secret: Path) -> list[str]:
    """Files outside the folder that are opened by questions, and by showing what the path and others lead to."""
    opened: list[str] = []
    sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
    sample.ask()
    for place in (path, f"{path}:1", "../secret.txt", str(secret)):
        try:
            shown = show(sample.root, place)
        except QAError:
            continue
        assert OUTSIDE.strip() not in "".join(line for _, line in shown.lines)
    return [name for name in opened if os.path.normpath(name) in (str(secret), "/etc/passwd")]


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "a\0b", ""])
def test_an_index_with_such_a_path_is_called_damaged(sample: Sample, path: str) -> None:
    edit(sample.folder / "index.db", ("UPDATE documents SET path = ? WHERE path = ?", (path, sample.questions.path)))
    outcome, detail, refused = answers(sample)
    assert outcome is Outcome.REFUSED, detail
    assert "listing" in refused
    assert "document" in checked(sample)
