"""Run a task in a forked process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable


def exit_code_in_fork(task: Callable[[], object]) -> int:
    """Run a task in a fork, and return its exit code; a fork that hangs is killed."""
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.alarm(20)
            task()
            code = 0
        finally:
            os._exit(code)  # otherwise a failing child would run the remaining tests
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
