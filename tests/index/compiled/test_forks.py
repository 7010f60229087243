"""A model's thread and its thread-local data are gone before the process forks."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

import pytest

from index.compiled.forks import Unloadable

_SLEEP = 300_000  # microseconds


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs a list of the process's threads")
def test_a_fork_waits_for_the_thread_and_its_data() -> None:
    system, key = ctypes.CDLL(None), ctypes.c_uint()
    # When the thread ends, the system calls this destructor with the thread's value, the time to sleep.
    assert system.pthread_key_create(ctypes.byref(key), ctypes.cast(system.usleep, ctypes.c_void_p)) == 0

    def use(_: list[str]) -> int:
        assert system.pthread_setspecific(key, ctypes.c_void_p(_SLEEP)) == 0
        return threading.get_native_id()

    model = Unloadable(lambda: ["model"])
    thread = model.run(use)
    callback = model.before_fork()
    assert not Path(f"/proc/self/task/{thread}").exists()
    assert not model._values
    callback()
    assert model.run(len) == 1
