"""Bits turned over and files cut short, thousands of times: every answer is right or refused.

    python -m tests.robustness.bit_flips --flips 10000 --truncations 1000 --seed 1 --out damage.json

Each trial damages one file of a small index, opens it in a fork under a clock (20 s) and a limit of memory (the size of
the index and 256 MB more), puts some twenty questions to it, and compares the answers with those of the undamaged
index, complete and to the last bit. Of the trials that were refused or answered rightly, one in fifty
(`--repair-every`) is followed by a repair, after which everything must be as it was, and no text embedded whose vector
was still sound. Half of the flips (`--structure`) strike bytes that say how others are to be read. A trial that went
wrong is printed with what repeats it: `--only SHAPE:DAMAGE`. Repairs above all:

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

# Of the trials that may be, one in so many is followed by a repair; so much of all flips strikes structure.
REPAIR_EVERY = 50
STRUCTURE = 0.5


@dataclass(frozen=True, slots=True)
class Trials:
    """What is tried.

    Attributes:
        flips: Bits turned over.
        truncations: Losses of whole files.
        seed: Of the choice.
        structure: How much of the flips strikes structure, 0 to 1.
        repair_every: Of the trials that may be, one in so many is followed by a repair.
    """

    flips: int
    truncations: int
    seed: int
    structure: float = STRUCTURE
    repair_every: int = REPAIR_EVERY

    def damages(self, sample: Sample, place: int, samples: int) -> Iterator[Damage]:
        """The share of one of the samples, flips and losses mixed."""
        flips, losses = (count // samples + (place < count % samples) for count in (self.flips, self.truncations))
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
    """What the trials came to."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    files: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    bad: list[dict[str, Any]] = field(default_factory=list)
    repairs: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    most_memory: int = 0

    def try_one(self, sample: Sample, damage: Damage, *, repair_every: int) -> None:
        """One trial, and now and then a repair."""
        judged = judge(sample, damage)
        self.outcomes[judged.outcome] += 1
        self.kinds[damage.kind][judged.outcome] += 1
        self.files["vectors-*.faiss" if damage.file.endswith(".faiss") else damage.file][judged.outcome] += 1
        self.most_memory = max(self.most_memory, judged.grown)
        where = {"only": f"{sample.name}:{damage}"}
        if judged.outcome not in GOOD:
            self.bad.append(where | {"outcome": judged.outcome, "detail": judged.detail})
        # An earlier generation is whole, and stays.
        repairable = self.outcomes[Outcome.REFUSED] + self.outcomes[Outcome.RIGHT]
        if judged.outcome in (Outcome.REFUSED, Outcome.RIGHT) and repairable % repair_every == 0:
            repaired = try_repair(sample, damage)
            self.repairs[repaired.kind or "failed"] += 1
            self.embedded += repaired.embedded
            if repaired.problem:
                self.bad.append(where | {"repair": repaired.problem})


def run(samples: Sequence[Sample], trials: Trials) -> dict[str, Any]:
    """Share out the trials over the samples, which take turns; what was counted."""
    started = time.monotonic()
    tally = Tally()
    for sample in samples:
        remember_vectors(sample)
    planned = [trials.damages(sample, place, len(samples)) for place, sample in enumerate(samples)]
    for several in zip_longest(*planned):
        for sample, damage in zip(samples, several, strict=True):
            if damage is not None:
                tally.try_one(sample, damage, repair_every=trials.repair_every)
    for sample in samples:
        sample.lay_out()
    return report(tally, samples, time.monotonic() - started)


def repeat(sample: Sample, words: str, seed: int) -> dict[str, Any]:
    """The one trial that a report named, with a repair."""
    kind, file, place, bit = words.split(":")
    tally, random_ = Tally(), random.Random(seed)  # noqa: S311 - not for secrets
    remember_vectors(sample)
    if kind == "flip":
        damage = flip(sample, file, int(place), int(bit))
    else:
        damage = loss(sample, kind, file, random_, place=int(place))
    tally.try_one(sample, damage, repair_every=1)
    return report(tally, [sample], 0)


def report(tally: Tally, samples: Sequence[Sample], seconds: float) -> dict[str, Any]:
    """Everything that was counted, as JSON."""
    return {
        "format": FORMAT_VERSION,
        "sqlite": sqlite3.sqlite_version,
        "faiss": faiss.__version__,
        "samples": {one.name: {name: len(data) for name, data in one.files.items()} for one in samples},
        "trials": tally.outcomes.total(),
        "outcomes": dict(tally.outcomes),
        "by_kind": {name: dict(counts) for name, counts in sorted(tally.kinds.items())},
        "by_file": {name: dict(counts) for name, counts in sorted(tally.files.items())},
        # Those that found something to repair.
        "repairs": tally.repairs.total() - tally.repairs["none"],
        "repair_kinds": dict(tally.repairs),
        "repair_embedded": tally.embedded,
        "bad": tally.bad,
        "bad_repairs": [one for one in tally.bad if "repair" in one],
        "most_memory_mb": round(tally.most_memory / 2**20, 1),
        "seconds": round(seconds, 1),
    }


def main() -> int:
    """Run what the command line asks for; 1 where anything went wrong."""
    parser = options.parser("Damage indexes, ask and repair them.")
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--truncations", type=int, default=1_000)
    parser.add_argument("--structure", type=float, default=STRUCTURE, help="share of the flips, 0 to 1")
    parser.add_argument("--repair-every", type=int, default=REPAIR_EVERY, metavar="N")
    parser.add_argument("--only", metavar="SHAPE:DAMAGE", help="repeat one trial of a report")
    given = parser.parse_args()
    import_what_is_needed()
    with tempfile.TemporaryDirectory() as place:
        if given.only:
            shape, _, words = given.only.partition(":")
            found = repeat(make(shape, Path(place) / shape), words, given.seed)
        else:
            samples = [make(shape, Path(place) / shape) for shape in SHAPES]
            trials = Trials(given.flips, given.truncations, given.seed, given.structure, given.repair_every)
            found = run(samples, trials)
    return options.tell(found, given.out, violations="bad")


if __name__ == "__main__":
    sys.exit(main())
