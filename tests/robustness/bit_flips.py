"""Flip bits and truncate files thousands of times: every answer must be right or refused.

    python -m tests.robustness.bit_flips --flips 10000 --truncations 1000 --seed 1 --out damage.json

Each trial damages one file of a small index, opens it in a fork with limits on time (20 s) and memory (256 MB more than
the size of the index), asks some twenty questions, and compares the answers bit for bit with those of the undamaged
index. One in fifty (`--repair-every`) of the trials that were refused or answered correctly is followed by a repair,
which must restore everything and embed no text whose vector was intact. Half of the flips (`--structure`) hit bytes
that determine how others are read. A failed trial is printed with the option that repeats it: `--only SHAPE:DAMAGE`.
To test mostly repairs:

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
from tests.robustness.damages import Damage, flip, loss, random_flip, random_loss, vital_parts
from tests.robustness.process import import_what_is_needed
from tests.robustness.samples import SHAPES, Sample, make
from tests.robustness.trials import GOOD, Outcome, judge, remember_vectors, try_repair

REPAIR_EVERY = 50
STRUCTURE = 0.5


@dataclass(frozen=True, slots=True)
class Trials:
    """Which trials to run.

    Attributes:
        flips: Number of flipped bits.
        truncations: Number of damaged whole files.
        seed: Of the random choices.
        structure: Fraction of the flips that hit structure, 0 to 1.
        repair_every: One in this many refused or correctly answered trials is followed by a repair.
    """

    flips: int
    truncations: int
    seed: int
    structure: float = STRUCTURE
    repair_every: int = REPAIR_EVERY

    def damages(self, sample: Sample, index: int, samples: int) -> Iterator[Damage]:
        """One sample's share of the damage, flips and losses mixed."""
        flips, losses = (count // samples + (index < count % samples) for count in (self.flips, self.truncations))
        random_ = random.Random(f"{self.seed} {sample.name}")  # noqa: S311 - not for secrets
        parts = vital_parts(sample)
        while flips + losses:
            if random_.randrange(flips + losses) < flips:
                flips -= 1
                yield random_flip(sample, parts if random_.random() < self.structure else [], random_)
            else:
                losses -= 1
                yield random_loss(sample, random_)


@dataclass(slots=True)
class Tally:
    """The results of the trials."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    files: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    bad: list[dict[str, Any]] = field(default_factory=list)
    repairs: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    most_memory: int = 0

    def try_one(self, sample: Sample, damage: Damage, *, repair_every: int) -> None:
        """Run one trial, sometimes followed by a repair."""
        judged = judge(sample, damage)
        self.outcomes[judged.outcome] += 1
        self.kinds[damage.kind][judged.outcome] += 1
        self.files["vectors-*.faiss" if damage.file.endswith(".faiss") else damage.file][judged.outcome] += 1
        self.most_memory = max(self.most_memory, judged.grown)
        where = {"only": f"{sample.name}:{damage}"}
        if judged.outcome not in GOOD:
            self.bad.append(where | {"outcome": judged.outcome, "detail": judged.detail})
        # An earlier generation is intact, so there is nothing to repair.
        repairable = self.outcomes[Outcome.REFUSED] + self.outcomes[Outcome.RIGHT]
        if judged.outcome in (Outcome.REFUSED, Outcome.RIGHT) and repairable % repair_every == 0:
            repaired = try_repair(sample, damage)
            self.repairs[repaired.kind or "failed"] += 1
            self.embedded += repaired.embedded
            if repaired.problem:
                self.bad.append(where | {"repair": repaired.problem})


def run(samples: Sequence[Sample], trials: Trials) -> dict[str, Any]:
    """Run the trials, alternating between the samples."""
    started = time.monotonic()
    tally = Tally()
    for sample in samples:
        remember_vectors(sample)
    planned = [trials.damages(sample, index, len(samples)) for index, sample in enumerate(samples)]
    for damages in zip_longest(*planned):
        for sample, damage in zip(samples, damages, strict=True):
            if damage is not None:
                tally.try_one(sample, damage, repair_every=trials.repair_every)
    for sample in samples:
        sample.lay_out()
    return report(tally, samples, time.monotonic() - started)


def repeat(sample: Sample, description: str, seed: int) -> dict[str, Any]:
    """Repeat one trial from a report, with a repair."""
    kind, file, place, bit = description.split(":")
    tally, random_ = Tally(), random.Random(seed)  # noqa: S311 - not for secrets
    remember_vectors(sample)
    if kind == "flip":
        damage = flip(sample, file, int(place), int(bit))
    else:
        damage = loss(sample, kind, file, random_, place=int(place))
    tally.try_one(sample, damage, repair_every=1)
    return report(tally, [sample], 0)


def report(tally: Tally, samples: Sequence[Sample], seconds: float) -> dict[str, Any]:
    """The results as JSON."""
    return {
        "format": FORMAT_VERSION,
        "sqlite": sqlite3.sqlite_version,
        "faiss": faiss.__version__,
        "samples": {one.name: {name: len(data) for name, data in one.files.items()} for one in samples},
        "trials": tally.outcomes.total(),
        "outcomes": dict(tally.outcomes),
        "by_kind": {name: dict(counts) for name, counts in sorted(tally.kinds.items())},
        "by_file": {name: dict(counts) for name, counts in sorted(tally.files.items())},
        "repairs": tally.repairs.total() - tally.repairs["none"],  # only those that found something to repair
        "repair_kinds": dict(tally.repairs),
        "repair_embedded": tally.embedded,
        "bad": tally.bad,
        "most_memory_mb": round(tally.most_memory / 2**20, 1),
        "seconds": round(seconds, 1),
    }


def main() -> int:
    """Run the command line; return 1 if anything went wrong."""
    parser = options.parser("Damage indexes, query them and repair them.")
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--truncations", type=int, default=1_000)
    parser.add_argument("--structure", type=float, default=STRUCTURE, help="fraction of the flips, 0 to 1")
    parser.add_argument("--repair-every", type=int, default=REPAIR_EVERY, metavar="N")
    parser.add_argument("--only", metavar="SHAPE:DAMAGE", help="repeat one trial from a report")
    given = parser.parse_args()
    import_what_is_needed()
    with tempfile.TemporaryDirectory() as folder:
        if given.only:
            shape, _, description = given.only.partition(":")
            found = repeat(make(shape, Path(folder) / shape), description, given.seed)
        else:
            samples = [make(shape, Path(folder) / shape) for shape in SHAPES]
            trials = Trials(given.flips, given.truncations, given.seed, given.structure, given.repair_every)
            found = run(samples, trials)
    return options.tell(found, given.out, violations="bad")


if __name__ == "__main__":
    sys.exit(main())
