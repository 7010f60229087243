"""A Dask cluster on localhost: a scheduler and single-threaded workers, each a separate process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.paths import REPOSITORY


@dataclass(slots=True)
class Cluster:
    """A running cluster.

    Attributes:
        folder: Where Dask writes its files.
        port: The scheduler's port.
        scheduler: The scheduler's process.
        workers: The workers' processes, which nothing restarts.
    """

    folder: Path
    port: int
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """The address in the form that `--dask` accepts."""
        return f"tcp://127.0.0.1:{self.port}"

    def add_worker(self, cores: Sequence[int] = ()) -> None:
        """Start a worker, restricted to some of the cores if any are given."""
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder)]
        self.workers.append(_start("worker", self.address, *options, cores=cores))

    def stop(self) -> None:
        """Kill all processes."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def running_cluster(workers: int = 2, *, cores: Sequence[Sequence[int]] = ()) -> Iterator[Cluster]:
    """Yield a cluster that accepts connections; its workers may not have joined yet."""
    with tempfile.TemporaryDirectory(prefix="qa-dask-") as name, socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        reserved.close()
        options = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        cluster = Cluster(Path(name), port, _start("scheduler", *options))
        try:
            for number in range(workers):
                cluster.add_worker(cores[number] if cores else ())
            _wait_for_port(port)
            yield cluster
        finally:
            cluster.stop()


def _start(role: str, *options: str, cores: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "ignore"}
    pinning = ["taskset", "-c", ",".join(map(str, cores))] if cores else []
    return subprocess.Popen(
        [*pinning, sys.executable, "-m", "distributed.cli.dask_" + role, *options],
        env=environment,
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait_for_port(port: int) -> None:
    for _ in range(1200):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise TimeoutError("the scheduler does not start")
