"""Processes killed or interrupted at any moment lose only work in progress and leave no stray files."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from index.encoder.load import load_encoder
from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.marks import needs_fork, needs_signals
from tests.robustness import kills
from tests.robustness.process import value_of
from tests.robustness.program import allow_interrupts, command


@needs_fork
@pytest.mark.parametrize("model", [False, True], ids=["quick encoder", "real model"])
def test_kill_at_any_moment_leaves_the_old_or_new_index(model: bool) -> None:
    """At most two batches are embedded again: the one being written and the next."""
    scenarios = kills.scenarios(model=model)
    results = value_of(partial(kills.run, len(scenarios), seed=3, files=28, model=model), seconds=300)
    assert results["violations"] == []
    assert results["by_scenario"] == {scenario.name: 1 for scenario in scenarios}
    assert results["texts"] > kills.MOST_LOST >= results["most_lost"]


@needs_signals
@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
def test_ctrl_c_stops_the_build_and_releases_the_lock(tmp_path: Path, times: int) -> None:
    """The exit code is 130, no process or temporary file is left, and the next update works."""
    load_encoder().encode_query("So that the model is compiled.")
    for number in range(60):  # some seconds of embedding
        parts = (f"# Part {number}.{part}\n\nParagraph {part} of {number}.\n" for part in range(20))
        (tmp_path / f"{number}.md").write_text("\n".join(parts), encoding="utf-8")
    allow_interrupts()
    build = command(["index", str(tmp_path)])
    with subprocess.Popen(build, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        while not (tmp_path / ".qa" / "lock").exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(0.7)
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)  # like a terminal: to every process of the command
            time.sleep(0.03)
        _, errors = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert not list((tmp_path / ".qa").glob("*.tmp"))
    assert update_index(Request(tmp_path, BagEncoder())).documents == 60
