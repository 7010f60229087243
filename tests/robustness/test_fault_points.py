"""Kills and disk failures at file operations: a sample of what `python -m tests.robustness.fault_points` tries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from tests.robustness import fault_points
from tests.robustness.fault_library import fault_server, unavailable_reason
from tests.robustness.process import ForkServer
from tests.robustness.scenarios import SCENARIOS

pytestmark = pytest.mark.skipif(bool(unavailable_reason()), reason=unavailable_reason() or "-")


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with fault_server() as server:
        yield server


@pytest.mark.parametrize("name", [scenario.name for scenario in SCENARIOS])
def test_any_fault_leaves_the_old_or_new_index(server: ForkServer, name: str) -> None:
    """Each scenario meets half of the faults; an update afterwards embeds nothing twice and leaves no stray file."""
    half = len(fault_points.FAULTS) // 2
    first = half * [scenario.name for scenario in SCENARIOS].index(name) % len(fault_points.FAULTS)
    results = server.value_of(partial(fault_points.run, name, sample=half, seed=1), seconds=300)
    assert results["violations"] == []
    assert results["faults"] == {fault.name: 1 for fault in fault_points.FAULTS[first : first + half]}
    # The library sees the operations of both SQLite and Python.
    assert {"create", "write", "sync"} <= results["kinds"].keys()
    assert results["operations"] > 15
