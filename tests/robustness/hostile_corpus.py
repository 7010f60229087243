"""A folder of hostile files, and the time and memory that each of them takes.

    python -m tests.robustness.hostile_corpus [--only WORDS]   measures each file in a separate process

Reading a file, splitting it with the real tokenizer and indexing may take at most 10 s of processor time and 400 MB.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from index.encoder.model_files import find
from index.encoder.tokenizer import ModelTokenizer
from index.storage.vectors import Vectors
from index.update.report import BuildReport, Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.robustness import options
from tests.robustness.hostile_case import Case
from tests.robustness.hostile_files import BYTES, EXPRESSIONS, MARKDOWN, NAMES, SIZES, TEXTS
from tests.robustness.process import run
from tests.robustness.special_files import SPECIAL

MOST_SECONDS, MOST_MEGABYTES = 10.0, 400.0

REASONS = re.compile(
    r"not UTF-8, and its encoding is unknown; save it as UTF-8|damaged( \(\w+\)|: [\w ,]+)?"
    r"|damaged or truncated: cannot be opened as a PDF"
    r"|binary, not text|not a regular file|symbolic link, not followed"
    r"|format not supported|larger than 8 MiB( \([\d,]+ bytes\))?|its name is not valid UTF-8"
    r"|more than (200,000 lines|20,000 passages|500,000 sentences); split it into smaller files"
    r"|(folder )?cannot be read: (Permission denied|File name too long)"
    r"|ignore file .*|only its first 1,000 patterns are used"
)
"""Every acceptable reason for skipping a file."""


class QuickEncoder(BagEncoder):
    """Counts tokens as the real model does, but takes no time to embed: only the first characters."""

    def __init__(self) -> None:
        super().__init__(name="quick", fingerprint="9" * 64, max_tokens=254)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return _tokenizer().count(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return super().encode_passages([text[:4] for text in texts])


@cache
def _tokenizer() -> ModelTokenizer:
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
    """Write the healthy and the hostile files into a new folder, scalable files at `share` of their full size."""
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
    """What became of a file, and its processor time and memory beyond that of the libraries."""

    path: str
    outcome: str
    seconds: float
    megabytes: float

    @property
    def is_within_limits(self) -> bool:
        return self.seconds <= MOST_SECONDS and self.megabytes <= MOST_MEGABYTES


def measure(case: Case, *, share: float = 1.0) -> Cost:
    """Index one hostile file with the healthy ones in a separate process."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "corpus")
        write(root, [case], share=share)
        result = run(partial(_build_one, root), seconds=300)
    outcome, seconds = result.value if result.succeeded else (f"DIED: {result}", float("inf"))
    return Cost(case.path, outcome, seconds, result.memory / 1e6)


def _build_one(root: Path) -> tuple[str, float]:
    _tokenizer()
    started = time.process_time()
    report = build(root)
    reasons = "; ".join(skip.reason for skip in report.skipped)
    return reasons or f"{report.passages - len(HEALTHY):,} passages", time.process_time() - started


def run_all(only: str = "") -> dict[str, Any]:
    """Measure every file whose path contains `only`."""
    costs = [measure(case) for case in CASES if only in case.path]
    return {
        **{ascii(cost.path)[1:-1]: f"{cost.outcome}, {cost.seconds:.2f} s, {cost.megabytes:.0f} MB" for cost in costs},
        "violations": [cost.path for cost in costs if not cost.is_within_limits],
    }


if __name__ == "__main__":
    # Run as the module, not as __main__, so that its functions can be unpickled.
    from tests.robustness import hostile_corpus

    sys.exit(options.main(hostile_corpus.run_all))
