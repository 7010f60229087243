"""`pytest -m trust` selects the tests of robustness; every run reports how long they took."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# No property test fails for the time that it takes.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
# No test depends on the settings of whoever runs it, also not in a process that it starts.
os.environ["XDG_CONFIG_HOME"] = os.devnull
# Several processes share the cores: threads of torch and FAISS that wait are to sleep, as spinning takes half the time.
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"

# Its answers are asked for once if one process runs all of it: the others take tests from the end alone.
FIRST = "tests/test_sample.py"
TRUST = ("tests/robustness/", "tests/index/test_machine.py", "tests/index/integrity/test_salvage.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them by their place, and put those first that share most."""
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))
    for item in items:
        if item.nodeid.startswith(TRUST):
            item.add_marker(pytest.mark.trust)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report how long they took, fixtures included, summed over processes."""
    reports = [
        one
        for several in terminalreporter.stats.values()
        for one in several
        if isinstance(one, pytest.TestReport) and one.nodeid.startswith(TRUST)
    ]
    if reports:
        seconds = sum(one.duration for one in reports)
        terminalreporter.write_line(f"trust: {len({one.nodeid for one in reports})} tests, {seconds:.0f} s")
