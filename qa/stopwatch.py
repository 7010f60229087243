"""Measures the time of each step of answering a question."""

from __future__ import annotations

from time import perf_counter

STEPS = ("spell", "embed", "keyword", "dense", "fuse", "passages", "rerank", "read", "extract", "cite")


class Stopwatch:
    """Adds up time by step, for all steps of an answer from zero."""

    def __init__(self) -> None:
        self._spent = dict.fromkeys(STEPS, 0.0)
        self._last = perf_counter()

    def lap(self, step: str) -> None:
        """Add the time since the last lap to a step."""
        now = perf_counter()
        self._spent[step] += now - self._last
        self._last = now

    def timings_ms(self) -> dict[str, float]:
        """Return the milliseconds by step, and their `total`."""
        spent = {**self._spent, "total": sum(self._spent.values())}
        return {step: round(1000 * seconds, 3) for step, seconds in spent.items()}
