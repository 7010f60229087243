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

# Seconds to find a scheduler, and to wait for a worker while it has none, at the start or after all are lost.
_CONNECT, _WAIT = 10, 60
# Seconds between counts of the workers: batches sent beyond their number are lost if the build dies.
_COUNT_INTERVAL = 5
_RERUN = "What was embedded is kept: run it again."


class DaskCluster:
    """The workers of a Dask cluster, wherever they are; they may join and leave at any time.

    Dask passes the batch of a lost worker to another one, up to four times.

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
        # Dask would log and warn at length about errors that are reported here in one line.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._client = _connected(partial(Client, address, timeout=_CONNECT, set_as_default=False))
        except (OSError, ValueError) as error:
            reason = str(error) or "nothing there answers like one"  # a timeout says nothing
            raise UsageError(f"there is no Dask scheduler at {address}: {reason}.") from error
        self._threads, self._last_count = 1, float("-inf")
        try:
            self._client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError as error:
            self.close()
            raise UsageError(f"{self._place} has no workers. Start some: dask worker {address}") from error

    @property
    def batches(self) -> int:
        """The number of threads that the workers have."""
        if time.monotonic() > self._last_count + _COUNT_INTERVAL:
            with contextlib.suppress(Exception):  # `embed` reports errors
                self._threads = max(1, self._count())
            self._last_count = time.monotonic()
        return self._threads

    def embed(self, job: Job, texts: Sequence[str]) -> Embedded:
        """Have a batch embedded; see `WorkerPool.embed`."""
        try:
            future = self._client.submit(embed, job, list(texts), pure=False)
            while True:
                with contextlib.suppress(TimeoutError):
                    found: Embedded = future.result(timeout=_WAIT)
                    return found
                if not self._count():
                    raise StorageError(f"{self._place} has no workers left. {_RERUN}")
        except QAError:
            raise
        except Exception as error:
            raise StorageError(f"{self._place} {_reason(error)}. {_RERUN}") from error

    def _count(self) -> int:
        """Return the number of threads of all workers."""
        return sum(self._client.sync(self._client.scheduler.ncores, callback_timeout=_CONNECT).values())

    def close(self) -> None:
        """Disconnect from the cluster; unfinished batches are dropped."""
        with contextlib.suppress(Exception):  # it may be gone
            self._client.close()


def _connected(connect: Callable[[], Any]) -> Any:
    """Return a client, or raise TimeoutError: Dask waits for ever on a server that accepts but does not answer."""
    found: Future[Any] = Future()

    def run() -> None:
        try:
            found.set_result(connect())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return found.result(timeout=2 * _CONNECT)


def _reason(error: Exception) -> str:
    """Return what went wrong, for the many kinds of errors that Dask raises."""
    name = type(error).__name__
    if name == "KilledWorker":
        return "lost four workers over the same texts. Is there enough memory?"
    if isinstance(error, TimeoutError):
        return "does not answer"
    if isinstance(error, CancelledError | OSError) or name == "ClosedClientError":
        return "is gone"
    # For example, a function is missing on a worker.
    return f"cannot embed ({name}: {' '.join(str(error).split())}). Has every worker the same version of qa?"
