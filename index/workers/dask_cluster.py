"""Workers that are a Dask cluster: the only module that imports `distributed`."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from corpus.errors import QAError, StorageError, UsageError
from index.workers.job import Embedded, Job, embed

# Seconds to find a scheduler, and to wait for a worker where it has none, at the beginning and when all are gone.
_CONNECT, _WAIT = 10, 60
# So often its workers are counted: what is sent ahead of need is lost with the build.
_COUNTED = 5
_KEPT = "What was embedded is kept: run it again."


class DaskCluster:
    """The workers of a Dask cluster, wherever they are; they come and go as they like.

    Dask gives the batch of a worker that is lost to another one, four times.

    Args:
        address: Of its scheduler.

    Raises:
        UsageError: There is no scheduler there, it has other versions of Dask or no workers, or Dask is not installed.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise UsageError("--dask needs the package distributed: pip install 'qa-passages[dask]'") from error
        self._place = f"the Dask cluster at {address}"
        # It logs and warns of what is reported here in one line.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._client = _connected(partial(Client, address, timeout=_CONNECT, set_as_default=False))
        except TimeoutError as error:
            # On a busy machine Dask's own attempts may end without a word of why.
            if (refused := _refused(address)) is not None:
                raise UsageError(f"there is no Dask scheduler at {address}: {refused}.") from error
            raise UsageError(f"what listens at {address} does not answer as a Dask scheduler does.") from error
        except (OSError, ValueError) as error:
            raise UsageError(f"there is no Dask scheduler at {address}: {error}.") from error
        self._threads, self._counted = 1, float("-inf")
        try:
            self._client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError as error:
            self.close()
            raise UsageError(f"{self._place} has no workers. Start some: dask worker {address}") from error

    @property
    def batches(self) -> int:
        """As many as the workers have threads."""
        if time.monotonic() > self._counted + _COUNTED:
            with contextlib.suppress(Exception):  # what is wrong is said by `embed`
                self._threads = max(1, self._count())
            self._counted = time.monotonic()
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
                    raise StorageError(f"{self._place} has no workers left. {_KEPT}")
        except QAError:
            raise
        except Exception as error:
            raise StorageError(f"{self._place} {_reason(error)}. {_KEPT}") from error

    def _count(self) -> int:
        """Threads of all workers."""
        asked = self._client.scheduler.ncores
        return sum(self._client.sync(asked, callback_timeout=_CONNECT).values())

    def close(self) -> None:
        """Let go of the cluster; what it still embeds is dropped."""
        with contextlib.suppress(Exception):  # it may be gone
            self._client.close()


def _connected(connect: Callable[[], Any]) -> Any:
    """A client, or TimeoutError: Dask itself waits for ever where a connection is taken and nothing answers."""
    found: Future[Any] = Future()

    def run() -> None:
        try:
            found.set_result(connect())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return found.result(timeout=2 * _CONNECT)


def _reason(error: Exception) -> str:
    """What went wrong, of the many kinds of errors that Dask has."""
    name = type(error).__name__
    if name == "KilledWorker":
        return "lost four workers over the same texts. Is there enough memory?"
    if isinstance(error, TimeoutError):
        return "does not answer"
    if isinstance(error, CancelledError | OSError) or name == "ClosedClientError":
        return "is gone"
    # Such as functions that a worker does not have.
    return f"cannot embed ({name}: {' '.join(str(error).split())}). Has every worker the same version of qa?"


def _refused(address: str) -> OSError | None:
    """Why nothing can be reached at an address; None where something listens."""
    place = urlsplit(address)
    try:
        socket.create_connection((place.hostname or "", place.port or 0), timeout=_CONNECT).close()
    except OSError as error:
        return error
    return None
