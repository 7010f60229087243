"""The service behind all routes: a collection, and the threads that answer from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request

from corpus.errors import UsageError
from qa.collection.served import Served, ServedCollection
from qa.web.service.limits import Lane, cores
from qa.web.service.private import without_folder

_T = TypeVar("_T")


class Service:
    """Answers requests from the newest state of a collection, within the limits of `Lane.run`."""

    def __init__(self, collection: ServedCollection) -> None:
        self.collection = collection
        self._questions = Lane("question", workers=2 * cores(), capacity=128, per_client=64, seconds=60)
        # Requests that read the whole collection must neither delay questions nor pile up.
        self._slow_requests = Lane("slow", workers=1, capacity=8, per_client=4, seconds=120)

    async def run(self, request: Request, call: Callable[[Served], _T], *, slow: bool = False) -> _T:
        """Call with the newest state and return the result; `slow` is for calls that read the whole collection."""
        client = request.client.host if request.client else ""
        lane = self._slow_requests if slow else self._questions

        def answer() -> _T:
            try:
                with self.collection.reading() as served:
                    return call(served)
            except UsageError as error:
                raise type(error)(without_folder(str(error), self.collection.root)) from error

        return await lane.run(client, answer)

    def close(self) -> None:
        """Cancel waiting requests and accept no more."""
        self._questions.close()
        self._slow_requests.close()
