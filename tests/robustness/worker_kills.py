"""Kill one of the processes of a build, and check what is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from index.workers.workers import WorkerPlan
from tests.dask_cluster import Cluster
from tests.index.workers.builds import build, contents, log_of
from tests.recorded import recorded

BATCH, SECONDS_A_TEXT = 16, 0.008
WORKERS = 2
# Batches that may be embedded again: a process's own; for a node also one that is finished but not handed over; for the
# build those of all workers and the one that is waiting.
COSTS = {"process": 1, "build": WORKERS + 1, "node": 2, "build on nodes": WORKERS + 1}
# Ctrl-C works as in a terminal even if the tests run in the background of a shell, where it is ignored.
_PROGRAM = """
import signal, sys
from pathlib import Path
from index.update import embed_queue as queue
from tests.index.workers.builds import WorkerPlan, build
root, processes, dask, batch, seconds = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)
queue._WORKERS_CHUNK, queue._FIRST, queue._GATHERED = int(batch), int(batch), 2 * int(batch)
build(Path(root), WorkerPlan(int(processes), dask), seconds=float(seconds))
"""


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition that depends on another process is true."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise TimeoutError


def is_alive(process: int) -> bool:
    """Whether a process is running."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def started(root: Path, plan: WorkerPlan, *, errors: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start a build with small batches in a new process."""
    given = [str(root), str(plan.processes), plan.dask, str(BATCH), str(SECONDS_A_TEXT)]
    return subprocess.Popen([sys.executable, "-c", _PROGRAM, *given], stderr=errors, start_new_session=True)


def kill(victim: str, root: Path, expected: list[object], cluster: Cluster | None = None) -> list[str]:
    """Build a folder, kill the victim shortly after the first batch, resume if the build ended, and list what is wrong.

    Args:
        victim: One of `COSTS`.
        root: The folder to build.
        expected: The contents of an index built without a kill.
        cluster: The Dask cluster to build on; else in processes.
    """
    plan = WorkerPlan(dask=cluster.address) if cluster else WorkerPlan(processes=WORKERS)
    log = log_of(root)
    process = started(root, plan)
    until(lambda: bool(recorded(log)) or process.poll() is not None)
    time.sleep(0.3)
    workers = {int(line[0]) for line in recorded(log)}
    if victim == "node":
        assert cluster is not None
        cluster.workers[0].kill()
    else:
        with suppress(ProcessLookupError):
            os.kill(min(workers) if victim == "process" else process.pid, signal.SIGKILL)
    status = process.wait(120)
    if cluster is None:
        until(lambda: not any(map(is_alive, {int(line[0]) for line in recorded(log)})))
    else:
        time.sleep(3 * BATCH * SECONDS_A_TEXT)  # its workers finish and record their batches
    resumed = build(root).embedded if status else 0
    twice = len(recorded(log)) + resumed - len(expected) * 8
    wrong = []
    if contents(root) != expected:
        wrong.append("the index differs from one built without a kill")
    if twice > COSTS[victim] * BATCH:
        wrong.append(f"{twice} texts embedded again")
    if status and victim in ("process", "node"):
        wrong.append("the build ended although other workers could continue")
    return wrong
