"""Worker processes make the same index as a single process, whatever happens to them."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from index.workers import processes
from index.workers.processes import divide_cores
from index.workers.workers import WorkerPlan
from tests.index.workers.builds import build, contents, log_of, write
from tests.index.workers.conftest import FAULTS, TEXTS, check_fault
from tests.marks import needs_signals
from tests.recorded import recorded
from tests.robustness import worker_kills

TWO = WorkerPlan(processes=2)


def test_worker_processes_make_the_same_index_as_one_process(
    folder: Path, expected: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each text is embedded once, by a process with its own share of the cores and GPUs."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    report = build(folder, TWO, seconds=0.001)
    assert contents(folder) == expected
    lines = recorded(log_of(folder))
    assert report.embedded == len(lines) == len({text for _, _, text in lines}) == TEXTS
    cores_and_gpu = dict(line[:2] for line in lines)
    first, second = (",".join(map(str, cores)) for cores in divide_cores(2))
    assert sorted(cores_and_gpu.values()) == sorted([f"{first}@2", f"{second}@5"])
    assert not any(worker_kills.is_alive(int(process)) for process in cores_and_gpu)


def test_without_changes_no_process_is_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(folder)
    monkeypatch.setattr(processes._Worker, "_start", lambda _: pytest.fail("started"))
    assert build(folder, TWO).embedded == 0


@pytest.mark.parametrize(
    ("cores", "count", "expected"),
    [
        ({0, 1}, 1, [[0, 1]]),
        ({0, 1}, 2, [[0], [1]]),
        ({2, 3, 5, 7, 8}, 2, [[2, 3], [5, 7, 8]]),
        ({4, 6}, 3, [[4], [4], [6]]),
    ],
)
def test_the_available_cores_are_divided(
    monkeypatch: pytest.MonkeyPatch, cores: set[int], count: int, expected: list[list[int]]
) -> None:
    """No core is idle; if there are fewer cores than processes, some processes share one."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cores)
    assert divide_cores(count) == expected


@pytest.mark.parametrize("victim", ["process", "build"])
def test_a_kill_costs_only_the_batches_in_progress(tmp_path: Path, victim: str) -> None:
    """A killed process is replaced; if the build is killed, its processes end, and the next build continues."""
    undisturbed = write(tmp_path / "undisturbed", 32)
    build(undisturbed)
    assert worker_kills.kill(victim, write(tmp_path / "corpus", 32), contents(undisturbed), 0.3).wrong == []


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_gives_one_error_and_keeps_the_old_index(folder: Path, fault: str) -> None:
    check_fault(folder, TWO, fault)


@needs_signals
def test_ctrl_c_ends_the_processes_and_keeps_what_they_embedded(tmp_path: Path) -> None:
    """The processes ignore the signal, and the build stores the batches in progress."""
    root = write(tmp_path / "corpus", 32)
    process = worker_kills.start_build(root, TWO, errors=subprocess.PIPE)
    worker_kills.wait_until(lambda: bool(recorded(log_of(root))))
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode != 0
    assert errors.count(b"Traceback") == 1, errors.decode()
    lines = recorded(log_of(root))
    worker_kills.wait_until(lambda: not any(worker_kills.is_alive(int(line[0])) for line in lines))
    # A batch that was about to be stored may be lost.
    assert 0 <= build(root).embedded - (32 * 8 - len(lines)) <= worker_kills.BATCH
