"""Processes killed or interrupted at any moment: nothing is lost but what was under way, and nothing is left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from index.encoder.load import load_encoder
from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.marks import needs_fork, needs_signals
from tests.robustness import kills, model_kills
from tests.robustness.interrupts import documents, interrupt, wrong_with


@needs_fork
def test_a_kill_at_any_moment_leaves_the_old_index_or_the_new_one(tmp_path: Path) -> None:
    """And what was embedded is not embedded again, but for a batch on its way to the disk and the one behind it."""
    out = tmp_path / "found.json"
    done = subprocess.run(
        [sys.executable, "-m", kills.__name__, "--runs", "8", "--files", "28", "--seed", "3", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["violations"] == []
    assert found["killed"] == 8
    assert found["by_scenario"] == {one.name: 2 for one in kills.scenarios()}


@needs_fork
def test_a_kill_of_a_build_with_the_real_model_loses_at_most_two_batches(tmp_path: Path) -> None:
    """Another process goes on, and what it makes is what a build makes that nobody killed."""
    trials = model_kills.Trials(tmp_path, files=28)
    done = trials.run(0.6 * trials.seconds)
    assert done.wrong == ()
    assert done.lost <= kills.MOST_LOST
    assert done.finished + done.embedded - done.lost == trials.texts


@needs_signals
@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
def test_ctrl_c_ends_it_and_frees_the_lock(tmp_path: Path, times: int) -> None:
    """With 130 and one word, soon, without a process or a temporary file left; what was embedded is kept."""
    load_encoder().encode_query("The model is compiled now, if it was not before.")
    documents(tmp_path, 60)
    ended = interrupt(tmp_path, after=0.7, times=times)
    assert ended.code == 130
    assert wrong_with(tmp_path, ended) == []
    assert ended.seconds < 10
    assert not list((tmp_path / ".qa").glob("*.tmp"))
    assert update_index(Request(tmp_path, BagEncoder())).documents == 60
