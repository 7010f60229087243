"""Workers on a Dask cluster; the only module that imports `distributed`."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import Any

from corpus.errors import QAError, StorageError, UsageError
from index.workers.job import Embedded, Job, embed

# How long to wait for a scheduler, and for workers if it has none, at the start or after all are lost.
_CONNECT_SECONDS, _WORKER_SECONDS = 10, 60
# Time between counts of the workers: batches sent beyond their number are lost if the build dies.
_COUNT_SECONDS = 5
_RERUN = "What was embedded is kept: run it again."


class DaskCluster:
    """The workers of a Dask cluster, wherever they are; they may join and leave at any time.

    Dask hands the batch of a lost worker to another one, up to four times.

    Args:
        address: The address of the scheduler.

    Raises:
        UsageError: No scheduler is there, its Dask versions differ, it has no workers, or Dask is not installed.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise UsageError("--dask needs the package distributed: pip install 'qa-passages[dask]'") from error
        self._place = f"the Dask cluster at {address}"
        # Dask would log and warn at length about errors that are reported in one line here.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._client = _with_timeout(partial(Client, address, timeout=_CONNECT_SECONDS, set_as_default=False))
        except (OSError, ValueError) as error:
            reason = str(error) or "no answer"  # a timeout has no message
            raise UsageError(f"there is no Dask scheduler at {address}: {reason}.") from error
        self._threads, self._last_count = 1, float("-inf")
        try:
            self._client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError as error:
            self.close()
            raise UsageError(f"{self._place} has no workers. Start some: dask worker {address}") from error

    @property
    def batches(self) -> int:
        """The number of threads of all workers, counted now and then."""
        if time.monotonic() > self._last_count + _COUNT_SECONDS:
            with contextlib.suppress(Exception):  # `embed` reports errors
                self._threads = max(1, self._count_threads())
            self._last_count = time.monotonic()
        return self._threads

    def embed(self, job: Job, texts: Sequence[str]) -> Embedded:
        """Have a batch embedded; see `WorkerPool.embed`."""
        try:
            future = self._client.submit(embed, job, list(texts), pure=False)
            while True:
                with contextlib.suppress(TimeoutError):
                    embedded: Embedded = future.result(timeout=_WORKER_SECONDS)
                    return embedded
                if not self._count_threads():
                    raise StorageError(f"{self._place} has no workers left. {_RERUN}")
        except QAError:
            raise
        except Exception as error:
            raise StorageError(f"{self._place} {_describe(error)}. {_RERUN}") from error

    def _count_threads(self) -> int:
        """Return the number of threads of all workers."""
        return sum(self._client.sync(self._client.scheduler.ncores, callback_timeout=_CONNECT_SECONDS).values())

    def close(self) -> None:
        """Disconnect from the cluster; unfinished batches are dropped."""
        with contextlib.suppress(Exception):  # it may be gone
            self._client.close()


def _with_timeout(connect: Callable[[], Any]) -> Any:
    """Return a client, or raise TimeoutError: Dask waits for ever if a server accepts but does not answer."""
    client: Future[Any] = Future()

    def run() -> None:
        try:
            client.set_result(connect())
        except BaseException as error:
            client.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return client.result(timeout=2 * _CONNECT_SECONDS)


def _describe(error: Exception) -> str:
    """Describe any of the many kinds of errors that Dask raises."""
    name = type(error).__name__
    if name == "KilledWorker":
        return "lost four workers over the same texts. Is there enough memory?"
    if isinstance(error, TimeoutError):
        return "does not answer"
    if isinstance(error, CancelledError | OSError) or name == "ClosedClientError":
        return "is gone"
    # For example, a worker lacks a function.
    return f"cannot embed ({name}: {' '.join(str(error).split())}). Has every worker the same version of qa?"
