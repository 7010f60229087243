"""Kills and disk failures at file operations: a sample of what `python -m tests.robustness.fault_points` tries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from tests.robustness import fault_points
from tests.robustness.fault_library import fault_server, why_not
from tests.robustness.process import ForkServer
from tests.robustness.scenarios import SCENARIOS

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with fault_server() as one:
        yield one


@pytest.mark.parametrize("name", [one.name for one in SCENARIOS])
def test_any_fault_leaves_the_old_or_new_index(server: ForkServer, name: str) -> None:
    """Each scenario meets half of the faults; an update afterwards embeds nothing twice and leaves no stray file."""
    half = len(fault_points.FAULTS) // 2
    first = half * [one.name for one in SCENARIOS].index(name) % len(fault_points.FAULTS)
    found = server.value_of(partial(fault_points.run, name, sample=half, seed=1), seconds=300)
    assert found["violations"] == []
    assert found["faults"] == {fault.name: 1 for fault in fault_points.FAULTS[first : first + half]}
    # Otherwise the library would miss operations of SQLite or Python.
    assert {"create", "write", "sync"} <= found["kinds"].keys()
    assert found["operations"] > 15
