"""Processes that embed: the same index, whatever happens to them."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from corpus.errors import ModelError, StorageError, UsageError
from index.stores import open_index
from index.workers import processes
from index.workers.processes import shares
from index.workers.workers import WorkerPlan
from tests.index.workers.builds import build, contents, log_of, write
from tests.index.workers.conftest import TEXTS
from tests.marks import needs_signals
from tests.recorded import recorded
from tests.robustness import worker_kills

TWO = WorkerPlan(processes=2)


def test_processes_make_the_index_that_one_makes(
    folder: Path, plain: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each text is embedded once, by one of them, on its own share of the cores and of the GPUs."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    report = build(folder, TWO, seconds=0.001)
    assert contents(folder) == plain
    lines = recorded(log_of(folder))
    assert report.embedded == len(lines) == len({text for _, _, text in lines}) == TEXTS
    places = dict(line[:2] for line in lines)
    first, second = (",".join(map(str, each)) for each in shares(2))
    assert sorted(places.values()) == sorted([f"{first}@2", f"{second}@5"])
    assert not any(worker_kills.is_alive(int(process)) for process in places)


def test_where_nothing_changed_no_process_is_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_the_cores_that_there_are_are_divided(
    monkeypatch: pytest.MonkeyPatch, cores: set[int], count: int, expected: list[list[int]]
) -> None:
    """None is idle; where there are fewer cores than processes, some share one."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cores)
    assert shares(count) == expected


@pytest.mark.parametrize("victim", ["process", "build"])
def test_a_kill_costs_the_batches_that_were_under_way(tmp_path: Path, victim: str) -> None:
    """A process is replaced; when the build itself is killed, its processes end, and the next one goes on."""
    plain = write(tmp_path / "plain", 32)
    build(plain)
    assert worker_kills.kill(victim, write(tmp_path / "corpus", 32), contents(plain), 0.3).wrong == []


FAULTS = [
    ("crash", StorageError, "3 worker processes died over the same"),
    ("error", StorageError, "MemoryError: no more"),
    ("other model", ModelError, "its files of the model bag differ from those here"),
    ("other vectors", ModelError, "returns other vectors than this machine (cosine 0."),
]


@pytest.mark.parametrize(("fault", "error", "message"), FAULTS, ids=[fault for fault, _, _ in FAULTS])
def test_what_goes_wrong_is_one_error_and_the_old_index_stays(
    folder: Path, fault: str, error: type[Exception], message: str
) -> None:
    """And no vector of a wrong model is stored."""
    (folder / "new.md").write_text("A robot.\n", encoding="utf-8")
    build(folder)
    before = contents(folder)
    (folder / "new.md").write_text("A robot that was changed.\n", encoding="utf-8")
    with pytest.raises(error) as caught:
        build(folder, TWO, fault=fault)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert contents(folder) == before
    report = build(folder)
    assert report.embedded == 1
    with open_index(folder / ".qa") as index:
        assert [one.text for one in index.passages_of("new.md")] == ["A robot that was changed."]


@needs_signals
def test_ctrl_c_ends_the_processes_and_keeps_what_they_embedded(tmp_path: Path) -> None:
    """It is sent to them too, and is for the build alone, which stores what they are at."""
    root = write(tmp_path / "corpus", 32)
    process = worker_kills.started(root, TWO, errors=subprocess.PIPE)
    worker_kills.until(lambda: bool(recorded(log_of(root))))
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode != 0
    assert errors.count(b"Traceback") == 1, errors.decode()
    lines = recorded(log_of(root))
    worker_kills.until(lambda: not any(worker_kills.is_alive(int(line[0])) for line in lines))
    # The batch that was about to be stored may be lost.
    assert 0 <= build(root).embedded - (32 * 8 - len(lines)) <= worker_kills.BATCH


def test_the_cluster_and_processes_exclude_each_other(folder: Path) -> None:
    with pytest.raises(UsageError, match="choose one"):
        build(folder, WorkerPlan(processes=2, dask="tcp://127.0.0.1:1"))
