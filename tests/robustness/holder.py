"""Another process that writes an index, as far as the lock can tell."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_HOLDING = """
import sys
from pathlib import Path
from corpus.errors import LockedError
from index.storage.locking import wait_for_writer
from index.storage.locking import writer_lock

folder, held = Path(sys.argv[1]), False
while not held:
    wait_for_writer(folder)
    try:
        with writer_lock(folder):
            held = True
            print("held", flush=True)
            sys.stdin.read()
    except LockedError:
        pass
"""


@contextlib.contextmanager
def held(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process has the lock of an index folder, until its stdin is closed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDING, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder
