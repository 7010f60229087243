"""What the routes share: the collection, and the threads that work on it."""

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
    """Answers requests from the newest state of a collection; see `Lane.run` for what it refuses."""

    def __init__(self, collection: ServedCollection) -> None:
        self.collection = collection
        self._questions = Lane("question", workers=2 * cores(), places=128, each=64, seconds=60)
        # What looks at the whole collection: it delays no question, and does not pile up.
        self._looks = Lane("look", workers=1, places=8, each=4, seconds=120)

    async def run(self, request: Request, call: Callable[[Served], _T], *, slow: bool = False) -> _T:
        """Return what a call with the newest state returns; one that looks at the whole collection is slow."""
        client = request.client.host if request.client else ""
        lane = self._looks if slow else self._questions

        def answer() -> _T:
            try:
                with self.collection.reading() as served:
                    return call(served)
            except UsageError as error:
                raise type(error)(without_folder(str(error), self.collection.root)) from error

        return await lane.run(client, answer)

    def close(self) -> None:
        """Start nothing more."""
        self._questions.close()
        self._looks.close()
