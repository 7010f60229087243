"""Bits turned over and files cut short, thousands of times: every answer is right or refused.

    python -m tests.robustness.bit_flips --flips 10000 --truncations 1000 --seed 1 --out damage.json

Each trial damages one file of a small index, opens it in a child process under a clock (2 s) and a limit of memory
(the size of the index and 256 MB more), puts some twenty questions to it, and compares the answers with those of the
undamaged index, complete and to the last bit. Of the trials that were refused or answered rightly, one in fifty
(`--repair-every`) is followed by a repair, after which everything must be as it was, and no text embedded whose vector
still stood there. Half of the flips (`--structure`) strike bytes of the database that say how others are to be read.
A trial that went wrong is printed with what repeats it: `--only SHAPE:DAMAGE`. Repairs above all:

    python -m tests.robustness.bit_flips --flips 600 --truncations 60 --structure 1 --repair-every 1 --seed 2
"""

from __future__ import annotations

import argparse
import json
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

from index.storage.database import FORMAT_VERSION
from tests.robustness.damages import (
    Damage,
    flip,
    flip_within,
    loss,
    random_flip,
    random_loss,
    region_of,
    regions,
    structures,
)
from tests.robustness.samples import SHAPES, Sample, make
from tests.robustness.trials import GOOD, Outcome, judge, remember_vectors, try_repair

# Of the trials that may be, one in so many is followed by a repair; so much of all flips strikes structure.
REPAIR_EVERY = 50
STRUCTURE = 0.5
_SHOWN = 40
# The report is written after so many rounds, too.
_WRITTEN_EVERY = 50


@dataclass(slots=True)
class Tally:
    """What the trials came to."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    files: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    regions: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    bad: list[dict[str, Any]] = field(default_factory=list)
    cures: Counter[str] = field(default_factory=Counter)
    repair_embedded: int = 0
    bad_repairs: list[dict[str, Any]] = field(default_factory=list)
    most_memory: int = 0
    most_seconds: float = 0.0

    @property
    def trials(self) -> int:
        """How many."""
        return sum(self.outcomes.values())

    @property
    def repairs(self) -> int:
        """How many found something to repair."""
        return self.cures.total() - self.cures["none"]


def try_one(sample: Sample, damage: Damage, tally: Tally, *, repair_every: int) -> None:
    """One trial, and now and then a repair."""
    judged = judge(sample, damage)
    tally.outcomes[judged.outcome] += 1
    tally.kinds[damage.kind][judged.outcome] += 1
    file = "vectors-*.faiss" if damage.file.endswith(".faiss") else damage.file
    tally.files[file][judged.outcome] += 1
    if damage.kind == "flip":
        tally.regions[f"{file}, {damage.region}"][judged.outcome] += 1
    tally.most_memory = max(tally.most_memory, judged.grown)
    tally.most_seconds = max(tally.most_seconds, judged.seconds)
    where = {"only": f"{sample.name}:{damage}", "region": damage.region}
    if judged.outcome not in GOOD:
        tally.bad.append(where | {"outcome": judged.outcome, "detail": judged.detail})
    # An earlier generation is whole, and stays.
    repairable = tally.outcomes[Outcome.REFUSED] + tally.outcomes[Outcome.RIGHT]
    if judged.outcome in (Outcome.REFUSED, Outcome.RIGHT) and repairable % repair_every == 0:
        repaired = try_repair(sample, damage)
        tally.cures[repaired.cure or "failed"] += 1
        tally.repair_embedded += repaired.embedded
        if repaired.problem:
            tally.bad_repairs.append(where | {"problem": repaired.problem})


@dataclass(frozen=True, slots=True)
class Plan:
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

    def share(self, place: int, samples: int) -> tuple[int, int]:
        """Flips and truncations of one sample."""
        flips, truncations = (count // samples + (place < count % samples) for count in (self.flips, self.truncations))
        return flips, truncations


def damages(sample: Sample, plan: Plan, flips: int, truncations: int) -> Iterator[Damage]:
    """Flips, and losses of whole files among them; the same for the same seed."""
    random_ = random.Random(f"{plan.seed} {sample.name}")  # noqa: S311 - not for secrets
    parts, structural = regions(sample), structures(sample.files["index.db"])
    while flips + truncations:
        if random_.randrange(flips + truncations) < flips:
            flips -= 1
            if random_.random() < plan.structure:
                yield flip_within(sample, structural, random_)
            else:
                yield random_flip(sample, parts, random_)
        else:
            truncations -= 1
            yield random_loss(sample, random_)


def run_trials(samples: Sequence[Sample], plan: Plan) -> Iterator[Tally]:
    """Share out so many trials over the samples, which take turns, and count: the same tally after every round."""
    tally = Tally()
    planned = []
    for place, sample in enumerate(samples):
        remember_vectors(sample)
        planned.append(damages(sample, plan, *plan.share(place, len(samples))))
    for several in zip_longest(*planned):
        for sample, damage in zip(samples, several, strict=True):
            if damage is not None:
                try_one(sample, damage, tally, repair_every=plan.repair_every)
        yield tally
    for sample in samples:
        sample.lay_out()


def repeat(sample: Sample, words: str, seed: int) -> Tally:
    """The one trial that a report named, with a repair."""
    kind, file, place, bit = words.split(":")
    tally = Tally()
    remember_vectors(sample)
    if kind == "flip":
        parts = [*structures(sample.files["index.db"]), *regions(sample)]
        damage = flip(sample, file, int(place), int(bit), region=region_of(parts, file, int(place)))
    else:
        damage = loss(sample, kind, file, random.Random(seed), place=int(place))  # noqa: S311 - not for secrets
    try_one(sample, damage, tally, repair_every=1)
    return tally


def report(tally: Tally, samples: Sequence[Sample], plan: Plan, seconds: float) -> dict[str, Any]:
    """Everything that was counted, as JSON."""
    import faiss

    return {
        "seed": plan.seed,
        "structure": plan.structure,
        "repair_every": plan.repair_every,
        "format": FORMAT_VERSION,
        "sqlite": sqlite3.sqlite_version,
        "faiss": faiss.__version__,
        "samples": {
            one.name: {
                "bytes": one.size,
                "files": {name: len(data) for name, data in one.files.items()},
                "generations": sorted(one.expected),
            }
            for one in samples
        },
        "trials": tally.trials,
        "outcomes": dict(tally.outcomes),
        "by_kind": {name: dict(counts) for name, counts in sorted(tally.kinds.items())},
        "by_file": {name: dict(counts) for name, counts in sorted(tally.files.items())},
        "by_region": {name: dict(counts) for name, counts in sorted(tally.regions.items())},
        "repairs": tally.repairs,
        "cures": dict(tally.cures),
        "repair_embedded": tally.repair_embedded,
        "bad": tally.bad,
        "bad_repairs": tally.bad_repairs,
        "most_memory_mb": round(tally.most_memory / 2**20, 1),
        "most_seconds": round(tally.most_seconds, 3),
        "seconds": round(seconds, 1),
    }


def write(out: Path | None, found: dict[str, Any]) -> None:
    """Write a report, if a file was named."""
    if out is not None:
        out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def run_all(samples: Sequence[Sample], plan: Plan, *, minutes: float = 0, out: Path | None = None) -> dict[str, Any]:
    """All trials, or as many as there is time for; the report is written now and then, too."""
    started = time.monotonic()
    tally = Tally()
    for rounds, tally in enumerate(run_trials(samples, plan), 1):
        if rounds % _WRITTEN_EVERY == 0:
            write(out, report(tally, samples, plan, time.monotonic() - started))
        if minutes and time.monotonic() - started > 60 * minutes:
            break
    return report(tally, samples, plan, time.monotonic() - started)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--truncations", type=int, default=1_000)
    parser.add_argument("--structure", type=float, default=STRUCTURE, help="share of the flips, 0 to 1")
    parser.add_argument("--repair-every", type=int, default=REPAIR_EVERY, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="stop after so long; 0 for never")
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--only", metavar="SHAPE:DAMAGE", help="repeat one trial of a report")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def main() -> int:
    """Run what the command line asks for; 1 where anything went wrong."""
    given = _arguments()
    plan = Plan(given.flips, given.truncations, given.seed, given.structure, given.repair_every)
    with tempfile.TemporaryDirectory() as place:
        if given.only:
            shape, _, words = given.only.partition(":")
            samples = [make(shape, Path(place) / shape)]
            found = report(repeat(samples[0], words, given.seed), samples, plan, 0)
        else:
            samples = [make(shape, Path(place) / shape) for shape in given.shapes]
            found = run_all(samples, plan, minutes=given.minutes, out=given.out)
    write(given.out, found)
    shown = found | {"bad": found["bad"][:_SHOWN], "bad_repairs": found["bad_repairs"][:_SHOWN]}
    json.dump(shown, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
    return 1 if found["bad"] or found["bad_repairs"] else 0


if __name__ == "__main__":
    sys.exit(main())
