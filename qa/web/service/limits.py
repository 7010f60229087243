"""How much is done at once and how long it may take: the rest is refused at once, with when to come again."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.exceptions import HTTPException

_T = TypeVar("_T")


class Lane:
    """Work of one kind, done by a few threads; a line of limited length waits for them.

    Args:
        name: Of its threads.
        workers: How many work at once.
        places: How many requests are in it at most, at work or waiting.
        each: How many of them one client may have.
        seconds: How long a request may wait and work.
    """

    def __init__(self, name: str, *, workers: int, places: int, each: int, seconds: float) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=f"qa-{name}")
        self._places, self._each, self._seconds = places, each, seconds
        self._clients: Counter[str] = Counter()

    async def run(self, client: str, call: Callable[[], _T]) -> _T:
        """Return what a call returns, once a thread had time for it.

        Raises:
            HTTPException: 429 if this client has too many requests open, 503 if all have, or if time is over.
        """
        if self._clients[client] >= self._each:
            raise HTTPException(429, f"you have {self._each} requests in progress. Try again when one is done.")
        if self._clients.total() >= self._places:
            raise HTTPException(503, f"the server is busy ({self._places} requests). Try again in a moment.")
        loop = asyncio.get_running_loop()
        self._clients[client] += 1
        future = self._threads.submit(call)
        # Not before the thread is done: a client that gave up does not make room for another.
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._leave, client))
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise HTTPException(503, f"no answer within {self._seconds:g} s. Try again in a moment.") from None

    def close(self) -> None:
        """Start nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _leave(self, client: str) -> None:
        self._clients[client] -= 1
        if not self._clients[client]:
            del self._clients[client]


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
