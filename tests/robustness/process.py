"""Run tasks in separate processes with limits on time and memory, and report how each process ended.

`in_fork` forks this process. A fork has none of its parent's threads, so FAISS would wait for its threads forever;
therefore tests, whose process may have used FAISS, send pickled tasks to a `ForkServer`, which has everything imported,
never starts a thread and does nothing but fork.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import logging
import os
import pickle
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from corpus.errors import QAError

_T = TypeVar("_T")
# Seconds of wall-clock time allowed beyond five times the processor time, as the machine may be busy.
_PATIENCE = 300.0
# Thread stacks and arenas reserve address space that they do not use.
_RESERVED = 1 << 30
_PAGE = os.sysconf("SC_PAGE_SIZE")
# Modules that the program imports lazily: the server imports them once, so that no fork has to.
_LAZY_MODULES = (
    "corpus.readers.plaintext.markdown",
    "corpus.readers.plaintext.plain",
    "faiss",
    "index.update.update",
    "numpy.ma",
    "pathspec",
    "qa.collection.check",
    "socket",
)
# No threads, not even those that libraries start when they are loaded.
_NO_THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a process ended.

    Attributes:
        status: Its exit status, or minus the signal that killed it.
        value: What the task returned.
        error: The class name of the exception it raised, or "".
        message: The message of a `QAError`, or the traceback of any other exception.
        is_qa_error: Whether the exception was a `QAError`.
        memory: The peak memory of the process in bytes, beyond what it had at the start.
    """

    status: int
    value: Any = None
    error: str = ""
    message: str = ""
    is_qa_error: bool = False
    memory: int = 0

    @property
    def succeeded(self) -> bool:
        return not self.status and not self.error

    @property
    def timed_out(self) -> bool:
        return -self.status in (signal.SIGALRM, signal.SIGPROF)

    @property
    def crashed(self) -> bool:
        """Whether it was killed, or raised an exception other than a `QAError`."""
        return bool(self.status) or bool(self.error and not self.is_qa_error)


class Child:
    """A fork that runs a task.

    Args:
        task: What to run; its value is returned pickled.
        seconds: Processor time after which SIGPROF kills the child; SIGALRM does after more wall-clock time.
        memory: Bytes of address space that the child may use beyond what this process has and threads reserve.
    """

    def __init__(self, task: Callable[[], object], *, seconds: float = 60.0, memory: int | None = None) -> None:
        self._read_end, write_end = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(self._read_end)
            _run_child(task, write_end, seconds, memory)
        os.close(write_end)

    def kill(self) -> None:
        """Kill it, as the system does when it is out of memory."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> ProcessResult:
        with open(self._read_end, "rb") as stream:  # noqa: PTH123 - a descriptor
            data = stream.read()
        _, status, usage = os.wait4(self.pid, 0)
        status, before = os.waitstatus_to_exitcode(status), int.from_bytes(data[:8], "little")
        report = pickle.loads(data[8:]) if not status else {}  # noqa: S301 - our own child's
        return ProcessResult(status, memory=usage.ru_maxrss * 1024 - before, **report)


def in_fork(task: Callable[[], object], *, seconds: float = 60.0, memory: int | None = None) -> ProcessResult:
    """Run a task in a fork of this process and wait for it."""
    return Child(task, seconds=seconds, memory=memory).wait()


def value_in_fork(task: Callable[[], _T], *, seconds: float = 60.0) -> _T:
    """Run a task in a fork, and return its value.

    Raises:
        RuntimeError: It failed.
    """
    value: _T = _value_or_error(in_fork(task, seconds=seconds))
    return value


def _value_or_error(result: ProcessResult) -> Any:
    if not result.succeeded:
        raise RuntimeError(f"{result.error} {result.message} (status {result.status})")
    return result.value


def _run_child(task: Callable[[], object], write_end: int, seconds: float, memory: int | None) -> NoReturn:
    gc.freeze()  # collecting inherited garbage would need threads of libraries, which a fork does not have
    with contextlib.suppress(BaseException):
        os.write(write_end, _statm(1).to_bytes(8, "little"))
        # Nobody reads the log messages, but their formatting is tested.
        logging.getLogger("index").addHandler(logging.NullHandler())
        for number in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, _PATIENCE + 5 * seconds)
        if memory is not None:
            limit = _statm(0) + memory + _RESERVED
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        report: dict[str, object]
        try:
            report = {"value": task()}
        except QAError as error:
            report = {"error": type(error).__name__, "message": str(error), "is_qa_error": True}
        except BaseException as error:
            report = {"error": type(error).__name__, "message": "".join(traceback.format_exception(error))}
        data = pickle.dumps(report)
        while data:
            data = data[os.write(write_end, data) :]
        os._exit(0)
    os._exit(70)


def _statm(field: int) -> int:
    """Bytes of address space (0) or of resident memory (1) of this process."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[field]) * _PAGE


def import_lazy_modules() -> None:
    """Import these modules now, so that forks spend no time and no descriptors on it."""
    for name in _LAZY_MODULES:
        importlib.import_module(name)
    gc.freeze()  # or garbage collection would copy these pages in each fork


class ForkServer:
    """A process that forks for each task; it ends with this one, or when it is closed.

    Args:
        environ: Additional environment variables.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        # Functions are pickled by name, so the server must find the same modules.
        paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", "tests.robustness.process"]
        environment = {**os.environ, **_NO_THREADS, **paths, **(environ or {})}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()

    def run(self, task: Callable[[], object], *, seconds: float = 60.0, memory: int | None = None) -> ProcessResult:
        """As `in_fork`, in a fork of the server; the task is pickled, so not a lambda or a nested function."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump((task, seconds, memory), self._process.stdin)
        self._process.stdin.flush()
        result: ProcessResult = pickle.load(self._process.stdout)  # noqa: S301 - our own child's
        return result

    def value_of(self, task: Callable[[], _T], *, seconds: float = 60.0) -> _T:
        """As `value_in_fork`, in a fork of the server."""
        value: _T = _value_or_error(self.run(task, seconds=seconds))
        return value


@functools.cache
def _shared() -> ForkServer:
    server = ForkServer()
    atexit.register(server.close)
    return server


def run(task: Callable[[], object], *, seconds: float = 60.0, memory: int | None = None) -> ProcessResult:
    """`ForkServer.run` on the server that all tests share."""
    return _shared().run(task, seconds=seconds, memory=memory)


def value_of(task: Callable[[], _T], *, seconds: float = 60.0) -> _T:
    """`ForkServer.value_of` on the server that all tests share."""
    return _shared().value_of(task, seconds=seconds)


def _serve() -> None:
    """Fork for each task on stdin, until it is closed."""
    tasks, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keep what tasks print out of the results
    import_lazy_modules()
    from tests.robustness import process  # not as __main__, so that results can be unpickled

    while True:
        try:
            task, seconds, memory = pickle.load(tasks)  # noqa: S301 - our own parent's
        except EOFError:
            return
        pickle.dump(process.in_fork(task, seconds=seconds, memory=memory), results)
        results.flush()


if __name__ == "__main__":
    _serve()
