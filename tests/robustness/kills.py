"""Kill a process that builds, updates, rebuilds or repairs an index at a random moment, and check what is left.

    python -m tests.robustness.kills --runs 500 [--files N] [--model] [--out FILE]

With `--model`, only first builds are killed, using the real model; otherwise a deliberately slow encoder is used.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from index.encoder.load import FastestEncoder
from index.encoder.model_files import find
from index.storage.vectors import Vectors, vector_digest
from index.update.report import Request
from index.update.update import rebuild_index, update_index
from tests.encoders import BagEncoder
from tests.robustness import options
from tests.robustness.picture import stored_digests
from tests.robustness.process import Child
from tests.robustness.scenarios import SCENARIOS, Expected, Scenario, expected_outcomes, write

# The batch size of `index.update.embed_queue`; one batch may be on its way to disk while the model finishes the next.
BATCH = 64
MOST_LOST = 2 * BATCH
FILES = 40
_PASSAGES = 20
_SECONDS_A_TEXT = 0.0005


class SlowEncoder(BagEncoder):
    """Embeds slowly, one batch at a time like a model."""

    def __init__(self) -> None:
        super().__init__()
        self._model = threading.Lock()

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        with self._model:
            vectors = super().encode_passages(texts)
            time.sleep(_SECONDS_A_TEXT * len(texts))
        return vectors


class RealEncoder(FastestEncoder):
    """The default model; records what it embedded."""

    def __init__(self) -> None:
        super().__init__(find())
        self.embedded: list[str] = []

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = super().encode_passages(texts)
        self.embedded.extend(texts)
        return vectors


def _log_of(root: Path) -> Path:
    """Where a process logs digests of the texts that it embeds; the file is created just before the build."""
    return root.with_name(f"{root.name}.log")


def _build_and_log(root: Path, load: Callable[[], Any], build: Callable[[Request], object]) -> float:
    """Build, and log what is embedded; return the seconds it took after the model was loaded."""
    encoder = load()
    encoder.encode_query("Load the model.")
    log, encode = os.open(_log_of(root), os.O_WRONLY | os.O_CREAT | os.O_APPEND), encoder.encode_passages

    def encode_passages(texts: Sequence[str]) -> Vectors:
        vectors: Vectors = encode(texts)
        os.write(log, "".join(f"{vector_digest(encoder.fingerprint, text).hex()}\n" for text in texts).encode())
        return vectors

    encoder.encode_passages = encode_passages
    started = time.monotonic()
    build(Request(root, encoder))
    return time.monotonic() - started


def _prepare(root: Path, files: int, scenario: Scenario) -> None:
    """Prepare a scenario, and add files with more passages than are embedded at once."""
    scenario.prepare(root)
    for number in range(files):
        parts = (f"# Part {number}.{part}\n\nOf {number} and {part}.\n" for part in range(_PASSAGES))
        write(root, {f"part-{number % 4}/{number}.md": "\n".join(parts)})


def scenarios(files: int = FILES, *, model: bool = False) -> tuple[Scenario, ...]:
    """The operations to kill; there must be enough files for more than two batches."""
    builds = {"first build": update_index, "update": update_index, "rebuild": rebuild_index, "repair": rebuild_index}
    encoder: Callable[[], Any] = RealEncoder if model else SlowEncoder
    targets = [
        replace(
            scenario,
            prepare=partial(_prepare, files=files, scenario=scenario),
            act=partial(_build_and_log, load=encoder, build=builds[scenario.name]),
            encoder=RealEncoder if model else BagEncoder,
        )
        for scenario in SCENARIOS
        if scenario.name in builds
    ]
    return tuple(targets[:1] if model else targets)


@dataclass(frozen=True, slots=True)
class Trial:
    """One process.

    Attributes:
        scenario: The name of its scenario.
        after: Seconds after which it was killed, counted from the start of its build.
        killed: Whether it was still running then.
        problems: What is wrong afterwards.
        embedded: Number of texts that it embedded.
        lost: Number of these whose vectors were not stored, and so must be computed again.
    """

    scenario: str
    after: float
    killed: bool
    problems: list[str]
    embedded: int
    lost: int


def kill(expected: Expected, after: float) -> Trial:
    """Run a scenario on a fresh copy, kill it `after` seconds after it began to build, and check what is left."""
    root = expected.template.with_name("trial")
    log = _log_of(root)
    shutil.copytree(expected.template, root)
    try:
        process = Child(partial(expected.scenario.act, root))
        while not log.exists() and not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            time.sleep(0.002)
        time.sleep(after)
        process.kill()
        result = process.wait()
        embedded = set(log.read_text(encoding="ascii").split())
        lost = len(embedded - {digest.hex() for digest in stored_digests(root / ".qa")})
        problems = expected.problems(root, done=result.status == 0)
        if result.status == 0 and result.error:
            problems.append(f"ended badly: {result}")
        if lost > MOST_LOST:
            problems.append(f"{lost} vectors lost")
        return Trial(expected.scenario.name, round(after, 4), result.status != 0, problems, len(embedded), lost)
    finally:
        shutil.rmtree(root)
        log.unlink(missing_ok=True)


def _kill_before_end(expected: Expected, after: float) -> Iterator[Trial]:
    """Kill earlier and earlier until it was still running, as the scenario may have been timed on a busy machine."""
    for _ in range(8):
        yield (trial := kill(expected, after))
        if trial.killed:
            return
        expected.result = min(expected.result, after)
        after /= 2


def run(runs: int = 500, seed: int = 0, files: int = FILES, *, model: bool = False) -> dict[str, Any]:
    """Kill the scenarios in turn, and return the results."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    started = time.monotonic()
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        targets = [
            expected_outcomes(case, folder / case.name.replace(" ", "-")) for case in scenarios(files, model=model)
        ]
        for number in range(runs):
            target = targets[number % len(targets)]
            trials += _kill_before_end(target, chance.uniform(0, 1.05 * target.result))
    failed = [trial for trial in trials if trial.problems]
    return {
        "runs": len(trials),
        "seed": seed,
        "texts": files * _PASSAGES,
        "killed": sum(trial.killed for trial in trials),
        "by_scenario": dict(Counter(trial.scenario for trial in trials if trial.killed)),
        "batch": BATCH,
        "finished": sum(trial.embedded for trial in trials),
        "embedded_again": sum(trial.lost for trial in trials),
        "most_lost": max(trial.lost for trial in trials),
        "violations": [{"scenario": bad.scenario, "after": bad.after, "wrong": bad.problems} for bad in failed],
        "seconds": round(time.monotonic() - started, 1),
    }


if __name__ == "__main__":
    sys.exit(options.main(run))
