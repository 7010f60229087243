"""A folder of hostile files, and what each of them costs.

    python -m tests.robustness.hostile_corpus --measure [--only WORDS]   a table: each file in a process of its own
    python -m tests.robustness.hostile_corpus --write FOLDER             the files, to look at

A file must take at most 10 s of processor time and 512 MB: read, cut with the real tokenizer, written to an index.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from index.encoder.model_files import find
from index.encoder.protocol import Vectors
from index.encoder.tokenizer import ModelTokenizer
from index.update.report import BuildReport, Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.paths import REPOSITORY
from tests.robustness.hostile_case import Case
from tests.robustness.hostile_files import BYTES, EXPRESSIONS, MARKDOWN, NAMES, SIZES, TEXTS
from tests.robustness.special_files import SPECIAL

MOST_SECONDS, MOST_MEGABYTES = 10.0, 512.0

REASONS = re.compile(
    r"not UTF-8, and its encoding is unknown; save it as UTF-8|damaged( \(\w+\)|: [\w ,]+)?"
    r"|damaged or truncated: cannot be opened as a PDF"
    r"|binary, not text|not a regular file|symbolic link, not followed"
    r"|format not supported|larger than 8 MiB( \([\d,]+ bytes\))?|its name is not valid UTF-8"
    r"|more than (200,000 lines|20,000 passages|500,000 sentences); split it into smaller files"
    r"|(folder )?cannot be read: (Permission denied|File name too long)"
    r"|ignore file .*|only its first 1,000 patterns are used"
)
"""Every reason there may be."""


class QuickEncoder(BagEncoder):
    """Counts tokens as the real model does; a text's vector is one direction, which takes no time."""

    def __init__(self) -> None:
        super().__init__(name="quick", fingerprint="9" * 64, max_tokens=254)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return _tokens().count(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return super().encode_passages([text[:4] for text in texts])


@cache
def _tokens() -> ModelTokenizer:
    return ModelTokenizer(find())


HEALTHY = {
    "healthy/alpha.md": "# Alpha\n\nThe heron waits at the weir.\n",
    "healthy/beta.txt": "Beta\n====\n\nThe otter sleeps by the lock.\n",
    "healthy/deep/gamma.rst": "Gamma\n-----\n\nThe kingfisher dives at noon.\n",
    "healthy/ünïcödé 漢字.md": "# Delta\n\nThe dipper sings in winter.\n",
    "healthy/README": "The wagtail nests under the bridge.\n",
}
CASES = (*NAMES, *BYTES, *TEXTS, *SIZES, *MARKDOWN, *EXPRESSIONS, *SPECIAL)


def write(root: Path, cases: Sequence[Case] = CASES, *, share: float = 1.0) -> None:
    """Write the healthy files and the hostile ones into a new folder.

    Args:
        root: The folder.
        cases: Which hostile files.
        share: Of the full size of those that can be smaller.
    """
    for path, text in HEALTHY.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for case in cases:
        file = root / case.path
        file.parent.mkdir(parents=True, exist_ok=True)
        case.make(file, share)


def build(root: Path) -> BuildReport:
    return update_index(Request(root, QuickEncoder()))


@dataclass(frozen=True, slots=True)
class Cost:
    """What one file took: its outcome in words, seconds of processor time, seconds by the clock, the peak in MB."""

    path: str
    outcome: str
    seconds: float
    clock: float
    megabytes: float

    @property
    def fits(self) -> bool:
        return self.seconds <= MOST_SECONDS and self.megabytes <= MOST_MEGABYTES


def measure(case: Case) -> Cost:
    """Build an index of one hostile file and the healthy ones, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "corpus")
        write(root, [case])
        command = [sys.executable, "-m", "tests.robustness.hostile_corpus", "--one", folder]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            return Cost(case.path, f"DIED ({done.returncode}): {done.stderr[-200:]}", *[float("inf")] * 3)
        return Cost(case.path, **json.loads(done.stdout))


def _one(folder: Path) -> dict[str, str | float]:
    (folder / "nothing").mkdir()
    build(folder / "nothing")  # the libraries are loaded, and with a word the tokenizer too
    _tokens()
    begun, clock = time.process_time(), time.perf_counter()
    report = build(folder / "corpus")
    seconds, clock = time.process_time() - begun, time.perf_counter() - clock
    reasons = "; ".join(skip.reason for skip in report.skipped)
    outcome = reasons or f"{report.passages - len(HEALTHY):,} passages"
    return {"outcome": outcome, "seconds": round(seconds, 2), "clock": round(clock, 2), "megabytes": _peak()}


def _peak() -> float:
    """The most memory this process had, in MB; getrusage would count what its parent had before it was started."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"^VmHWM:\s*(\d+) kB", status.read_text(encoding="ascii"), re.MULTILINE)
        if found:
            return int(found[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    parser.add_argument("--one", type=Path, metavar="FOLDER", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(_one(given.one)))
    elif given.write:
        write(given.write)
    elif given.measure:
        sys.exit(_table([case for case in CASES if given.only in case.path]))
    else:
        parser.error("say --measure or --write FOLDER")


def _table(cases: Sequence[Case]) -> int:
    print("| file | outcome | s | s by the clock | MB |\n|---|---|---:|---:|---:|")
    costs = []
    for case in cases:
        cost = measure(case)
        costs.append(cost)
        flag = "" if cost.fits else " **over**"
        figures = f"{cost.seconds:.2f} | {cost.clock:.2f} | {cost.megabytes:.0f}{flag}"
        print(f"| {ascii(cost.path)[1:-1]} | {cost.outcome} | {figures} |", flush=True)
    over = [cost.path for cost in costs if not cost.fits]
    slowest, largest = max(costs, key=lambda cost: cost.seconds), max(costs, key=lambda cost: cost.megabytes)
    print(f"\n{len(costs)} files; slowest {slowest.path} {slowest.seconds:.2f} s, largest {largest.path} ", end="")
    print(f"{largest.megabytes:.0f} MB; over {MOST_SECONDS:.0f} s or {MOST_MEGABYTES:.0f} MB: {len(over)}")
    return bool(over)


if __name__ == "__main__":
    main()
