"""Work in a process of its own, forked from one that has everything imported, so that it starts in milliseconds."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from corpus.errors import QAError


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended.

    Attributes:
        status: Its exit status; minus the signal that ended it.
        value: What the work returned, through JSON, or None.
        error: The class of what it raised, or "".
        message: With that: its message, and the trace of what should not have come out.
        typed: Whether it was a `QAError`.
        late: Whether it had to be ended because its time was up.
    """

    status: int
    value: Any = None
    error: str = ""
    message: str = ""
    typed: bool = False
    late: bool = False


class Fork:
    """A process that does some work and reports how it ended.

    Args:
        work: Returns what JSON can hold.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self._reading, writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(self._reading)
            _report(writing, work)
        os.close(writing)

    def kill(self) -> None:
        """End it at once, as a system without memory would."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, seconds: float = 60.0) -> Ended:
        """Wait until it has ended; it is ended when its time is up."""
        data, late = b"", False
        deadline = time.monotonic() + seconds
        while True:
            ready, _, _ = select.select([self._reading], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                late = True
                self.kill()
                break
            chunk = os.read(self._reading, 1 << 16)
            if not chunk:
                break
            data += chunk
        os.close(self._reading)
        _, ended = os.waitpid(self.pid, 0)
        report = json.loads(data) if data.endswith(b"}") and not late else {}
        return Ended(os.waitstatus_to_exitcode(ended), late=late, **report)


def in_fork(work: Callable[[], Any], *, seconds: float = 60.0) -> Ended:
    """Do some work in another process and wait for it."""
    return Fork(work).wait(seconds)


def value_of(work: Callable[[], Any]) -> Any:
    """What some work returns in another process; it must succeed."""
    ended = in_fork(work)
    if ended.status or ended.error:
        raise RuntimeError(f"{ended.error} {ended.message} (status {ended.status})")
    return ended.value


def _report(descriptor: int, work: Callable[[], Any]) -> None:
    try:
        report = {"value": work()}
    except QAError as error:
        report = {"error": type(error).__name__, "message": str(error), "typed": True}
    except BaseException as error:
        report = {"error": type(error).__name__, "message": "".join(traceback.format_exception(error))}
    data = json.dumps(report).encode()
    while data:
        data = data[os.write(descriptor, data) :]
    os._exit(0)
