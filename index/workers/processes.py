"""Workers that are processes of this machine: each has its share of the cores, and is replaced when it dies."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from queue import SimpleQueue

from corpus.errors import QAError, StorageError
from index.workers.job import Embedded, Job, embed

_LOG = logging.getLogger(__name__)

# So many processes may die over one batch.
_ATTEMPTS = 3
_GPUS = "CUDA_VISIBLE_DEVICES"


class Processes:
    """So many processes, each started with its first batch; threads take turns with them."""

    def __init__(self, count: int) -> None:
        self.batches = count
        self._all = [_Worker(cores, number) for number, cores in enumerate(shares(count))]
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._all:
            self._idle.put(worker)

    def embed(self, job: Job, texts: Sequence[str]) -> Embedded:
        """Have a batch embedded; see `WorkerPool.embed`."""
        worker = self._idle.get()
        try:
            for _ in range(_ATTEMPTS):
                try:
                    return worker.embed(job, texts)
                except (EOFError, OSError):
                    _LOG.info("a worker died; its batch is embedded again")
                    worker.close()
        finally:
            self._idle.put(worker)
        raise StorageError(
            f"{_ATTEMPTS} worker processes died over the same {len(texts)} texts. Is there enough memory? What they "
            "finished is kept: run it again with fewer workers, or without."
        )

    def close(self) -> None:
        """End all processes, even while they embed."""
        for worker in self._all:
            worker.close()


class _Worker:
    """A process that embeds one batch after the other; after `close`, the next batch starts another."""

    def __init__(self, cores: Sequence[int], number: int) -> None:
        self._cores = cores
        self._number = number
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def embed(self, job: Job, texts: Sequence[str]) -> Embedded:
        """Embed; raises EOFError or OSError where the process has died."""
        pipe = self._pipe or self._start()
        pipe.send((job, list(texts)))
        found: Embedded | QAError = pipe.recv()
        if isinstance(found, QAError):
            raise found
        return found

    def _start(self) -> Connection:
        # Not forked: this process has threads, of OpenVINO among others.
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        with theirs, _without_interrupts():
            self._process = spawn.Process(target=_serve, args=(theirs, self._cores, self._number), daemon=True)
            self._process.start()
        return self._pipe

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """What is started here gets no Ctrl-C, which is for the process that coordinates, even while it still imports."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # When it starts, which it does with the first process, it lets the signal through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def shares(count: int) -> list[list[int]]:
    """The cores of each of so many processes, by number; with more processes than cores, some have the same one."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    size = len(cores)
    return [cores[i * size // count : (i + 1) * size // count] or cores[i % max(size, 1) :][:1] for i in range(count)]


def _serve(pipe: Connection, cores: Sequence[int], number: int) -> None:
    """Embed what comes until the pipe closes, as it does when the other process is gone."""
    # Where it could not be held back.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if cores:
        # Every library counts those and starts as many threads.
        os.sched_setaffinity(0, cores)
    gpus = os.environ.get(_GPUS, "").split(",")
    os.environ |= {_GPUS: gpus[number % len(gpus)]} if len(gpus) > 1 else {}
    with contextlib.suppress(EOFError, OSError):
        while True:
            job, texts = pipe.recv()
            found: Embedded | QAError
            try:
                found = embed(job, texts)
            except QAError as error:
                found = error
            pipe.send(found)
