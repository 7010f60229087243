"""Running something in a forked process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable


def exit_code_in_fork(act: Callable[[], object]) -> int:
    """Fork, and return how the child ends after the act; one that hangs is killed."""
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.alarm(20)
            act()
            code = 0
        finally:
            os._exit(code)  # else a failing child would run the rest of the tests
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
