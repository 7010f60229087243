"""The gain of embedding in processes or on nodes of a Dask cluster, all sharing the cores of this machine.

    python -m tests.benchmarks.workers CORPUS --runs 3 --out FILE.json

Each build is a first build from the command line with the real model; the variants take turns. `start` is the time for
a collection of one text, with any cluster already running; the cluster's own start is `cluster`. Processor seconds are
those of all processes. The machine should be quiet.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks.common import copied, provenance, result_parser, write_result
from tests.dask_cluster import Cluster, running_cluster
from tests.paths import REPOSITORY

_CORES = sorted(os.sched_getaffinity(0))
_HALF = len(_CORES) // 2
# Options, and the cores of each node.
WAYS: dict[str, tuple[list[str], list[list[int]]]] = {
    "as usual": ([], []),
    "1 process": (["--workers", "1"], []),
    "2 processes": (["--workers", "2"], []),
    "1 node, all cores": ([], [_CORES]),
    "1 node, half of the cores": ([], [_CORES[:_HALF]]),
    "2 nodes, half of the cores each": ([], [_CORES[:_HALF], _CORES[_HALF:]]),
}


def measure(corpus: Path, runs: int) -> dict[str, Any]:
    """Return the median figures of each variant."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory() as name:
        single = Path(name) / "single"
        single.mkdir()
        (single / "one.md").write_text("One text.\n", encoding="utf-8")
        for _ in range(runs):
            for way, (options, nodes) in WAYS.items():
                with _cluster(nodes) as (cluster, seconds):
                    more = [*options, "--dask", cluster.address] if cluster else options
                    pids = [one.pid for one in (*cluster.workers, cluster.scheduler)] if cluster else []
                    _build(single, more, pids)  # warm-up: cluster workers keep the model loaded
                    start = _build(single, more, pids)
                    found[way].append(_build(corpus, more, pids) | {"start": start["seconds"], "cluster": seconds})
    return {
        way: {key: round(statistics.median(one[key] for one in rows), 2) for key in rows[0]}
        for way, rows in found.items()
    }


@contextmanager
def _cluster(nodes: Sequence[Sequence[int]]) -> Iterator[tuple[Cluster | None, float]]:
    """A cluster with a node for each set of cores, or none, and the seconds until its nodes have joined."""
    if not nodes:
        yield None, 0.0
        return
    from distributed import Client

    began = time.perf_counter()
    with running_cluster(len(nodes), cores=nodes) as cluster:
        with Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(len(nodes), timeout=60)
        yield cluster, time.perf_counter() - began


def _build(corpus: Path, options: Sequence[str], others: Sequence[int]) -> dict[str, float]:
    """The wall-clock and processor seconds of a first build, including processor time in other processes."""
    with copied(corpus) as root:
        command = [sys.executable, "-m", "qa", "index", str(root), "--json", *options]
        began, before = time.perf_counter(), _used(others)
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=True)
        seconds, used = time.perf_counter() - began, _used(others) - before
    passages = json.loads(done.stdout)["embedded"]
    return {"passages": passages, "seconds": seconds, "processor": used, "per_second": passages / seconds}


def _used(others: Sequence[int]) -> float:
    """Processor seconds of finished children and of other processes."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for pid in others:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def table(result: dict[str, Any]) -> str:
    """The results in Markdown."""
    rows = [
        "| embedding | passages/s | ratio | s | processor s | start, s | start of the cluster, s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    usual = result["ways"]["as usual"]["per_second"]
    for way, one in result["ways"].items():
        cluster = f"{one['cluster']:.1f}" if one["cluster"] else "–"
        rates = f"{one['per_second']:.0f} | {one['per_second'] / usual:.2f}"
        seconds = f"{one['seconds']:.1f} | {one['processor']:.1f} | {one['start']:.1f}"
        rows.append(f"| {way} | {rates} | {seconds} | {cluster} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Run the command line."""
    parser = result_parser(__doc__, "corpus")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    write_result(provenance("workers") | {"ways": measure(given.corpus, given.runs)}, given.out)


if __name__ == "__main__":
    main()
