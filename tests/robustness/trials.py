"""Trials: damage an index, then ask all questions in a fork with limits and judge the answers, or repair it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import pytest

from corpus.errors import IncompatibleError, NoIndexError, QAError
from index.storage.database import NewerFormatError
from index.storage.vectors import vector_digest
from index.update.report import Request
from index.update.update import rebuild_index
from qa.collection import check
from tests.encoders import BagEncoder
from tests.robustness.damages import Damage
from tests.robustness.picture import Picture, Refusal
from tests.robustness.process import ProcessResult, in_fork, run
from tests.robustness.samples import VECTORS, Sample

# Processor time after which a question counts as hanging.
SECONDS = 20.0
# A repair reads and writes everything.
_REPAIR_SECONDS = 60.0
# Memory that questions may need beyond the size of the index.
MEMORY = 256 << 20


class Outcome(StrEnum):
    """What damage led to; only the first three are acceptable."""

    RIGHT = "right"
    EARLIER = "right, of an earlier generation"
    REFUSED = "refused"
    WRONG = "WRONG"
    VAGUE = "VAGUE ERROR"
    CRASH = "CRASH"
    HANG = "HANG"
    MEMORY = "MEMORY"


# An id that no row has.
UNUSED_ID = 10**12
GOOD = frozenset({Outcome.RIGHT, Outcome.EARLIER, Outcome.REFUSED})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a trial."""

    outcome: Outcome  # the worst of all questions
    detail: str  # what was wrong, or the message of a refusal
    refusals: list[str]  # names of the refused questions
    check: str  # the error of `qa check`; "" if there is none or it was not run
    memory: int  # bytes used


def judge(sample: Sample, damage: Damage) -> Verdict:
    """Damage the index, ask, and compare with the expected answers."""
    sample.restore(damage.contents)
    return ask_and_judge(sample, in_fork)


def ask_and_judge(sample: Sample, runner: Callable[..., ProcessResult], *, checked: bool = False) -> Verdict:
    """Ask the index on disk, and check it if requested, within limits of time and memory."""
    limit = sample.size + MEMORY
    result = runner(partial(_ask, sample, checked=checked), seconds=SECONDS, memory=limit)
    refusals: list[str] = []
    check_error = ""
    if result.timed_out:
        outcome, detail = Outcome.HANG, f"longer than {SECONDS} s"
    elif result.error == "MemoryError" or result.memory > limit:
        outcome, detail = Outcome.MEMORY, f"{result.memory >> 20} MB, {result.message}"
    elif not result.succeeded:
        outcome, detail = Outcome.CRASH, str(result)
    else:
        outcome, detail, refusals, check_error = result.value
    return Verdict(outcome, detail, refusals, check_error, result.memory)


def ask_and_check(sample: Sample) -> Verdict:
    """Ask and check in the shared fork server, and assert that nothing crashes, hangs or uses too much memory."""
    verdict = ask_and_judge(sample, run, checked=True)
    assert verdict.outcome not in (Outcome.CRASH, Outcome.HANG, Outcome.MEMORY), verdict.detail
    assert not verdict.check.startswith("UNCLEAR"), verdict.check
    return verdict


def _ask(sample: Sample, *, checked: bool) -> tuple[Outcome, str, list[str], str]:
    generation, picture = sample.ask()
    refusals = [name for name, answer in picture.items() if isinstance(answer, Refusal)]
    return (*compare(sample, generation, picture), refusals, _check(sample) if checked else "")


def _check(sample: Sample) -> str:
    try:
        with sample.limits():
            check.check(sample.root)
    except QAError as error:
        return str(error) if is_clear(error) else f"UNCLEAR: {error}"
    return ""


def compare(sample: Sample, generation: int | None, picture: Picture) -> tuple[Outcome, str]:
    """Judge a picture: each answer must be the right one of its generation, or refused with a clear error."""
    errors = [answer.error for answer in picture.values() if isinstance(answer, Refusal)]
    for error in errors:
        if not is_clear(error):
            return Outcome.VAGUE, f"{type(error).__name__}: {error}"
    if generation is not None:
        expected = sample.expected.get(generation)
        if expected is None:
            return Outcome.WRONG, f"generation {generation} never existed"
        for name, answer in picture.items():
            if not isinstance(answer, Refusal) and answer != expected[name]:
                return Outcome.WRONG, f"{name}: {answer!r:.200} instead of {expected[name]!r:.200}"
    if errors:
        return Outcome.REFUSED, f"{type(errors[0]).__name__}: {errors[0]}"
    return (Outcome.RIGHT if generation == sample.newest else Outcome.EARLIER), ""


def is_clear(error: QAError) -> bool:
    """Whether the message names the file and the fix."""
    message = str(error)
    return ".qa" in message and ("`qa " in message or "Upgrade the tool" in message)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result of a repair."""

    problem: str  # what is still wrong, or ""
    embedded: int  # number of texts embedded because their vectors were lost
    kind: str = ""  # the kind of repair that was reported


def try_repair(sample: Sample, damage: Damage) -> RepairResult:
    """Damage the index, repair it as its messages say, and check that the newest generation's answers are back."""

    def task() -> RepairResult:
        sound_vectors = _sound_vectors(sample)
        encoder = BagEncoder()
        try:
            with sample.limits():
                kind = _repair(sample, encoder)
        except NewerFormatError:
            return RepairResult("", 0, "of a later version")  # a newer index must not be overwritten
        generation, picture = sample.ask()
        expected = sample.expected[sample.newest]
        wrong_answers = [name for name, answer in picture.items() if answer != expected.get(name)]
        if generation is None or wrong_answers:
            return RepairResult(f"wrong after the repair: {wrong_answers or picture}", 0)
        embedded = Counter(vector_digest(encoder.fingerprint, text) for text in encoder.embedded)
        again, twice = len(sound_vectors & embedded.keys()), sum(count > 1 for count in embedded.values())
        problem = f"{again} texts embedded whose vectors are sound, {twice} twice" if again or twice else ""
        return RepairResult(problem, len(embedded), kind)

    sample.restore(damage.contents)
    result = in_fork(task, seconds=_REPAIR_SECONDS)
    return result.value if result.succeeded else RepairResult(str(result), 0)


def _repair(sample: Sample, encoder: BagEncoder) -> str:
    """Run `qa check --repair`, or `qa index --full` if the index is missing or incompatible."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("qa.collection.build.load_encoder", lambda _, **__: encoder)
        try:
            return check.repair(sample.root).kind.name.lower()
        except NewerFormatError:
            raise
        except (NoIndexError, IncompatibleError):
            rebuild_index(Request(sample.root, encoder))
            check.check(sample.root)
            return "made anew"


def _sound_vectors(sample: Sample) -> frozenset[bytes]:
    """Digests of the vectors that SQLite can still return undamaged, each in its own query."""
    digests: set[bytes] = set()
    file = sample.folder / "index.db"
    if file.exists():
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            for row in sample.vectors:
                with suppress(sqlite3.Error):
                    if connection.execute(f"{VECTORS} WHERE id = ?", row[:1]).fetchone() == row:
                        digests.add(row[1])
    return frozenset(digests)
