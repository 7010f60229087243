"""Every operation on a file, struck by a killed process or a failing disk: a few of them here, all by the command."""

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
def test_whatever_is_struck_the_index_is_the_old_one_or_the_new_one(server: ForkServer, name: str) -> None:
    """One half of the kinds of fault or the other; brought up to date, nothing is embedded again or stays behind."""
    half = len(fault_points.FAULTS) // 2
    first = half * [one.name for one in SCENARIOS].index(name) % len(fault_points.FAULTS)
    found = server.value_of(partial(fault_points.run, name, sample=half, seed=1), seconds=300)
    assert found["violations"] == []
    assert found["faults"] == {fault.name: 1 for fault in fault_points.FAULTS[first : first + half]}
    # Fewer would mean that the library does not see what SQLite or Python do.
    assert {"create", "write", "sync"} <= found["kinds"].keys()
    assert found["operations"] > 15
