"""The gain of embedding in processes or on nodes of a Dask cluster, all on the cores of this machine.

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
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks.common import provenance, result_parser, temporary_copy, write_result
from tests.dask_cluster import Cluster, running_cluster
from tests.paths import REPOSITORY

_CORES = sorted(os.sched_getaffinity(0))
_HALF = len(_CORES) // 2
# Options, and the cores of each node.
VARIANTS: dict[str, tuple[list[str], list[list[int]]]] = {
    "as usual": ([], []),
    "1 process": (["--workers", "1"], []),
    "2 processes": (["--workers", "2"], []),
    "1 node, all cores": ([], [_CORES]),
    "1 node, half of the cores": ([], [_CORES[:_HALF]]),
    "2 nodes, half of the cores each": ([], [_CORES[:_HALF], _CORES[_HALF:]]),
}


def measure(corpus: Path, runs: int) -> dict[str, Any]:
    """Return the median figures of each variant."""
    builds: dict[str, list[dict[str, float]]] = {name: [] for name in VARIANTS}
    with tempfile.TemporaryDirectory() as name:
        single = Path(name) / "single"
        single.mkdir()
        (single / "one.md").write_text("One text.\n", encoding="utf-8")
        for _ in range(runs):
            for variant, (options, nodes) in VARIANTS.items():
                with _cluster(nodes) as (cluster, seconds):
                    dask = ["--dask", cluster.address] if cluster else []
                    pids = [process.pid for process in (*cluster.workers, cluster.scheduler)] if cluster else []
                    build = partial(_build, options=[*options, *dask], pids=pids)
                    build(single)  # warm-up: cluster workers keep the model loaded
                    times = {"start": build(single)["seconds"], "cluster": seconds}
                    builds[variant].append(build(corpus) | times)
    return {
        variant: {key: round(statistics.median(figures[key] for figures in rows), 2) for key in rows[0]}
        for variant, rows in builds.items()
    }


@contextmanager
def _cluster(nodes: Sequence[Sequence[int]]) -> Iterator[tuple[Cluster | None, float]]:
    """A cluster with a node for each set of cores, or none, and the seconds until its nodes have joined."""
    if not nodes:
        yield None, 0.0
        return
    from distributed import Client

    started = time.perf_counter()
    with running_cluster(len(nodes), cores=nodes) as cluster:
        with Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(len(nodes), timeout=60)
        yield cluster, time.perf_counter() - started


def _build(corpus: Path, options: Sequence[str], pids: Sequence[int]) -> dict[str, float]:
    """The wall-clock and processor seconds of a first build, including processor time in other processes."""
    with temporary_copy(corpus) as root:
        command = [sys.executable, "-m", "qa", "index", str(root), "--json", *options]
        started, before = time.perf_counter(), _processor_seconds(pids)
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=True)
        seconds, cpu_seconds = time.perf_counter() - started, _processor_seconds(pids) - before
    passages = json.loads(done.stdout)["embedded"]
    return {"passages": passages, "seconds": seconds, "processor": cpu_seconds, "per_second": passages / seconds}


def _processor_seconds(pids: Sequence[int]) -> float:
    """Processor seconds of finished children and of other processes."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return children.ru_utime + children.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def table(result: dict[str, Any]) -> str:
    """The results in Markdown."""
    rows = [
        "| embedding | passages/s | ratio | s | processor s | start, s | start of the cluster, s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    usual = result["ways"]["as usual"]["per_second"]
    for variant, figures in result["ways"].items():
        cluster = f"{figures['cluster']:.1f}" if figures["cluster"] else "–"
        rates = f"{figures['per_second']:.0f} | {figures['per_second'] / usual:.2f}"
        seconds = f"{figures['seconds']:.1f} | {figures['processor']:.1f} | {figures['start']:.1f}"
        rows.append(f"| {variant} | {rates} | {seconds} | {cluster} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Run the command line."""
    parser = result_parser(__doc__, "corpus")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    write_result(provenance("workers") | {"ways": measure(options.corpus, options.runs)}, options.out)


if __name__ == "__main__":
    main()
