"""Limits on concurrent requests and their time; further requests are refused at once, with a time to retry."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from starlette.exceptions import HTTPException

_T = TypeVar("_T")


class Lane:
    """A thread pool for one kind of work, with a bounded queue.

    Args:
        name: Names its threads.
        workers: How many threads it has.
        capacity: How many requests it holds at most, running or waiting.
        per_client: How many of them may be of the same client.
        seconds: How long a request may wait and run.
    """

    def __init__(self, name: str, *, workers: int, capacity: int, per_client: int, seconds: float) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=f"qa-{name}")
        self._capacity, self._per_client, self._seconds = capacity, per_client, seconds
        self._open_requests: Counter[str] = Counter()

    async def run(self, client: str, call: Callable[[], _T]) -> _T:
        """Run a call in a thread and return its result.

        Raises:
            HTTPException: 429 if this client has too many open requests, 503 if all together have, if time is up, or if
                the lane is closed.
        """
        if self._open_requests[client] >= self._per_client:
            raise HTTPException(429, f"you have {self._per_client} requests in progress. Try again when one is done.")
        if self._open_requests.total() >= self._capacity:
            raise HTTPException(503, f"the server is busy ({self._capacity} requests). Try again in a moment.")
        try:
            future = self._threads.submit(call)
        except RuntimeError:
            raise HTTPException(503, "the server is stopping. Try again when it runs again.") from None
        self._open_requests[client] += 1
        # Only when the thread is done: a client that gives up frees no slot while its call still runs.
        future.add_done_callback(partial(self._call_done, asyncio.get_running_loop(), client))
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise HTTPException(503, f"no answer within {self._seconds:g} s. Try again in a moment.") from None

    def close(self) -> None:
        """Cancel waiting requests and accept no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _call_done(self, loop: asyncio.AbstractEventLoop, client: str, _: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the server has stopped
            loop.call_soon_threadsafe(self._free_slot, client)

    def _free_slot(self, client: str) -> None:
        self._open_requests[client] -= 1
        if not self._open_requests[client]:
            del self._open_requests[client]


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
