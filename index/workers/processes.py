"""Worker processes on this machine: each gets a share of the cores, and is replaced if it dies."""

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

# How many processes may die over the same batch.
_ATTEMPTS = 3
_GPUS = "CUDA_VISIBLE_DEVICES"


class Processes:
    """A fixed number of processes, each started with its first batch and used by one thread at a time."""

    def __init__(self, count: int) -> None:
        self.batches = count
        self._workers = [_Worker(cores, number) for number, cores in enumerate(divide_cores(count))]
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
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
            "finished is kept: run it again with fewer workers, or none."
        )

    def close(self) -> None:
        """Kill all processes, even while they embed."""
        for worker in self._workers:
            worker.close()


class _Worker:
    """A process that embeds one batch at a time; after `close`, the next batch starts a new process."""

    def __init__(self, cores: Sequence[int], number: int) -> None:
        self._cores = cores
        self._number = number
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def embed(self, job: Job, texts: Sequence[str]) -> Embedded:
        """Embed a batch; raises EOFError or OSError if the process has died."""
        pipe = self._pipe or self._start()
        pipe.send((job, list(texts)))
        reply: Embedded | QAError = pipe.recv()
        if isinstance(reply, QAError):
            raise reply
        return reply

    def _start(self) -> Connection:
        # Not forked, because this process has threads, such as OpenVINO's.
        spawn = multiprocessing.get_context("spawn")
        self._pipe, child_end = spawn.Pipe()
        with child_end, _without_interrupts():
            self._process = spawn.Process(target=_serve, args=(child_end, self._cores, self._number), daemon=True)
            self._process.start()
        return self._pipe

    def close(self) -> None:
        """Kill the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Shield processes started here from Ctrl-C, even during their imports: it is for the coordinating process."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Started first, because otherwise the first process starts it, which unblocks the signal.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def divide_cores(count: int) -> list[list[int]]:
    """Divide the cores among `count` processes, by number; if there are fewer cores, some processes share one."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    size = len(cores)
    return [cores[i * size // count : (i + 1) * size // count] or cores[i % max(size, 1) :][:1] for i in range(count)]


def _serve(pipe: Connection, cores: Sequence[int], number: int) -> None:
    """Embed batches until the pipe closes, as it does when the coordinating process ends."""
    # For systems where the signal could not be blocked.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if cores:
        # All libraries size their thread pools by these.
        os.sched_setaffinity(0, cores)
    gpus = os.environ.get(_GPUS, "").split(",")
    os.environ |= {_GPUS: gpus[number % len(gpus)]} if len(gpus) > 1 else {}
    with contextlib.suppress(EOFError, OSError):
        while True:
            job, texts = pipe.recv()
            reply: Embedded | QAError
            try:
                reply = embed(job, texts)
            except QAError as error:
                reply = error
            pipe.send(reply)
