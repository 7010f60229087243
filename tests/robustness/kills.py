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
from tests.robustness.scenarios import SCENARIOS, Expected, Scenario, prepared, write

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
            found = super().encode_passages(texts)
            time.sleep(_SECONDS_A_TEXT * len(texts))
        return found


class RealEncoder(FastestEncoder):
    """The default model; records what it embedded."""

    def __init__(self) -> None:
        super().__init__(find())
        self.embedded: list[str] = []

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        found = super().encode_passages(texts)
        self.embedded.extend(texts)
        return found


def _log_of(root: Path) -> Path:
    """Where a process logs digests of the texts it has embedded; created when it is about to build."""
    return root.with_name(f"{root.name}.log")


def _act(root: Path, encoder: Callable[[], Any], run: Callable[[Request], object]) -> float:
    """Build, and log what is embedded; returns the seconds it took, not counting loading the model."""
    embedding = encoder()
    embedding.encode_query("Load the model.")
    log, encode = os.open(_log_of(root), os.O_WRONLY | os.O_CREAT | os.O_APPEND), embedding.encode_passages

    def encode_passages(texts: Sequence[str]) -> Vectors:
        found: Vectors = encode(texts)
        os.write(log, "".join(f"{vector_digest(embedding.fingerprint, text).hex()}\n" for text in texts).encode())
        return found

    embedding.encode_passages = encode_passages
    started = time.monotonic()
    run(Request(root, embedding))
    return time.monotonic() - started


def _prepare(root: Path, files: int, before: Scenario) -> None:
    """Prepare a folder as for another scenario, and add files with more passages than are embedded at once."""
    before.prepare(root)
    for number in range(files):
        parts = (f"# Part {number}.{part}\n\nOf {number} and {part}.\n" for part in range(_PASSAGES))
        write(root, {f"part-{number % 4}/{number}.md": "\n".join(parts)})


def scenarios(files: int = FILES, *, model: bool = False) -> tuple[Scenario, ...]:
    """The operations to kill; there must be enough files for more than two batches."""
    runs = {"first build": update_index, "update": update_index, "rebuild": rebuild_index, "repair": rebuild_index}
    encoder: Callable[[], Any] = RealEncoder if model else SlowEncoder
    found = [
        replace(
            one,
            prepare=partial(_prepare, files=files, before=one),
            act=partial(_act, encoder=encoder, run=runs[one.name]),
            encoder=RealEncoder if model else BagEncoder,
        )
        for one in SCENARIOS
        if one.name in runs
    ]
    return tuple(found[:1] if model else found)


@dataclass(frozen=True, slots=True)
class Killed:
    """One run.

    Attributes:
        killed: Whether it was still running when it was killed.
        wrong: What is wrong afterwards.
        finished: How many texts were embedded.
        lost: How many of their vectors were not stored, and so must be computed again.
    """

    killed: bool
    wrong: list[str]
    finished: int
    lost: int


def kill(expected: Expected, after: float) -> Killed:
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
        ended = process.wait()
        finished = set(log.read_text(encoding="ascii").split())
        lost = len(finished - {digest.hex() for digest in stored_digests(root / ".qa")})
        wrong = expected.problems(root, done=ended.status == 0)
        if ended.status == 0 and ended.error:
            wrong.append(f"ended badly: {ended}")
        if lost > MOST_LOST:
            wrong.append(f"{lost} finished texts lost")
        return Killed(ended.status != 0, wrong, len(finished), lost)
    finally:
        shutil.rmtree(root)
        log.unlink(missing_ok=True)


def _until_killed(expected: Expected, after: float) -> Iterator[tuple[float, Killed]]:
    """Kill it earlier and earlier until it had not finished: it may have been timed on a busy machine."""
    for _ in range(8):
        one = kill(expected, after)
        yield after, one
        if one.killed:
            return
        expected.took = min(expected.took, after)
        after /= 2


def run(runs: int = 500, seed: int = 0, files: int = FILES, *, model: bool = False) -> dict[str, Any]:
    """Kill the scenarios in turn, and return the results."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    started = time.monotonic()
    found: list[tuple[str, float, Killed]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        targets = [prepared(one, folder / one.name.replace(" ", "-")) for one in scenarios(files, model=model)]
        for number in range(runs):
            target = targets[number % len(targets)]
            for after, one in _until_killed(target, chance.uniform(0, 1.05 * target.took)):
                found.append((target.scenario.name, round(after, 4), one))
    done = [one for _, _, one in found]
    return {
        "runs": len(found),
        "seed": seed,
        "texts": files * _PASSAGES,
        "killed": sum(one.killed for one in done),
        "by_scenario": dict(Counter(name for name, _, one in found if one.killed)),
        "batch": BATCH,
        "finished": sum(one.finished for one in done),
        "embedded_again": sum(one.lost for one in done),
        "most_lost": max(one.lost for one in done),
        "violations": [{"scenario": name, "after": at, "wrong": one.wrong} for name, at, one in found if one.wrong],
        "seconds": round(time.monotonic() - started, 1),
    }


if __name__ == "__main__":
    sys.exit(options.main(run))
