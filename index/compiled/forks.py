"""Keep models usable when the process forks: a child inherits no threads, and OpenVINO and torch wait for theirs.

So models are unloaded before a fork, and loaded again when they are next used, in both parent and child.
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

# Seconds that a fork waits for another thread to finish with one model.
_PATIENCE = 5.0


class Forked:
    """An object that prepares for forks of the process."""

    def before_fork(self) -> Callable[[], None]:
        """Prepare for a fork; the returned function is called after it in the parent."""
        return lambda: None

    def in_child(self) -> None:
        """Make do without the parent's threads."""


# By age: newer members may use older ones, and are called first.
_MEMBERS: weakref.WeakValueDictionary[int, Forked] = weakref.WeakValueDictionary()
_NUMBERS = count()
# Functions to call in the parent after a fork, by the thread that forks.
_AFTERWARDS: dict[int, list[Callable[[], None]]] = {}


def take_part(member: Forked) -> None:
    """Call a member's methods at forks, for as long as it lives."""
    number = next(_NUMBERS)
    if not number and hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
    _MEMBERS[number] = member


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
    """An object with threads of its own: made when it is first used, and again after a fork.

    Only one thread touches it, and ends with it, as libraries leave state behind in a thread.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: list[T] = []
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1)
        self._last: Future[Any] | None = None
        take_part(self)

    def begin(self) -> None:
        """Start making it in the background."""
        self._last = self._thread.submit(self._value)

    def run(self, act: Callable[[T], R]) -> R:
        """Call `act` with it, one caller after another; raises what `act`, or making it, raises."""
        with self._lock:
            self._last = future = self._thread.submit(lambda: act(self._value()))
            return future.result()

    def before_fork(self) -> Callable[[], None]:
        """Unload it, unless another thread uses it for too long."""
        lock = self._lock
        if not lock.acquire(timeout=_PATIENCE):
            return lambda: None
        if self._last is None or wait([self._last], _PATIENCE).done:
            self._last = None
            self._thread.submit(self._made.clear)
            number = self._thread.submit(threading.get_native_id).result()
            self._thread.shutdown()
            _await_end(number)
            self._thread = ThreadPoolExecutor(1)
        return lock.release

    def in_child(self) -> None:
        """Forget what could not be unloaded."""
        keep_for_ever((self._made, self._thread, self._last))
        self._made, self._lock, self._thread, self._last = [], threading.Lock(), ThreadPoolExecutor(1), None

    def _value(self) -> T:
        if not self._made:
            self._made.append(self._make())
        return self._made[0]


def _await_end(thread: int) -> None:
    """Wait until the operating system has ended a thread, where it lists them.

    Before Python 3.13, joining a thread does not wait for destructors of its thread-local data. OpenVINO's hold a lock,
    which a fork would leave locked in the child, to hang at exit.
    """
    task, deadline = Path(f"/proc/self/task/{thread}"), time.monotonic() + _PATIENCE
    while task.exists() and time.monotonic() < deadline:
        time.sleep(0.001)


def _members() -> list[Forked]:
    return [member for _, member in sorted(_MEMBERS.items(), reverse=True)]


def _before() -> None:
    _AFTERWARDS[threading.get_ident()] = [member.before_fork() for member in _members()]


def _in_parent() -> None:
    for act in reversed(_AFTERWARDS.pop(threading.get_ident(), [])):
        act()


def _in_child() -> None:
    _AFTERWARDS.clear()
    for member in _members():
        member.in_child()
