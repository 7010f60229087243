"""Run something in a child process with limits on time and memory, and see how it ended."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

_T = TypeVar("_T")
# Seconds by the clock, more than those of the processor: for a machine that is busy with much else.
_PATIENCE = 30.0
# Stacks and arenas of threads reserve addresses that they do not use.
_RESERVED = 1 << 30
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended.

    Attributes:
        value: What the task returned, where it did.
        error: The exception that left it, as text.
        out_of_memory: Whether that was a MemoryError.
        signal: What killed it, or 0.
        grown: Bytes by which it was larger at its largest than at its beginning.
        seconds: How long it took.
    """

    value: Any
    error: str
    out_of_memory: bool
    signal: int
    grown: int
    seconds: float


def run(task: Callable[[], object], *, seconds: float, memory: int | None = None) -> Ended:
    """Run a task in a fork of this process; the task's value comes back pickled.

    Args:
        task: Runs in the child only.
        seconds: SIGPROF ends the child after so long of the processor's time, SIGALRM some time later by the clock.
        memory: Bytes of address space the child may use beyond what this process has and threads reserve.
    """
    started = time.monotonic()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.close(reading)
            _child(task, writing, seconds, memory)
        os._exit(70)
    os.close(writing)
    with open(reading, "rb") as stream:  # noqa: PTH123 - a descriptor
        data = stream.read()
    _, status, used = os.wait4(child, 0)
    before, data = int.from_bytes(data[:8], "little"), data[8:]
    value, error, out_of_memory = pickle.loads(data) if data else (None, "", False)  # noqa: S301 - our own child's
    killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if not killed and os.WEXITSTATUS(status):
        error = error or f"exit code {os.WEXITSTATUS(status)}"
    grown = used.ru_maxrss * 1024 - before
    return Ended(value, error, out_of_memory, killed, grown, time.monotonic() - started)


def in_child(task: Callable[[], _T], *, seconds: float = 60) -> _T:
    """The value of a task that leaves no thread and no open file behind in this process.

    Raises:
        RuntimeError: It failed; the message is the child's.
    """
    value: _T = value_in(run(task, seconds=seconds))
    return value


def value_in(ended: Ended) -> Any:
    """What a task returned.

    Raises:
        RuntimeError: It failed; the message is the child's.
    """
    if ended.error or ended.signal:
        raise RuntimeError(ended.error or f"killed by {signal.Signals(ended.signal).name}")
    return ended.value


def _child(task: Callable[[], object], writing: int, seconds: float, memory: int | None) -> None:
    os.write(writing, _resident().to_bytes(8, "little"))
    # Said to nobody, but said: messages are put together.
    logging.getLogger("index").addHandler(logging.NullHandler())
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    # Of the processor's time; by the clock, a machine may be busy with other things.
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE + 5 * seconds)
    if memory is not None:
        limit = _addresses() + memory + _RESERVED
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    answer: tuple[object, str, bool]
    try:
        answer = (task(), "", False)
    except BaseException as error:
        answer = (None, f"{type(error).__name__}: {error}{_place(error)}", isinstance(error, MemoryError))
    for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF):
        signal.setitimer(timer, 0)
    data = pickle.dumps(answer)
    while data:
        data = data[os.write(writing, data) :]
    os._exit(0)


def _place(error: BaseException) -> str:
    """The innermost line of this project that an exception came through."""
    found, trace = "", error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.parent.name in ("corpus", "index", "qa"):
            found = f" [{path.parent.name}/{path.name}:{trace.tb_lineno}]"
        trace = trace.tb_next
    return found


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def _addresses() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE
