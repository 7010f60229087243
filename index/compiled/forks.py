"""Keep models usable when the process forks: a child inherits no threads, but OpenVINO and torch wait for theirs.

So models are unloaded before a fork, and loaded again on their next use, in both parent and child.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import count
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

# Seconds that a fork waits for another thread to finish with a model.
_WAIT_SECONDS = 5.0


class Forked:
    """An object that prepares for forks of the process."""

    def before_fork(self) -> Callable[[], None]:
        """Prepare for a fork; the returned function is called after it in the parent."""
        return lambda: None

    def in_child(self) -> None:
        """Continue without the parent's threads."""


# By age: newer objects may use older ones, and are called first.
_OBJECTS: weakref.WeakValueDictionary[int, Forked] = weakref.WeakValueDictionary()
_NUMBERS = count()
# Functions to call in the parent after a fork, by the forking thread.
_PARENT_CALLBACKS: dict[int, list[Callable[[], None]]] = {}


def take_part(forked: Forked) -> None:
    """Call an object's methods at forks, as long as it is alive."""
    number = next(_NUMBERS)
    if not number and hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_parent=_resume_parent, after_in_child=_resume_child)
    _OBJECTS[number] = forked


def keep_for_ever(value: object) -> None:
    """Never destroy an object, not even at exit: its destructor would wait for threads that only the parent has."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))


class ForkedLock(Forked):
    """A lock that is free in a forked process, whichever thread of the parent holds it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        take_part(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def in_child(self) -> None:
        """Replace the lock."""
        self._lock = threading.Lock()


class Unloadable(Forked, Generic[T]):
    """An object with its own threads: made on first use, and again on the first use after a fork.

    It is used in a single thread, which ends when it is unloaded, as libraries leave state behind in a thread.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: list[T] = []  # at most one
        self._lock = threading.Lock()
        self._executor = ThreadPoolExecutor(1)
        self._last_call: Future[Any] | None = None
        take_part(self)

    def begin(self) -> None:
        """Start making it in the background."""
        self._last_call = self._executor.submit(self._value)

    def run(self, function: Callable[[T], R]) -> R:
        """Call a function with the object, one call at a time; raises what the function or the making raises."""
        with self._lock:
            self._last_call = future = self._executor.submit(lambda: function(self._value()))
            return future.result()

    def before_fork(self) -> Callable[[], None]:
        """Unload it, unless another thread uses it for too long."""
        lock = self._lock
        if not lock.acquire(timeout=_WAIT_SECONDS):
            return lambda: None
        if self._last_call is None or wait([self._last_call], _WAIT_SECONDS).done:
            self._last_call = None
            self._executor.submit(self._values.clear)
            thread = self._executor.submit(threading.get_native_id).result()
            self._executor.shutdown()
            _wait_for_end(thread)
            self._executor = ThreadPoolExecutor(1)
        return lock.release

    def in_child(self) -> None:
        """Abandon what could not be unloaded."""
        keep_for_ever((self._values, self._executor, self._last_call))
        self._values, self._lock, self._executor, self._last_call = [], threading.Lock(), ThreadPoolExecutor(1), None

    def _value(self) -> T:
        if not self._values:
            self._values.append(self._make())
        return self._values[0]


def _wait_for_end(thread: int) -> None:
    """Wait until the operating system has ended a thread, where it lists them.

    Before Python 3.13, joining a thread does not wait for the destructors of its thread-local data. OpenVINO's hold a
    lock, which a fork would leave locked in the child, so that it hangs at exit.
    """
    task, deadline = Path(f"/proc/self/task/{thread}"), time.monotonic() + _WAIT_SECONDS
    while task.exists() and time.monotonic() < deadline:
        time.sleep(0.001)


def _newest_first() -> list[Forked]:
    return [forked for _, forked in sorted(_OBJECTS.items(), reverse=True)]


def _before_fork() -> None:
    _PARENT_CALLBACKS[threading.get_ident()] = [forked.before_fork() for forked in _newest_first()]


def _resume_parent() -> None:
    for callback in reversed(_PARENT_CALLBACKS.pop(threading.get_ident(), [])):
        callback()


def _resume_child() -> None:
    _PARENT_CALLBACKS.clear()
    for forked in _newest_first():
        forked.in_child()
