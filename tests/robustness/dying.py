"""Kill a process at its nth operation on the database or on a file, whoever asks for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

_T = TypeVar("_T")
# What changes something that outlives the process, or may.
_OPERATIONS = frozenset(
    {
        "Connection.execute",
        "Connection.executemany",
        "Connection.executescript",
        "Connection.close",
        "ftruncate",
        "fsync",
        "mkdir",
        "open",
        "rename",
        "replace",
        "unlink",
        "write",
    }
)


def dying_at(place: int, task: Callable[[], _T]) -> Callable[[], _T]:
    """The task, but the process is gone before its nth operation (counted from 1); for use in a child.

    Threads that the task starts are not looked at: all writing happens in its own.
    """

    def doomed() -> _T:
        left = place

        def look(_: FrameType, event: str, called: Any) -> None:
            nonlocal left
            if event == "c_call" and called.__qualname__ in _OPERATIONS:
                left -= 1
                if not left:
                    os._exit(9)

        sys.setprofile(look)
        try:
            return task()
        finally:
            sys.setprofile(None)

    return doomed
