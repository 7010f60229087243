"""Kill one of the processes of a build at a random moment, and check what is left.

    python -m tests.robustness.worker_kills --kills 20 [--out FILE]

The victims take turns: a process of `--workers`, the build itself, a node of a Dask cluster, its scheduler. A build
that ended is run again without workers.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from index.workers.workers import WorkerPlan
from tests.dask_cluster import Cluster, running_cluster
from tests.index.workers.builds import build, contents, log_of, write
from tests.recorded import recorded
from tests.robustness import options

FILES, BATCH, SECONDS_A_TEXT = 32, 16, 0.008
WORKERS = 2
# How many batches may be embedded again: that of a killed process; also a finished one that a killed node did not hand
# over; those of all workers and the one that waits if the build or the scheduler was killed.
COSTS = {"process": 1, "build": WORKERS + 1, "node": 2, "build on nodes": WORKERS + 1, "scheduler": WORKERS + 1}
# Ctrl-C works as in a terminal, even if the tests run in the background of a shell and so ignore it.
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


@dataclass(frozen=True, slots=True)
class Trial:
    """A kill: the victim, the exit status of the build, the number of texts embedded again, and the problems."""

    victim: str
    status: int
    again: int
    wrong: list[str]


def wait_until(condition: Callable[[], bool]) -> None:
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


def start_build(root: Path, plan: WorkerPlan, *, errors: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start a build with small batches in a new process."""
    arguments = [str(root), str(plan.processes), plan.dask, str(BATCH), str(SECONDS_A_TEXT)]
    return subprocess.Popen([sys.executable, "-c", _PROGRAM, *arguments], stderr=errors, start_new_session=True)


def kill(victim: str, root: Path, expected: list[object], pause: float, cluster: Cluster | None = None) -> Trial:
    """Build a folder, kill the victim `pause` seconds after the first batch, and compare with the expected contents."""
    plan = WorkerPlan(dask=cluster.address) if cluster else WorkerPlan(processes=WORKERS)
    log = log_of(root)
    process = start_build(root, plan)
    wait_until(lambda: bool(recorded(log)) or process.poll() is not None)
    time.sleep(pause)
    workers = {int(line[0]) for line in recorded(log)}
    if cluster is not None and victim in ("node", "scheduler"):
        (cluster.scheduler if victim == "scheduler" else cluster.workers[0]).kill()
    else:
        with suppress(ProcessLookupError):
            os.kill(min(workers) if victim == "process" else process.pid, signal.SIGKILL)
    status = process.wait(120)
    if cluster is None:
        wait_until(lambda: not any(map(is_alive, {int(line[0]) for line in recorded(log)})))
    else:
        time.sleep(3 * BATCH * SECONDS_A_TEXT)  # its workers finish and record their batches
    resumed = build(root).embedded if status else 0
    counts = Counter(text for _, _, text in recorded(log))
    again = counts.total() + resumed - len(expected) * 8
    problems = []
    if contents(root) != expected:
        problems.append("the index differs from one built without a kill")
    if again > COSTS[victim] * BATCH:
        problems.append(f"{again} texts embedded again")
    if status and victim in ("process", "node"):
        problems.append("the build ended although other workers could continue")
    return Trial(victim, status, again, problems)


def run(kills: int = 20, seed: int = 0) -> dict[str, Any]:
    """Kill the victims in turn, and return the results."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    trials = []
    with tempfile.TemporaryDirectory() as name:
        plain = write(Path(name) / "plain", FILES)
        build(plain)
        expected = contents(plain)
        for number in range(kills):
            victim = list(COSTS)[number % len(COSTS)]
            root = write(Path(name) / f"trial-{number}", FILES)
            pause = chance.uniform(0, FILES * 8 * SECONDS_A_TEXT / WORKERS)
            with nullcontext() if victim in ("process", "build") else running_cluster(WORKERS) as cluster:
                trials.append(kill(victim, root, expected, pause, cluster))
    return {
        "kills": kills,
        "texts": FILES * 8,
        "batch": BATCH,
        "interrupted": sum(trial.status != 0 for trial in trials),
        "most_again": {
            victim: max([trial.again for trial in trials if trial.victim == victim], default=0) for victim in COSTS
        },
        "violations": [asdict(trial) for trial in trials if trial.wrong],
    }


if __name__ == "__main__":
    sys.exit(options.main(run))
