"""How running time grows with input size: the ratio of processor times, which a busy machine barely affects."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
# How many times as long four times the input may take; with quadratic growth it would be 16.
MOST = 10
# Shorter times are not compared.
_LEAST_SECONDS = 0.5


def check_growth(work: Callable[[_T], object], small: _T, large: _T, *, least: float = _LEAST_SECONDS) -> None:
    """Time the work on an input and on one four times as large; up to three attempts, as the machine may be busy."""
    small_seconds = large_seconds = 0.0
    for _ in range(3):
        large_seconds = _seconds(work, large)
        if large_seconds < least or large_seconds < MOST * (small_seconds := _seconds(work, small)):
            return
    raise AssertionError(f"{large_seconds:.2f} s of processor time, {small_seconds:.2f} s for a quarter")


def _seconds(work: Callable[[_T], object], argument: _T) -> float:
    """Measure without garbage collection, whose duration depends on all objects of the process, such as torch's."""
    gc.disable()
    try:
        started = time.process_time()
        work(argument)
        return time.process_time() - started
    finally:
        gc.enable()
