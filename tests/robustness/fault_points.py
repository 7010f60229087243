"""Strike every operation on a file with a killed process or a failing disk, and look what is left.

    python -m tests.robustness.fault_points [--sample N] [--scenario NAME] [--out FILE]

Each trial is a process of its own on a fresh copy of the scenario's folder. Afterwards another process opens the index,
which must be exactly the old generation or the new one, or say in a typed error what to do; then it is brought up to
date, which must give exactly what a first build gives, embed nothing that was stored, and leave no stray file.
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

from tests.robustness import fault_library as shim
from tests.robustness import options
from tests.robustness.contents import temporary
from tests.robustness.fault_library import KILLED, Action, Shim
from tests.robustness.forks import Ended, in_fork
from tests.robustness.judge import look
from tests.robustness.scenarios import SCENARIOS, Expected, Scenario, in_memory, prepared, warm_up

_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at an operation."""

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


class Trials:
    """All trials of one scenario, in a folder that may fill up."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self._folder = folder
        self._shim = Shim()
        self.expected: Expected = prepared(scenario, folder)

    def points(self) -> list[tuple[int, Fault]]:
        """Every operation with everything that can happen to it."""
        return [
            (at, fault)
            for at, operation in enumerate(self.expected.operations)
            for fault in FAULTS
            # Other calls do not write halves.
            if fault.action is not Action.HALF or operation.startswith("write")
        ]

    def run(self, at: int, fault: Fault) -> list[str]:
        """Strike once; what is wrong afterwards."""
        root = self._folder / "trial"
        shutil.copytree(self.expected.template, root)
        try:
            ended = in_fork(partial(self._strike, root, at, fault), seconds=_SECONDS)
            wrong = self._judged(ended, fault)
            if not fault.kills and not fault.from_then_on and ended.error and temporary(root):
                wrong.append(f"temporary files after an error: {temporary(root)}")
            # What was said to be done is done.
            done = ended.status == 0 and not ended.error
            return wrong + look(root, self.expected, done=done)
        finally:
            shutil.rmtree(root)

    def _strike(self, root: Path, at: int, fault: Fault) -> object:
        self._shim.arm(root, at=at, action=fault.action, error=fault.error, from_then_on=fault.from_then_on)
        try:
            return self.scenario.act(root)
        finally:
            self._shim.disarm()

    def _judged(self, ended: Ended, fault: Fault) -> list[str]:
        """How the operation itself may end: killed if it was to be, else well or with a typed error."""
        if fault.kills:
            return [] if ended.status == KILLED else [f"was not killed: {ended}"]
        if ended.late or ended.status:
            return [f"ended badly: {ended}"]
        return [f"foreign error: {ended.message}"] if ended.error and not ended.typed else []


def _some(points: Sequence[tuple[int, Fault]], sample: int, first: int, seed: int) -> list[tuple[int, Fault]]:
    """So many of the points; each kind of fault takes its turn, from one of them on, wherever chance lets it strike."""
    shuffled = random.Random(seed).sample(points, len(points))  # noqa: S311 - not for secrets
    kinds = [FAULTS[(first + place) % len(FAULTS)] for place in range(len(FAULTS))]
    turns = zip_longest(*([one for one in shuffled if one[1] is fault] for fault in kinds))
    return [one for several in turns for one in several if one is not None][:sample]


def run(scenario: Scenario, *, sample: int, seed: int) -> dict[str, Any]:
    """Run the trials of a scenario, all or so many of them; what they found."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        trials = Trials(scenario, Path(name).resolve())
        points = trials.points()
        chosen = _some(points, sample, sample * SCENARIOS.index(scenario), seed) if sample else points
        violations = []
        for at, fault in chosen:
            for wrong in trials.run(at, fault):
                where = trials.expected.operations[at]
                violations.append({"at": at, "operation": where, "fault": fault.name, "wrong": wrong})
    return {
        "scenario": scenario.name,
        "operations": len(trials.expected.operations),
        "kinds": dict(Counter(one.rpartition(" ")[0] for one in trials.expected.operations)),
        "points": len(points),
        "tried": len(chosen),
        "faults": dict(Counter(fault.name for _, fault in chosen)),
        "violations": violations,
        "seconds": round(time.monotonic() - started, 1),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 0 where nothing is wrong."""
    parser = options.parser("Strike every operation on a file.")
    parser.add_argument("--sample", type=int, default=0, help="try so many points of each scenario rather than all")
    parser.add_argument("--scenario", choices=[one.name for one in SCENARIOS], help="only this one")
    given = parser.parse_args(arguments)
    if why := shim.why_not():
        print(f"not tried: it {why}")
        return 2
    if not shim.is_loaded():
        with tempfile.TemporaryDirectory() as name:
            library = shim.build(Path(name))
            return shim.run_under(library, "tests.robustness.fault_points", arguments or sys.argv[1:])
    warm_up()

    results = []
    for scenario in SCENARIOS:
        if given.scenario in (None, scenario.name):
            results.append(run(scenario, sample=given.sample, seed=given.seed))
            _print(results[-1])
    options.write(results, given.out)
    print(f"{sum(one['tried'] for one in results):,} points tried, ", end="")
    print(f"{sum(len(one['violations']) for one in results):,} violations")
    return int(any(one["violations"] for one in results))


def _print(result: dict[str, Any]) -> None:
    print(
        f"{result['scenario']:<26} {result['operations']:>5} operations {result['tried']:>6,} of {result['points']:,} "
        f"points {len(result['violations']):>4} violations {result['seconds']:>7} s",
        flush=True,
    )
    for one in result["violations"][:10]:
        print(f"    {one['at']} {one['operation']}, {one['fault']}: {one['wrong']}")


if __name__ == "__main__":
    sys.exit(main())
