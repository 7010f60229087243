"""What the routes share: the collection, and the threads that work on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request

from qa.web.limits import Lane
from qa.web.served import Served, ServedCollection

_T = TypeVar("_T")


class Service:
    """Answers requests from the newest state of a collection; see `Lane.run` for what it refuses."""

    def __init__(self, collection: ServedCollection) -> None:
        self.collection = collection
        self._questions = Lane("questions", workers=1, places=128, each=64, seconds=30)

    async def run(self, request: Request, call: Callable[[Served], _T], *, slow: bool = False) -> _T:
        """Return what a call with the newest state returns."""
        client = request.client.host if request.client else ""
        return await self._questions.run(client, lambda: call(self.collection.current()))

    def close(self) -> None:
        """Start nothing more, and close the index."""
        self._questions.close()
        self.collection.close()
