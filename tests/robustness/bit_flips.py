"""Flip bits and truncate files thousands of times: every answer must be right or refused.

    python -m tests.robustness.bit_flips --flips 10000 --truncations 1000 --seed 1 --out damage.json

Each trial damages one file of a small index, opens it in a fork with limits on time (20 s) and memory (256 MB more than
the size of the index), asks some twenty questions, and compares the answers bit for bit with those of the undamaged
index. One in fifty (`--repair-every`) of the trials that were refused or answered correctly is followed by a repair,
which must restore everything and embed no text whose vector was intact. Half of the flips (`--structure`) hit bytes
that determine how others are read. The same seed repeats the same trials. To test mostly repairs:

    python -m tests.robustness.bit_flips --flips 600 --truncations 60 --structure 1 --repair-every 1 --seed 2
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import faiss

from index.storage.database import FORMAT_VERSION
from tests.robustness import options
from tests.robustness.damages import Damage, random_file_damage, random_flip, structural_parts
from tests.robustness.samples import SHAPES, Sample, make_sample
from tests.robustness.trials import GOOD, Outcome, judge, try_repair


def _damages(sample: Sample, flips: int, losses: int, *, random_: random.Random, structure: float) -> Iterator[Damage]:
    """Generate flips and file damages in random order; this fraction of the flips hits structure."""
    parts = structural_parts(sample)
    while flips + losses:
        if random_.randrange(flips + losses) < flips:
            flips -= 1
            yield random_flip(sample, parts if random_.random() < structure else [], random_)
        else:
            losses -= 1
            yield random_file_damage(sample, random_)


@dataclass(slots=True)
class Tally:
    """The results of the trials."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    files: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    violations: list[dict[str, Any]] = field(default_factory=list)
    repairs: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    most_memory: int = 0

    def run_trial(self, sample: Sample, damage: Damage, *, repair_every: int) -> None:
        """Run one trial, sometimes followed by a repair."""
        verdict = judge(sample, damage)
        self.outcomes[verdict.outcome] += 1
        self.kinds[damage.kind][verdict.outcome] += 1
        self.files["vectors-*.faiss" if damage.file.endswith(".faiss") else damage.file][verdict.outcome] += 1
        self.most_memory = max(self.most_memory, verdict.memory)
        place = {"damage": f"{sample.name}:{damage}"}
        if verdict.outcome not in GOOD:
            self.violations.append(place | {"outcome": verdict.outcome, "detail": verdict.detail})
        # An index that reverted to an earlier generation is intact, so there is nothing to repair.
        repairable = self.outcomes[Outcome.REFUSED] + self.outcomes[Outcome.RIGHT]
        if verdict.outcome in (Outcome.REFUSED, Outcome.RIGHT) and repairable % repair_every == 0:
            repair = try_repair(sample, damage)
            self.repairs[repair.kind or "failed"] += 1
            self.embedded += repair.embedded
            if repair.problem:
                self.violations.append(place | {"repair": repair.problem})


def run_trials(
    samples: Sequence[Sample], flips: int, truncations: int, seed: int, *, structure: float = 0.5, repair_every: int
) -> dict[str, Any]:
    """Run the trials, divided equally among the samples, in turns; see `run`."""
    started = time.monotonic()
    tally = Tally()
    planned = []
    for number, sample in enumerate(samples):
        shares = [count // len(samples) + (number < count % len(samples)) for count in (flips, truncations)]
        chance = random.Random(f"{seed} {sample.name}")  # noqa: S311 - not for secrets
        planned.append(_damages(sample, *shares, random_=chance, structure=structure))
    for damages in zip_longest(*planned):
        for sample, damage in zip(samples, damages, strict=True):
            if damage is not None:
                tally.run_trial(sample, damage, repair_every=repair_every)
    for sample in samples:
        sample.restore()
    return {
        "format": FORMAT_VERSION,
        "sqlite": sqlite3.sqlite_version,
        "faiss": faiss.__version__,
        "samples": {sample.name: {name: len(data) for name, data in sample.files.items()} for sample in samples},
        "trials": tally.outcomes.total(),
        "outcomes": dict(tally.outcomes),
        "by_kind": {name: dict(counts) for name, counts in sorted(tally.kinds.items())},
        "by_file": {name: dict(counts) for name, counts in sorted(tally.files.items())},
        "repairs": tally.repairs.total() - tally.repairs["none"],  # only those that found something to repair
        "repair_kinds": dict(tally.repairs),
        "repair_embedded": tally.embedded,
        "violations": tally.violations,
        "most_memory_mb": round(tally.most_memory / 2**20, 1),
        "seconds": round(time.monotonic() - started, 1),
    }


def run(
    flips: int = 10_000, truncations: int = 1_000, seed: int = 0, structure: float = 0.5, repair_every: int = 50
) -> dict[str, Any]:
    """Flip bits, this fraction of them in structure, and damage whole files; repair after every nth trial."""
    with tempfile.TemporaryDirectory() as folder:
        samples = [make_sample(shape, Path(folder) / shape) for shape in SHAPES]
        return run_trials(samples, flips, truncations, seed, structure=structure, repair_every=repair_every)


if __name__ == "__main__":
    sys.exit(options.main(run))
