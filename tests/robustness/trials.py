"""One trial: damage an index, ask it everything in a child process, and judge what came back."""

from __future__ import annotations

import signal
import sqlite3
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

import pytest

from corpus.errors import IncompatibleError, NoIndexError, QAError
from index.dense.vector_rows import vector_digest
from index.storage.database import NewerFormatError
from index.update.report import Request
from index.update.update import rebuild_index
from qa.collection import check
from tests.encoders import BagEncoder
from tests.robustness.damages import Damage
from tests.robustness.picture import Picture, Refused
from tests.robustness.process import Ended, run
from tests.robustness.samples import Sample

SECONDS = 2.0
# A repair reads and writes everything.
_REPAIR_SECONDS = 20.0
# What a question may need beyond the size of the index.
MEMORY = 256 << 20


class Outcome(StrEnum):
    """What damage came to; all but the first three must never be."""

    RIGHT = "right"
    EARLIER = "right, of an earlier generation"
    REFUSED = "refused"
    WRONG = "WRONG"
    VAGUE = "VAGUE ERROR"
    CRASH = "CRASH"
    HANG = "HANG"
    MEMORY = "MEMORY"


GOOD = frozenset({Outcome.RIGHT, Outcome.EARLIER, Outcome.REFUSED})


@dataclass(frozen=True, slots=True)
class Judged:
    """A trial and what came of it.

    Attributes:
        outcome: The worst of all questions'.
        detail: Of a bad outcome what was wrong; of a refusal the message.
        grown: Bytes of memory that answering took.
        seconds: How long it took.
    """

    outcome: Outcome
    detail: str
    grown: int
    seconds: float


_TIMES_UP = (signal.SIGALRM, signal.SIGPROF)


def judge(sample: Sample, damage: Damage) -> Judged:
    """Damage the index, ask, and compare with what it must answer."""

    def task() -> tuple[Outcome, str]:
        return compare(sample, *sample.ask())

    def attempt() -> Ended:
        sample.lay_out(damage.changed)
        return run(task, seconds=SECONDS, memory=sample.size + MEMORY)

    ended = attempt()
    if ended.signal in _TIMES_UP:  # a machine that was busy is no hang: that would come again
        ended = attempt()
    outcome, detail = _ending(ended, sample.size + MEMORY)
    if outcome is None:
        outcome, detail = ended.value
    return Judged(outcome, detail, ended.grown, ended.seconds)


def _ending(ended: Ended, memory: int) -> tuple[Outcome | None, str]:
    """What the way a child ended says by itself; None where its own verdict counts."""
    if ended.signal in _TIMES_UP:
        return Outcome.HANG, f"longer than {SECONDS} s"
    if ended.out_of_memory or ended.grown > memory:
        return Outcome.MEMORY, f"{ended.grown >> 20} MB, {ended.error}"
    if ended.signal or ended.error:
        return Outcome.CRASH, ended.error or f"signal {ended.signal}"
    return None, ""


def compare(sample: Sample, generation: int | None, found: Picture) -> tuple[Outcome, str]:
    """Judge a picture; each answer is the complete right one of one generation, or refused as is proper."""
    refused = [one.error for one in found.values() if isinstance(one, Refused)]
    for error in refused:
        if not is_clear(error):
            return Outcome.VAGUE, f"{type(error).__name__}: {error}"
    if generation is not None:
        expected = sample.expected.get(generation)
        if expected is None:
            return Outcome.WRONG, f"generation {generation} never was"
        for name, answer in found.items():
            if not isinstance(answer, Refused) and answer != expected[name]:
                return Outcome.WRONG, f"{name}: {_difference(answer, expected[name])}"
    if refused:
        return Outcome.REFUSED, f"{type(refused[0]).__name__}: {refused[0]}"
    return (Outcome.RIGHT if generation == sample.newest else Outcome.EARLIER), ""


def is_clear(error: QAError) -> bool:
    """Whether a message names the file and what to do."""
    message = str(error)
    return ".qa" in message and ("`qa " in message or "Upgrade the tool" in message)


def _difference(found: object, expected: object) -> str:
    """Where two answers part, in few words."""
    if isinstance(found, list) and isinstance(expected, list):
        if len(found) != len(expected):
            return f"{len(found)} instead of {len(expected)}"
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            if one != other:
                return f"[{place}] {_difference(one, other)}"
    if isinstance(found, dict) and isinstance(expected, dict):
        for name in expected:
            if name not in found or found[name] != expected[name]:
                return f"{name}: {_difference(found.get(name), expected[name])}"
    return f"{found!r:.80} instead of {expected!r:.80}"


# --- repair -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair came to.

    Attributes:
        problem: What was not made good, or "".
        embedded: Texts that were embedded, their vectors being lost.
        cure: What the repair said it did.
    """

    problem: str
    embedded: int
    cure: str = ""


def try_repair(sample: Sample, damage: Damage) -> Repaired:
    """Damage the index, repair it as its messages say, and ask: the answers of the newest generation must be back."""

    def task() -> Repaired:
        holding = _vectors_that_hold(sample)
        encoder = BagEncoder()
        try:
            cure = _repair(sample, encoder)
        except NewerFormatError:
            return Repaired("", 0, "of a later version")  # "upgrade the tool": what that wrote must stay
        generation, found = sample.ask()
        expected = sample.expected[sample.newest]
        wrong = [name for name, answer in found.items() if answer != expected.get(name)]
        if generation is None or wrong:
            return Repaired(f"after the repair wrong: {wrong or found}", 0)
        embedded = Counter(vector_digest(encoder.fingerprint, text) for text in encoder.embedded)
        again = sum(1 for digest in embedded if digest in holding)
        twice = sum(1 for count in embedded.values() if count > 1)
        problem = f"{again} texts embedded though their vectors hold" if again else ""
        return Repaired(problem or (f"{twice} texts embedded twice" if twice else ""), len(embedded), cure)

    sample.lay_out(damage.changed)
    ended = run(task, seconds=_REPAIR_SECONDS)
    if ended.error or ended.signal:
        return Repaired(ended.error or f"signal {ended.signal}", 0)
    found: Repaired = ended.value
    return found


def _repair(sample: Sample, encoder: BagEncoder) -> str:
    """`qa check --repair`, and where there is no index left to check, or only a foreign one, `qa index --full`."""
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


def _vectors_that_hold(sample: Sample) -> frozenset[bytes]:
    """Digests of the vectors that SQLite can still give out whole, each asked for by itself."""
    pristine = _all_vectors(sample)
    found: set[bytes] = set()
    if not (sample.folder / "index.db").exists():
        return frozenset()
    connection = sqlite3.connect(f"{(sample.folder / 'index.db').as_uri()}?mode=ro", uri=True)
    try:
        for number, row in pristine.items():
            try:
                query = "SELECT digest, vector, checksum FROM vectors WHERE id = ?"
                if connection.execute(query, (number,)).fetchone() == row:
                    found.add(row[0])
            except sqlite3.Error:
                continue
    finally:
        connection.close()
    return frozenset(found)


_PRISTINE: dict[str, dict[int, tuple[bytes, bytes, int]]] = {}


def _all_vectors(sample: Sample) -> dict[int, tuple[bytes, bytes, int]]:
    return _PRISTINE[sample.name]


def remember_vectors(sample: Sample) -> None:
    """Note which vectors the undamaged index keeps; for `try_repair`, once for each sample."""

    def read() -> dict[int, tuple[bytes, bytes, int]]:
        connection = sqlite3.connect(sample.folder / "index.db")
        rows = connection.execute("SELECT id, digest, vector, checksum FROM vectors").fetchall()
        return {number: (digest, vector, check) for number, digest, vector, check in rows}

    sample.lay_out()
    ended = run(read, seconds=_REPAIR_SECONDS)
    _PRISTINE[sample.name] = ended.value
    sample.lay_out()
