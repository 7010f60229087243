"""Growth of work with size: a ratio of processor times in one run, which a busy machine leaves as it is."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
# What four times as much may take: sixteen times as long would be quadratic.
MOST = 10
# Whatever takes less is too little to compare.
_LEAST_SECONDS = 0.5


def check_growth(work: Callable[[_T], object], small: _T, large: _T, *, least: float = _LEAST_SECONDS) -> None:
    """Do work on something and on four times as much, three times at most as something else may disturb it."""
    first = second = 0.0
    for _ in range(3):
        first, second = _seconds(work, small), _seconds(work, large)
        if second < max(least, MOST * first):
            return
    raise AssertionError(f"{second:.2f} s of processor time, {first:.2f} s for a quarter")


def _seconds(work: Callable[[_T], object], what: _T) -> float:
    """Without garbage collections: one takes as long as all objects of the process are many, torch's among them."""
    gc.disable()
    try:
        begun = time.process_time()
        work(what)
        return time.process_time() - begun
    finally:
        gc.enable()
