"""Kill a process that builds an index with the real model at any moment; another goes on where it was.

python -m tests.robustness.kills --model --runs 60 [--out FILE]
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.errors import NoIndexError
from index.dense.vector_rows import vector_digest
from index.encoder.model_files import find
from index.encoder.openvino_backend import FastestEncoder
from index.encoder.protocol import Vectors
from index.integrity.verify import verify
from index.snapshot import Snapshot
from index.update.report import Request
from index.update.update import update_index
from tests.paths import REPOSITORY
from tests.robustness.contents import stored_digests, strays
from tests.robustness.kills import BATCH, MOST_LOST
from tests.robustness.picture import Picture, answers, listing
from tests.robustness.scenarios import write

FILES = 60
_PASSAGES = 20
_QUESTIONS = ("Which harbour has a ferry at dusk?", "What did the robot note in the morning?", "the cat and the sea")
_WORDS = ("harbour", "cat", "robot", "morning", "ferry", "sea", "dog", "bird", "paper", "note", "mat", "dusk")


class Noting(FastestEncoder):
    """The default model, which writes down the texts that it is done with.

    Args:
        log: File to write to.
    """

    def __init__(self, log: Path) -> None:
        super().__init__(find())
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        found = super().encode_passages(texts)
        os.write(self._log, "".join(f"{vector_digest(self.fingerprint, text).hex()}\n" for text in texts).encode())
        return found


def _noted(log: Path) -> list[str]:
    """Digests of the texts that an encoder was done with."""
    return log.read_text(encoding="ascii").split() if log.exists() else []


@contextmanager
def _building(root: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has its model loaded and is about to build."""
    command = [sys.executable, "-m", __name__, str(root), str(log)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE) as process:
        if process.stdout is None or not process.stdout.readline():
            raise RuntimeError("it did not begin")
        try:
            yield process
        finally:
            process.kill()


def _build(root: Path, log: Path) -> None:
    encoder = Noting(log)
    encoder.encode_query("So that the model is loaded.")
    print("loaded", flush=True)
    update_index(Request(root, encoder))


def _picture(root: Path, encoder: FastestEncoder) -> Picture:
    """Every document, passage and vector, and what both halves of the index answer."""
    with Snapshot(root / ".qa") as snapshot:
        return {"listing": listing(snapshot), **answers(snapshot, encoder, _QUESTIONS)}


def _documents(seed: int, files: int) -> dict[str, str]:
    chance = random.Random(seed)  # noqa: S311 - not for secrets

    def part(number: int, place: int) -> str:
        words = " ".join(chance.choices(_WORDS, k=chance.randint(5, 60)))
        return f"# Part {number}.{place}\n\nOf {number} and {place}: {words}.\n\n"

    return {
        f"part-{number % 4}/{number:02}.md": "".join(part(number, place) for place in range(_PASSAGES))
        for number in range(files)
    }


@dataclass(frozen=True, slots=True)
class Trial:
    """One process that was killed, and one that went on.

    Attributes:
        killed: Whether the first was still running.
        finished: Texts whose embedding was done then.
        lost: Those of them that were embedded again.
        embedded: Texts that the second embedded.
        wrong: What is wrong.
    """

    killed: bool
    finished: int
    lost: int
    embedded: int
    wrong: tuple[str, ...]


class Trials:
    """Kill and go on, as often as wanted.

    Args:
        folder: Empty, for everything.
        files: Enough for more than two batches.
    """

    def __init__(self, folder: Path, files: int = FILES) -> None:
        self._folder = folder
        self._template = folder / "template"
        self._template.mkdir()
        write(self._template, _documents(1, files))
        clean, log = folder / "clean", folder / "clean.log"
        shutil.copytree(self._template, clean)
        with _building(clean, log) as process:
            started = time.monotonic()
            process.wait()
        self.seconds = time.monotonic() - started
        self.texts = len(_noted(log))
        self._encoder = Noting(folder / "again.log")
        self._clean = _picture(clean, self._encoder)

    def run(self, after: float) -> Trial:
        """Kill one after so many seconds, and go on."""
        root, log, again = (self._folder / name for name in ("trial", "trial.log", "again.log"))
        shutil.copytree(self._template, root)
        try:
            with _building(root, log) as process:
                time.sleep(after)
                process.kill()
                killed = process.wait() != 0
            finished, stored = set(_noted(log)), stored_digests(root)
            wrong = self._state(root)
            os.truncate(again, 0)
            update_index(Request(root, self._encoder))
            embedded = _noted(again)
            lost = finished & set(embedded)
            if twice := stored & set(embedded):
                wrong.append(f"{len(twice)} texts embedded whose vectors were stored")
            if len(lost) > MOST_LOST:
                wrong.append(f"{len(lost)} finished texts embedded again")
            wrong += [*self._state(root, complete=True), *(f"stray file {name}" for name in strays(root))]
            return Trial(killed, len(finished), len(lost), len(embedded), tuple(wrong))
        finally:
            shutil.rmtree(root)
            log.unlink(missing_ok=True)

    def _state(self, root: Path, *, complete: bool = False) -> list[str]:
        """There is no index yet, or it is complete, row by row, and answers as a build that nobody killed."""
        try:
            found = _picture(root, self._encoder)
        except NoIndexError:
            return ["no index"] if complete else []
        differing = [name for name, value in found.items() if value != self._clean[name]]
        return [*verify(root / ".qa").problems, *(f"{name} is not as in a clean build" for name in differing)]


def run(runs: int, seed: int) -> dict[str, Any]:
    """Kill so many processes; what was found."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        trials = Trials(Path(name).resolve())
        found = [(after, trials.run(after)) for after in (chance.uniform(0, trials.seconds) for _ in range(runs))]
    done = [one for _, one in found]
    return {
        "runs": runs,
        "seed": seed,
        "texts": trials.texts,
        "seconds_of_a_build": round(trials.seconds, 2),
        "killed": sum(one.killed for one in done),
        "killed_with_texts_finished": sum(one.killed and one.finished > 0 for one in done),
        "finished": sum(one.finished for one in done),
        "embedded_again": sum(one.lost for one in done),
        "batch": BATCH,
        "most_lost": max(one.lost for one in done),
        "runs_that_lost_any": sum(one.lost > 0 for one in done),
        "violations": [{"after": round(after, 3), "wrong": one.wrong} for after, one in found if one.wrong],
        "seconds": round(time.monotonic() - started, 1),
    }


if __name__ == "__main__":
    _build(Path(sys.argv[1]), Path(sys.argv[2]))
