"""Kill a process at its nth operation on the database or on a file, wherever in the code that is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

_T = TypeVar("_T")
# Calls that may change something that outlives the process.
_OPERATIONS = {
    *("Connection.execute", "Connection.executemany", "Connection.executescript", "Connection.close"),
    *("ftruncate", "fsync", "mkdir", "open", "rename", "replace", "unlink", "write"),
}


def dying_at(place: int, task: Callable[[], _T]) -> Callable[[], _T]:
    """The task, with the process killed before its nth operation (counted from 1); for use in a child process.

    Threads that the task starts are not watched: all writing happens in its own thread.
    """

    def doomed() -> _T:
        left = place

        def count_down(_: FrameType, event: str, called: Any) -> None:
            nonlocal left
            if event == "c_call" and called.__qualname__ in _OPERATIONS:
                left -= 1
                if not left:
                    os._exit(9)

        sys.setprofile(count_down)
        try:
            return task()
        finally:
            sys.setprofile(None)

    return doomed
