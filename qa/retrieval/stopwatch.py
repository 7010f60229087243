"""Milliseconds by step."""

from __future__ import annotations

from time import perf_counter

STEPS = ("spell", "embed", "keyword", "dense", "fuse", "passages", "rerank", "read", "extract", "cite")


class Stopwatch:
    """Sums up the time since the last lap by step; the steps of an answer are there from the start."""

    def __init__(self) -> None:
        self._spent = dict.fromkeys(STEPS, 0.0)
        self._last = perf_counter()

    def lap(self, step: str) -> None:
        """Count the time since the last lap as that of a step."""
        now = perf_counter()
        self._spent[step] += now - self._last
        self._last = now

    def timings_ms(self) -> dict[str, float]:
        """Milliseconds by step, and their `total`."""
        spent = {**self._spent, "total": sum(self._spent.values())}
        return {step: round(1000 * seconds, 3) for step, seconds in spent.items()}
