"""Work that goes on beside the caller's own: while the model reads a question, its words are looked up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Ahead(Generic[Result]):
    """A call that a thread of its own makes at once.

    Args:
        call: What to do; it must not use what belongs to the caller's thread, such as a connection to SQLite.
    """

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call = call
        self._found: list[Result] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="ahead", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found.append(self._call())
        except BaseException as error:  # raised where the result is asked for
            self._error = error

    def result(self) -> Result:
        """Wait for what the call returns, as often as it is asked for.

        Raises:
            As the call.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found[0]
