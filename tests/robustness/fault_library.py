"""The C library that makes system calls fail: building, loading and controlling it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from tests.robustness.process import ForkServer

_SOURCE = Path(__file__).with_name("fault_library.c")
_LOADED_VARIABLE = "QA_FAULT_LIBRARY"
# Exit status of a process killed by the library.
KILLED = 86


class Action(Enum):
    """What happens at the chosen operation."""

    KILL = 1
    KILL_HALFWAY = 2
    FAIL = 3
    HALF = 4


def unavailable_reason() -> str:
    """Why the library does not work on this machine, or ""."""
    if not sys.platform.startswith("linux"):
        return "needs the dynamic linker of Linux"
    return "" if shutil.which("cc") else "needs a C compiler"


@contextlib.contextmanager
def fault_server() -> Iterator[ForkServer]:
    """Compile the library and start a fork server with it loaded."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "faults.so")
        command = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl"]
        subprocess.run(command, check=True, timeout=600)
        with ForkServer({"LD_PRELOAD": str(library), _LOADED_VARIABLE: "1"}) as server:
            yield server


def is_loaded() -> bool:
    """Whether this process has loaded the library."""
    return _LOADED_VARIABLE in os.environ


class FaultLibrary:
    """Controls the library loaded into this process."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.fault_count.restype = ctypes.c_long
        self._library.fault_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]

    def arm(
        self, folder: Path, *, at: int = -1, action: Action = Action.KILL, error: int = 0, from_then_on: bool = False
    ) -> None:
        """Count operations under a folder, from 0, and act on the given one."""
        self._library.fault_arm(os.fsencode(folder), at, action.value, error, int(from_then_on))

    def disarm(self) -> int:
        """Stop counting, and return the number of operations."""
        count = int(self._library.fault_count())
        self._library.fault_disarm()
        return count

    def log_to(self, descriptor: int) -> None:
        """Log each operation as a line."""
        self._library.fault_log(descriptor)
