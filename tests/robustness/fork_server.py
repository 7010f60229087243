"""Children of a process that has imported everything and never started a thread.

Threads that FAISS has started in a process are not there in its forks, where what would share out work among them waits
forever. So whatever may do such work is not forked from the process of the tests, which may have asked FAISS anything
before: it is sent, pickled, to a process that does nothing but fork.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tests.robustness import process as forks
from tests.robustness.process import Ended

_T = TypeVar("_T")
# What trials import when they need it: once here, not in every child.
_NEEDED = (
    "corpus.readers.plaintext.markdown",
    "corpus.readers.plaintext.plain",
    "faiss",
    "index.update.update",
    "numpy.ma",
    "pathspec",
    "qa.collection.check",
    "tests.robustness.bit_flips",
)
# Not even those that libraries start when they are loaded.
_ALONE = {"OPENBLAS_NUM_THREADS": "1"}


class Nursery:
    """A process that forks; it ends with this one, or when it is closed.

    Args:
        environ: Variables that it has besides.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        # What is pickled by its name is found there as it is here.
        paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", __name__]
        whole = {**os.environ, **_ALONE, **paths, **(environ or {})}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=whole)

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let it end."""
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()

    def run(self, task: Callable[[], object], *, seconds: float, memory: int | None = None) -> Ended:
        """As `forks.run`, but in a fork of that process; the task is pickled: no lambda, no function in another."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("it has no streams")
        pickle.dump((task, seconds, memory), self._process.stdin)
        self._process.stdin.flush()
        ended: Ended = pickle.load(self._process.stdout)  # noqa: S301 - our own child's
        return ended

    def value_of(self, task: Callable[[], _T], *, seconds: float = 60) -> _T:
        """The value of a task.

        Raises:
            RuntimeError: It failed; the message is the child's.
        """
        value: _T = forks.value_in(self.run(task, seconds=seconds))
        return value


@functools.cache
def _shared() -> Nursery:
    nursery = Nursery()
    atexit.register(nursery.close)
    return nursery


def run(task: Callable[[], object], *, seconds: float, memory: int | None = None) -> Ended:
    """`Nursery.run` of the one that all tests share."""
    return _shared().run(task, seconds=seconds, memory=memory)


def value_of(task: Callable[[], _T], *, seconds: float = 60) -> _T:
    """`Nursery.value_of` of the one that all tests share."""
    return _shared().value_of(task, seconds=seconds)


def _serve() -> None:
    """Fork for each task that comes in, until no more come."""
    asked, answered = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a task prints is no answer
    for name in _NEEDED:
        importlib.import_module(name)
    gc.freeze()  # or each child would copy what it looks through
    while True:
        try:
            task, seconds, memory = pickle.load(asked)  # noqa: S301 - our own parent's
        except EOFError:
            return
        ended: Any = forks.run(task, seconds=seconds, memory=memory)
        pickle.dump(ended, answered)
        answered.flush()


if __name__ == "__main__":
    _serve()
