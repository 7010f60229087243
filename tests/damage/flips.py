"""Bits turned over and files cut short, thousands of times: every answer is right or refused.

    python -m tests.damage.flips --flips 10000 --truncations 1000 --seed 1 --out damage.json

Each trial damages one file of a small index, opens it in a child process under a clock (2 s) and a limit of memory
(the size of the index and 256 MB more), puts some twenty questions to it, and compares the answers with those of the
undamaged index, complete and to the last bit. One refusal in fifty is followed by a repair, after which everything
must be as it was, and no text embedded whose vector still stood there. A trial that went wrong is printed with what
repeats it: `--only SHAPE:DAMAGE`.
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

from index.schema import FORMAT_VERSION
from tests.damage.places import Damage, flip, loss, random_flip, random_loss, region_of, regions
from tests.damage.samples import SHAPES, Sample, make
from tests.damage.trials import GOOD, Outcome, judge, remember_vectors, try_repair

# One refusal in so many is followed by a repair.
_REPAIR_EVERY = 50
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
    repairs: int = 0
    repair_embedded: int = 0
    bad_repairs: list[dict[str, Any]] = field(default_factory=list)
    most_memory: int = 0
    most_seconds: float = 0.0

    @property
    def trials(self) -> int:
        """How many."""
        return sum(self.outcomes.values())


def try_one(sample: Sample, damage: Damage, tally: Tally) -> None:
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
    if judged.outcome is Outcome.REFUSED and tally.outcomes[Outcome.REFUSED] % _REPAIR_EVERY == 1:
        repaired = try_repair(sample, damage)
        tally.repairs += 1
        tally.repair_embedded += repaired.embedded
        if repaired.problem:
            tally.bad_repairs.append(where | {"problem": repaired.problem})


def damages(sample: Sample, *, flips: int, truncations: int, seed: int) -> Iterator[Damage]:
    """Flips, and losses of whole files among them; the same for the same seed."""
    random_ = random.Random(f"{seed} {sample.name}")  # noqa: S311 - not for secrets
    parts = regions(sample)
    while flips + truncations:
        if random_.randrange(flips + truncations) < flips:
            flips -= 1
            yield random_flip(sample, parts, random_)
        else:
            truncations -= 1
            yield random_loss(sample, random_)


def run_trials(samples: Sequence[Sample], *, flips: int, truncations: int, seed: int) -> Iterator[Tally]:
    """Share out so many trials over the samples, which take turns, and count: the same tally after every round."""
    tally = Tally()
    planned = []
    for place, sample in enumerate(samples):
        remember_vectors(sample)
        share = [count // len(samples) + (place < count % len(samples)) for count in (flips, truncations)]
        planned.append(damages(sample, flips=share[0], truncations=share[1], seed=seed))
    for several in zip_longest(*planned):
        for sample, damage in zip(samples, several, strict=True):
            if damage is not None:
                try_one(sample, damage, tally)
        yield tally
    for sample in samples:
        sample.lay_out()


def repeat(sample: Sample, words: str, seed: int) -> Tally:
    """The one trial that a report named, with a repair."""
    kind, file, place, bit = words.split(":")
    tally = Tally()
    remember_vectors(sample)
    if kind == "flip":
        damage = flip(sample, file, int(place), int(bit), region=region_of(regions(sample), file, int(place)))
    else:
        damage = loss(sample, kind, file, random.Random(seed), place=int(place))  # noqa: S311 - not for secrets
    try_one(sample, damage, tally)
    return tally


def report(tally: Tally, samples: Sequence[Sample], seed: int, seconds: float) -> dict[str, Any]:
    """Everything that was counted, as JSON."""
    import faiss

    return {
        "seed": seed,
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


def main() -> int:
    """Run what the command line asks for; 1 where anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--truncations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="stop after so long; 0 for never")
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--only", metavar="SHAPE:DAMAGE", help="repeat one trial of a report")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        if given.only:
            shape, _, words = given.only.partition(":")
            samples = [make(shape, Path(place) / shape)]
            tally = repeat(samples[0], words, given.seed)
        else:
            samples = [make(shape, Path(place) / shape) for shape in given.shapes]
            tally = Tally()
            trials = run_trials(samples, flips=given.flips, truncations=given.truncations, seed=given.seed)
            for rounds, tally in enumerate(trials, 1):
                if rounds % _WRITTEN_EVERY == 0:
                    write(given.out, report(tally, samples, given.seed, time.monotonic() - started))
                if given.minutes and time.monotonic() - started > 60 * given.minutes:
                    break
        found = report(tally, samples, given.seed, time.monotonic() - started)
    write(given.out, found)
    shown = found | {"bad": found["bad"][:_SHOWN], "bad_repairs": found["bad_repairs"][:_SHOWN]}
    json.dump(shown, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
    return 1 if tally.bad or tally.bad_repairs else 0


if __name__ == "__main__":
    sys.exit(main())
