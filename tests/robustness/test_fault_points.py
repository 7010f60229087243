"""Every operation on a file, struck by a killed process or a failing disk: a few of them here, all by the command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.robustness import fault_library as shim
from tests.robustness import fault_points as points
from tests.robustness.scenarios import SCENARIOS


@pytest.mark.skipif(bool(shim.why_not()), reason=shim.why_not() or "-")
def test_whatever_is_struck_the_index_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    """Each kind of fault in half of the scenarios.

    Also: it is brought up to date without embedding anything again, and nothing stays behind.
    """
    out, half = tmp_path / "found.json", len(points.FAULTS) // 2
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            points.__name__,
            "--sample",
            str(half),
            "--seed",
            "1",
            "--out",
            str(out),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [one["scenario"] for one in found] == [one.name for one in SCENARIOS]
    tried: Counter[str] = Counter()
    for one in found:
        assert set(one["faults"].values()) == {1}
        tried.update(one["faults"])
        assert one["violations"] == []
        # Fewer would mean that the library does not see what SQLite or Python do.
        assert {"create", "write", "sync"} <= one["kinds"].keys()
        assert one["operations"] > 15
    assert tried == {fault.name: len(SCENARIOS) // 2 for fault in points.FAULTS}
