"""Kill the process or fail the disk at every file operation, and check what is left.

    python -m tests.robustness.fault_points [--sample N] [--scenario NAME] [--out FILE]

Each trial is a separate process on a fresh copy of the scenario's folder; `scenarios` checks the index afterwards.
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
from tests.robustness.picture import temporary_files
from tests.robustness.process import ProcessResult, in_fork
from tests.robustness.scenarios import SCENARIOS, Expected, expected_outcomes, memory_disk


@dataclass(frozen=True, slots=True)
class Fault:
    """A way in which an operation fails."""

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


def _fault_points(expected: Expected) -> list[Point]:
    """Every operation with every fault that can hit it; only writes can be short."""
    return [
        (at, fault)
        for at, operation in enumerate(expected.operations)
        for fault in FAULTS
        if fault.action is not Action.HALF or operation.startswith("write")
    ]


def _sample_points(points: Sequence[Point], sample: int, first: int, seed: int) -> list[Point]:
    """A sample of the points at random operations; the faults take turns, beginning with number `first`."""
    shuffled = random.Random(seed).sample(points, len(points))  # noqa: S311 - not for secrets
    first %= len(FAULTS)
    by_fault = ([point for point in shuffled if point[1] is fault] for fault in FAULTS[first:] + FAULTS[:first])
    return [point for turn in zip_longest(*by_fault) for point in turn if point is not None][:sample]


def _inject_fault(expected: Expected, folder: Path, at: int, fault: Fault) -> list[str]:
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
        result = in_fork(act, seconds=30)
        problems = _exit_problems(result, fault)
        if not fault.kills and not fault.from_then_on and result.error and temporary_files(root):
            problems.append(f"temporary files after an error: {temporary_files(root)}")
        return problems + expected.problems(root, done=result.succeeded)
    finally:
        shutil.rmtree(root)


def _exit_problems(result: ProcessResult, fault: Fault) -> list[str]:
    """What is wrong with the exit: a fault that kills must kill; otherwise success or a typed error is allowed."""
    if fault.kills:
        return [] if result.status == KILLED else [f"was not killed: {result}"]
    return [f"ended badly: {result}"] if result.crashed else []


def run(name: str, *, sample: int, seed: int) -> dict[str, Any]:
    """Run all trials of a scenario, or a sample of them, in a process that has loaded the fault library."""
    started = time.monotonic()
    number = [scenario.name for scenario in SCENARIOS].index(name)
    with tempfile.TemporaryDirectory(dir=memory_disk()) as temporary_folder:
        folder = Path(temporary_folder).resolve()
        expected = expected_outcomes(SCENARIOS[number], folder)
        points = _fault_points(expected)
        chosen = _sample_points(points, sample, sample * number, seed) if sample else points
        violations = [
            {"at": at, "operation": expected.operations[at], "fault": fault.name, "wrong": problem}
            for at, fault in chosen
            for problem in _inject_fault(expected, folder, at, fault)
        ]
    return {
        "scenario": name,
        "operations": len(expected.operations),
        "kinds": dict(Counter(operation.rpartition(" ")[0] for operation in expected.operations)),
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
            server.value_of(partial(run, name, sample=sample, seed=seed), seconds=36_000)
            for name in [target.name for target in SCENARIOS]
            if scenario in ("", name)
        ]
    return {
        "scenarios": results,
        "tried": sum(result["tried"] for result in results),
        "violations": [violation for result in results for violation in result["violations"]],
    }


if __name__ == "__main__":
    # Run as the module, not as __main__, so that its functions can be unpickled.
    from tests.robustness import fault_points

    sys.exit(options.main(fault_points.run_all))
