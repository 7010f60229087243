"""Kill one of the processes of a build at a random moment, and check what is left.

    python -m tests.robustness.worker_kills --kills 20 [--out FILE]

The victims take turns: a process of `--workers`, the build itself, a node of a Dask cluster, its scheduler. If the
build ended, it is run again without workers.
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
# Batches that may be embedded again: a process's own; for a node also one that is finished but not handed over; for the
# build and the scheduler those of all workers and the one that is waiting.
COSTS = {"process": 1, "build": WORKERS + 1, "node": 2, "build on nodes": WORKERS + 1, "scheduler": WORKERS + 1}
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


@dataclass(frozen=True, slots=True)
class Trial:
    """One kill: the victim, the build's exit status, the number of texts embedded again, and what is wrong."""

    victim: str
    status: int
    again: int
    wrong: list[str]


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


def kill(victim: str, root: Path, expected: list[object], pause: float, cluster: Cluster | None = None) -> Trial:
    """Build a folder, kill the victim `pause` seconds after the first batch, and compare with the expected contents."""
    plan = WorkerPlan(dask=cluster.address) if cluster else WorkerPlan(processes=WORKERS)
    log = log_of(root)
    process = started(root, plan)
    until(lambda: bool(recorded(log)) or process.poll() is not None)
    time.sleep(pause)
    workers = {int(line[0]) for line in recorded(log)}
    if cluster is not None and victim in ("node", "scheduler"):
        (cluster.scheduler if victim == "scheduler" else cluster.workers[0]).kill()
    else:
        with suppress(ProcessLookupError):
            os.kill(min(workers) if victim == "process" else process.pid, signal.SIGKILL)
    status = process.wait(120)
    if cluster is None:
        until(lambda: not any(map(is_alive, {int(line[0]) for line in recorded(log)})))
    else:
        time.sleep(3 * BATCH * SECONDS_A_TEXT)  # its workers finish and record their batches
    resumed = build(root).embedded if status else 0
    again = Counter(text for _, _, text in recorded(log))
    twice = again.total() + resumed - len(expected) * 8
    wrong = []
    if contents(root) != expected:
        wrong.append("the index differs from one built without a kill")
    if twice > COSTS[victim] * BATCH:
        wrong.append(f"{twice} texts embedded again")
    if status and victim in ("process", "node"):
        wrong.append("the build ended although other workers could continue")
    return Trial(victim, status, twice, wrong)


def run(kills: int = 20, seed: int = 0) -> dict[str, Any]:
    """Kill the victims in turn; return what was found."""
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
        "interrupted": sum(one.status != 0 for one in trials),
        "most_again": {
            victim: max([one.again for one in trials if one.victim == victim], default=0) for victim in COSTS
        },
        "violations": [asdict(one) for one in trials if one.wrong],
    }


if __name__ == "__main__":
    sys.exit(options.main(run))
