"""How running time grows with input size: the ratio of processor times, which a busy machine barely affects."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
# How many times longer four times the input may take; quadratic growth would be 16.
MOST = 10
# Shorter times are not compared.
_LEAST_SECONDS = 0.5


def check_growth(work: Callable[[_T], object], small: _T, large: _T, *, least: float = _LEAST_SECONDS) -> None:
    """Time the work on an input and on one four times as large, up to three times, as the machine may be busy."""
    first = second = 0.0
    for _ in range(3):
        second = _seconds(work, large)
        if second < least or second < MOST * (first := _seconds(work, small)):
            return
    raise AssertionError(f"{second:.2f} s of processor time, {first:.2f} s for a quarter")


def _seconds(work: Callable[[_T], object], what: _T) -> float:
    """Measure without garbage collection, whose duration depends on all objects of the process, such as torch's."""
    gc.disable()
    try:
        begun = time.process_time()
        work(what)
        return time.process_time() - begun
    finally:
        gc.enable()
