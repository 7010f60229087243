"""The tests of what must not break it, `pytest -m trust`, and how long they took."""

from __future__ import annotations

import pytest
from hypothesis import settings

# No test fails for the time it takes.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

TRUST = (
    "tests/robustness/",
    "tests/index/test_machine.py",
    "tests/index/integrity/test_salvage.py",
)
# What they may take together.
_MOST_SECONDS = 240


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them by where they stand."""
    for item in items:
        if item.nodeid.startswith(TRUST):
            item.add_marker(pytest.mark.trust)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how long they took, what they share and what they clean up included."""
    reports = [
        one
        for several in terminalreporter.stats.values()
        for one in several
        if isinstance(one, pytest.TestReport) and one.nodeid.startswith(TRUST)
    ]
    if reports:
        seconds = sum(one.duration for one in reports)
        tests = len({one.nodeid for one in reports})
        terminalreporter.write_line(f"trust: {tests} tests, {seconds:.0f} s of {_MOST_SECONDS} s")
