"""What the drivers of `tests.benchmarks.engines` share: vectors in batches, the clock, memory.

    python -m tests.benchmarks.engine_drivers.NAME_driver build VECTORS.npy STORE SETTINGS
    python -m tests.benchmarks.engine_drivers.NAME_driver ask QUERIES.npy STORE SETTINGS STARTED

A driver runs in the virtual environment of its engine, which has NumPy. SETTINGS is JSON; STARTED is when the process
was started, by the clock that counts from when the machine was. The last line printed is JSON.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

LIMIT = 10
WARM_UPS = 20

Array = npt.NDArray[Any]
Search = Callable[[Array], list[int]]
# Builds a store from vectors, with settings; tells of it `note`, to be shown, `disk_bytes` if not of the folder.
Build = Callable[..., dict[str, Any]]
# Opens a store, with settings.
Ready = Callable[..., Search]


def rows(vectors: Path) -> tuple[int, int]:
    """How many vectors a file has, and of how many dimensions."""
    found: tuple[int, int] = np.load(vectors, mmap_mode="r").shape
    return found


def batches(vectors: Path, size: int) -> Iterator[tuple[Array, Array]]:
    """Row numbers, `(n,) int64`, and vectors, `(n, dim) float32`; what is fed no longer counts as memory in use."""
    total, _ = rows(vectors)
    for start in range(0, total, size):
        numbers = np.arange(start, min(start + size, total), dtype=np.int64)
        # The file is mapped anew each time: pages of it that were read count until it is let go.
        yield numbers, np.array(np.load(vectors, mmap_mode="r")[start : start + size])
        sys.stderr.write(f"{start + len(numbers):,} of {total:,} vectors fed\n")


def run(build: Build, ready: Ready) -> None:
    """Do what the command line says."""
    action, vectors, store, settings, *started = sys.argv[1:]
    options: dict[str, Any] = json.loads(settings)
    told: dict[str, Any]
    if action == "build":
        begun = time.monotonic()
        told = build(Path(vectors), Path(store), **options)
        # What is measured on the side is no part of it.
        told["seconds"] = time.monotonic() - begun - told.get("aside_seconds", 0)
    else:
        told = _ask(np.load(vectors), ready, Path(store), options, float(started[0]))
    print(json.dumps({**told, "peak_mib": _peak_mib()}), flush=True)


def _ask(queries: Array, ready: Ready, store: Path, options: dict[str, Any], started: float) -> dict[str, Any]:
    search = ready(store, **options)
    search(queries[-1])
    opened = time.monotonic() - started
    for query in queries[-WARM_UPS:]:
        search(query)
    found, milliseconds = [], []
    for query in queries[:-WARM_UPS]:
        begun = time.perf_counter()
        found.append(search(query))
        milliseconds.append(1000 * (time.perf_counter() - begun))
    return {"open_seconds": opened, "ms": milliseconds, "ids": found}


def _peak_mib() -> float:
    """The most memory that was resident, of this program only and not of what started it."""
    found = re.search(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found
    return int(found[1]) / 1024
