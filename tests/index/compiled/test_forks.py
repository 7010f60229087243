"""What a model leaves behind in its thread is gone before the process forks."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

import pytest

from index.compiled.forks import Unloadable

_SLOWLY = 300_000  # microseconds


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs a list of the process's threads")
def test_a_fork_waits_for_the_thread_and_its_data() -> None:
    system, key = ctypes.CDLL(None), ctypes.c_uint()
    # As the thread ends, the system calls the destructor with the thread's value: it sleeps that long.
    assert system.pthread_key_create(ctypes.byref(key), ctypes.cast(system.usleep, ctypes.c_void_p)) == 0

    def use(_: list[str]) -> int:
        assert system.pthread_setspecific(key, ctypes.c_void_p(_SLOWLY)) == 0
        return threading.get_native_id()

    model = Unloadable(lambda: ["model"])
    thread = model.run(use)
    after = model.before_fork()
    assert not Path(f"/proc/self/task/{thread}").exists()
    assert not model._made
    after()
    assert model.run(len) == 1
