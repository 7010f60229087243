"""Kill a process that builds, updates, rebuilds or repairs an index at any moment, and look what is left.

python -m tests.robustness.kills --runs 500 [--files N] [--model] [--out FILE]

With `--model` the real one embeds, in a program of its own; otherwise an encoder that takes its time.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from index.dense.vector_rows import vector_digest
from index.encoder.protocol import Vectors
from index.update.report import Request
from index.update.update import rebuild_index, update_index
from tests.encoders import BagEncoder
from tests.robustness import options
from tests.robustness.contents import stored_digests
from tests.robustness.forks import Fork, value_of
from tests.robustness.judge import look
from tests.robustness.scenarios import INTERIM, Expected, Scenario, in_memory, prepared, warm_up, write

# As `index.update.embed_queue` commits them; one may be on its way to the disk while the next comes out of the model.
BATCH = 256
MOST_LOST = 2 * BATCH
FILES = 40
_PASSAGES = 20
_SECONDS_A_TEXT = 0.0005
_WORDS = ("harbour", "cat", "robot", "morning", "ferry", "sea", "dog", "bird", "paper", "note", "mat", "dusk")


class SlowEncoder(BagEncoder):
    """Takes its time, one batch after the other as a model does, and writes down the texts that it is done with.

    Args:
        log: File to write to.
    """

    def __init__(self, log: Path) -> None:
        super().__init__()
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._model = threading.Lock()

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        with self._model:
            found = super().encode_passages(texts)
            time.sleep(_SECONDS_A_TEXT * len(texts))
        os.write(self._log, "".join(f"{vector_digest(self.fingerprint, text).hex()}\n" for text in texts).encode())
        return found


def _documents(seed: int, count: int) -> dict[str, str]:
    chance = random.Random(seed)  # noqa: S311 - not for secrets

    def part(number: int, place: int) -> str:
        one, other = chance.choice(_WORDS), chance.choice(_WORDS)
        return f"# Part {number}.{place}\n\nThe {one} and the {other} of {seed}, {number}, {place}.\n\n"

    return {
        f"part-{number % 4}/file-{number:02}.md": "".join(part(number, place) for place in range(_PASSAGES))
        for number in range(count)
    }


def _act(root: Path, run: Callable[[Request], Any]) -> object:
    return run(Request(root, SlowEncoder(root.with_name(f"{root.name}.log")))).passages


def _first(root: Path, files: int) -> None:
    write(root, _documents(1, files))


def _changed(root: Path, files: int) -> None:
    _first(root, files)
    update_index(Request(root, BagEncoder()))
    write(root, _documents(2, files // 2), at=1_700_000_009)
    (root / "part-3" / f"file-{files - 1}.md").unlink()
    (root / "part-3" / f"file-{files - 5}.md").rename(root / "moved.md")


def _damaged(root: Path, files: int) -> None:
    _changed(root, files)
    connection = sqlite3.connect(root / ".qa" / "index.db")
    connection.execute("UPDATE meta SET value = '9' WHERE key = 'generation'")
    connection.commit()
    connection.close()


def scenarios(files: int = FILES) -> tuple[Scenario, ...]:
    """What is killed; with so many files, a multiple of four of them and enough for more than two batches."""
    return (
        Scenario("first build", partial(_first, files=files), partial(_act, run=update_index)),
        Scenario("update", partial(_changed, files=files), partial(_act, run=update_index)),
        Scenario("rebuild", partial(_changed, files=files), partial(_act, run=rebuild_index)),
        Scenario("repair", partial(_damaged, files=files), partial(_act, run=rebuild_index), INTERIM),
    )


@dataclass(slots=True)
class Target:
    """A scenario and how long it takes when nobody kills it."""

    scenario: Scenario
    expected: Expected
    seconds: float
    folder: Path


@dataclass(frozen=True, slots=True)
class Killed:
    """One run.

    Attributes:
        killed: Whether it was still running.
        wrong: What is wrong afterwards.
        finished: Texts whose embedding was done.
        lost: Those of them whose vectors are not stored.
    """

    killed: bool
    wrong: list[str]
    finished: int
    lost: int


def aim(scenario: Scenario, folder: Path) -> Target:
    """Prepare a scenario."""
    expected = prepared(scenario, folder)
    copy = folder / "timed"
    shutil.copytree(expected.template, copy)
    started = time.monotonic()
    value_of(partial(scenario.act, copy))
    return Target(scenario, expected, time.monotonic() - started, folder)


def kill(target: Target, after: float) -> Killed:
    """Run it on a fresh copy, kill it after so many seconds, and look."""
    root, log = target.folder / "trial", target.folder / "trial.log"
    shutil.copytree(target.expected.template, root)
    try:
        process = Fork(partial(target.scenario.act, root))
        time.sleep(after)
        process.kill()
        ended = process.wait()
        finished = set(log.read_text(encoding="ascii").split()) if log.exists() else set()
        stored = set(value_of(lambda: sorted(stored_digests(root))))
        wrong = look(root, target.expected, done=ended.status == 0)
        if ended.status == 0 and ended.error:
            wrong.append(f"ended badly: {ended}")
        return Killed(ended.status != 0, wrong, len(finished), len(finished - stored))
    finally:
        shutil.rmtree(root)
        log.unlink(missing_ok=True)


def _until_killed(target: Target, after: float) -> Iterator[tuple[float, Killed]]:
    """Kill it earlier and earlier until it is not done before: it may have been timed while the machine was busy."""
    for _ in range(8):
        one = kill(target, after)
        yield after, one
        if one.killed:
            return
        target.seconds = min(target.seconds, after)
        after /= 2


def run(runs: int, seed: int, files: int = FILES) -> dict[str, Any]:
    """Kill so many times, the scenarios in turn; what was found."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    started = time.monotonic()
    warm_up()

    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        targets = [aim(one, Path(name).resolve() / one.name.replace(" ", "-")) for one in scenarios(files)]
        for number in range(runs):
            target = targets[number % len(targets)]
            for after, one in _until_killed(target, chance.uniform(0, 1.05 * target.seconds)):
                lost = [f"{one.lost} finished texts lost"] if one.lost > MOST_LOST else []
                found.append(
                    {
                        "scenario": target.scenario.name,
                        "after": round(after, 4),
                        "killed": one.killed,
                        "finished": one.finished,
                        "lost": one.lost,
                        "wrong": one.wrong + lost,
                    }
                )
    return {
        "runs": len(found),
        "seed": seed,
        "killed": sum(one["killed"] for one in found),
        "by_scenario": dict(Counter(one["scenario"] for one in found if one["killed"])),
        "batch": BATCH,
        "most_lost": max(one["lost"] for one in found),
        "runs_that_lost_more_than_a_batch": sum(one["lost"] > BATCH for one in found),
        "runs_that_lost_any": sum(one["lost"] > 0 for one in found),
        "violations": [one for one in found if one["wrong"]],
        "seconds": round(time.monotonic() - started, 1),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 0 where nothing is wrong."""
    parser = options.parser("Kill a writing process at random moments.")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--files", type=int, default=FILES, help="so many in the folder, a multiple of four")
    parser.add_argument("--model", action="store_true", help="build with the real model")
    given = parser.parse_args(arguments)
    if given.model:
        from tests.robustness import model_kills

        return options.tell(model_kills.run(given.runs, given.seed), given.out)
    return options.tell(run(given.runs, given.seed, given.files), given.out)


if __name__ == "__main__":
    sys.exit(main())
