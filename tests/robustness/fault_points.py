"""Kill the process or fail the disk at every file operation, and check what is left.

    python -m tests.robustness.fault_points [--sample N] [--scenario NAME] [--out FILE]

Each trial is a separate process on a fresh copy of the scenario's folder; `scenarios` checks what must hold afterwards.
"""

from __future__ import annotations

import errno
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.robustness import options
from tests.robustness.fault_library import KILLED, Action, FaultLibrary, fault_server
from tests.robustness.picture import temporary
from tests.robustness.process import Ended, in_fork
from tests.robustness.scenarios import SCENARIOS, Expected, in_memory, prepared


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to an operation."""

    name: str
    action: Action
    error: int = 0
    from_then_on: bool = False

    @property
    def kills(self) -> bool:
        return self.action in (Action.KILL, Action.KILL_HALFWAY)


FAULTS = (
    Fault("killed before", Action.KILL),
    Fault("killed halfway or behind", Action.KILL_HALFWAY),
    Fault("EIO once", Action.FAIL, errno.EIO),
    Fault("EIO from then on", Action.FAIL, errno.EIO, from_then_on=True),
    Fault("ENOSPC once", Action.FAIL, errno.ENOSPC),
    Fault("ENOSPC from then on", Action.FAIL, errno.ENOSPC, from_then_on=True),
    Fault("short write", Action.HALF, errno.ENOSPC),
    Fault("short write, then ENOSPC", Action.HALF, errno.ENOSPC, from_then_on=True),
)
Point = tuple[int, Fault]


def _points(expected: Expected) -> list[Point]:
    """Every operation with every fault that can hit it; only writes can be short."""
    return [
        (at, fault)
        for at, operation in enumerate(expected.operations)
        for fault in FAULTS
        if fault.action is not Action.HALF or operation.startswith("write")
    ]


def _some(points: Sequence[Point], sample: int, first: int, seed: int) -> list[Point]:
    """A sample of the points at random operations; the faults take turns, beginning with number `first`."""
    shuffled = random.Random(seed).sample(points, len(points))  # noqa: S311 - not for secrets
    first %= len(FAULTS)
    turns = zip_longest(*([one for one in shuffled if one[1] is fault] for fault in FAULTS[first:] + FAULTS[:first]))
    return [one for turn in turns for one in turn if one is not None][:sample]


def _strike(expected: Expected, folder: Path, at: int, fault: Fault) -> list[str]:
    """Inject one fault, and list what is wrong afterwards."""
    root = folder / "trial"
    shutil.copytree(expected.template, root)

    def act() -> object:
        FaultLibrary().arm(root, at=at, action=fault.action, error=fault.error, from_then_on=fault.from_then_on)
        try:
            return expected.scenario.act(root)
        finally:
            FaultLibrary().disarm()

    try:
        ended = in_fork(act, seconds=30)
        wrong = _judged(ended, fault)
        if not fault.kills and not fault.from_then_on and ended.error and temporary(root):
            wrong.append(f"temporary files after an error: {temporary(root)}")
        return wrong + expected.problems(root, done=ended.succeeded)
    finally:
        shutil.rmtree(root)


def _judged(ended: Ended, fault: Fault) -> list[str]:
    """The operation must be killed if the fault kills, else succeed or raise a typed error."""
    if fault.kills:
        return [] if ended.status == KILLED else [f"was not killed: {ended}"]
    return [f"ended badly: {ended}"] if ended.crashed else []


def run(name: str, *, sample: int, seed: int) -> dict[str, Any]:
    """Run all trials of a scenario, or a sample of them, in a process that has loaded the fault library."""
    started = time.monotonic()
    number, scenario = next((number, one) for number, one in enumerate(SCENARIOS) if one.name == name)
    with tempfile.TemporaryDirectory(dir=in_memory()) as temporary_folder:
        folder = Path(temporary_folder).resolve()
        expected = prepared(scenario, folder)
        points = _points(expected)
        chosen = _some(points, sample, sample * number, seed) if sample else points
        violations = [
            {"at": at, "operation": expected.operations[at], "fault": fault.name, "wrong": wrong}
            for at, fault in chosen
            for wrong in _strike(expected, folder, at, fault)
        ]
    return {
        "scenario": name,
        "operations": len(expected.operations),
        "kinds": dict(Counter(one.rpartition(" ")[0] for one in expected.operations)),
        "points": len(points),
        "tried": len(chosen),
        "faults": dict(Counter(fault.name for _, fault in chosen)),
        "violations": violations,
        "seconds": round(time.monotonic() - started, 1),
    }


def run_all(scenario: str = "", sample: int = 0, seed: int = 0) -> dict[str, Any]:
    """Run the trials of all scenarios, or of the one with this name; see `run`."""
    with fault_server() as server:
        results = [
            server.value_of(partial(run, one.name, sample=sample, seed=seed), seconds=36_000)
            for one in SCENARIOS
            if scenario in ("", one.name)
        ]
    return {
        "scenarios": results,
        "tried": sum(one["tried"] for one in results),
        "violations": [violation for one in results for violation in one["violations"]],
    }


if __name__ == "__main__":
    # Run as the module, not as __main__, so that its functions can be unpickled.
    from tests.robustness import fault_points

    sys.exit(options.main(fault_points.run_all))
