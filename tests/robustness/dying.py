"""Kill a process at its nth operation on the database or a file, wherever in the code that is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

_T = TypeVar("_T")
# Calls that may change what outlives the process.
_OPERATIONS = {
    *("Connection.execute", "Connection.executemany", "Connection.executescript", "Connection.close"),
    *("ftruncate", "fsync", "mkdir", "open", "rename", "replace", "unlink", "write"),
}


def killed_at(number: int, task: Callable[[], _T]) -> Callable[[], _T]:
    """Return a task that kills its process before its nth operation, counted from 1; run it in a child process.

    Threads that the task starts are not watched, as the index is written by the thread that runs it.
    """

    def run_until_killed() -> _T:
        remaining = number

        def count_down(_: FrameType, event: str, function: Any) -> None:
            nonlocal remaining
            if event == "c_call" and function.__qualname__ in _OPERATIONS:
                remaining -= 1
                if not remaining:
                    os._exit(9)

        sys.setprofile(count_down)
        try:
            return task()
        finally:
            sys.setprofile(None)

    return run_until_killed
