"""Damaged files: a short form of `python -m tests.robustness.bit_flips`, and tests of its machinery."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path

import faiss
import numpy as np
import pytest

from corpus.errors import DamagedIndexError
from index.dense.exact_segments import ExactSegment
from index.dense.faiss_segments import load_segment
from index.snapshot import Snapshot
from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.robustness import bit_flips
from tests.robustness.damages import FILE_DAMAGES, flip, structural_spans, with_duplicate_entries
from tests.robustness.picture import Picture, Refusal
from tests.robustness.process import run, value_in_fork, value_of
from tests.robustness.samples import SHAPES, Sample, make_sample, read_folder, transaction_ends, write
from tests.robustness.trials import GOOD, Outcome, RepairResult, ask_and_judge, compare, try_repair

SEED = 3


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    folder = tmp_path_factory.mktemp("samples")
    return {name: value_of(partial(make_sample, name, folder / name, documents=10, sections=12)) for name in SHAPES}


def test_samples_have_the_intended_shapes(samples: dict[str, Sample]) -> None:
    """All have several segments, duplicates and skipped files; one has a log of several generations."""
    for sample in samples.values():
        picture = sample.expected[sample.newest]
        assert len(picture["dense, all"]) > 100
        assert len(picture["duplicates"]) == 3
        assert [path for path, *_ in picture["left out"]] == ["skipped/binary.txt"]
    assert len([name for name in samples["plain"].files if name.endswith(".faiss")]) >= 2
    compressed = samples["compressed"]
    with compressed.limits(), Snapshot(compressed.folder) as snapshot:
        segments = [load_segment(compressed.folder, segment, dimension=64) for segment in snapshot.info.segments]
    assert {ExactSegment, faiss.IndexIDMap} == {type(segment) for segment in segments}
    assert sorted(samples["log"].expected) == [1, 2, 3, 4, 5]
    assert "index.db-wal" not in samples["plain"].files


def test_damage_never_makes_an_answer_wrong(samples: dict[str, Sample]) -> None:
    """After 54 flips and 24 damaged files, answers are right or refused in time; repairs embed nothing twice."""
    results = value_of(partial(bit_flips.run_trials, list(samples.values()), 54, 24, SEED, repair_every=8), seconds=300)
    assert results["violations"] == []
    assert results["trials"] == 78
    # All files and all kinds of damage were tried, and some damage was repaired.
    assert results["by_kind"].keys() == {"flip", *FILE_DAMAGES}
    assert {"index.db", "index.db-wal", "lock", "vectors-*.faiss"} <= results["by_file"].keys()
    assert results["repairs"] >= 3
    # Some damage is harmless and some is refused.
    assert min(results["outcomes"][Outcome.RIGHT], results["outcomes"][Outcome.REFUSED]) > 12


@pytest.mark.parametrize("table", ["meta", "skipped"])
def test_every_structural_bit_of_a_small_table_is_verified(samples: dict[str, Sample], table: str) -> None:
    """With any of these bits flipped, the table is read correctly or refused, even if a page claims to be empty."""
    sample = samples["plain"]
    parts = structural_spans(sample.files["index.db"])
    spans = [span for name, part in parts.items() if name.startswith(f"{table} ") for span in part]
    places = {place for start, end in spans for place in range(start, end)}
    sample.restore()
    outcomes = value_of(partial(_flip_all, sample, places))
    assert outcomes.keys() <= {"right", "refused"}
    assert outcomes.total() == 8 * len(places)
    assert outcomes["refused"] > len(places)


def _flip_all(sample: Sample, places: set[int]) -> Counter[str]:
    """Flip each bit of these bytes in turn, and count the outcomes of reading the small tables."""

    def read() -> object:
        with Snapshot(sample.folder) as snapshot:
            return snapshot.info, snapshot.skipped()

    expected, outcomes = read(), Counter[str]()
    for place in sorted(places):
        for bit in range(8):
            sample.restore(flip(sample, "index.db", place, bit).contents)
            try:
                outcomes["right" if read() == expected else f"wrong at {place}, bit {bit}"] += 1
            except DamagedIndexError:
                outcomes["refused"] += 1
    return outcomes


@pytest.mark.parametrize("index", ["passages_vector", "passages_text", "passages_document"])
def test_duplicate_index_entry_does_not_duplicate_answers(samples: dict[str, Sample], index: str) -> None:
    """SQLite returns the row twice, each time with correct checksums."""
    for sample in samples.values():
        changed = with_duplicate_entries(sample, index)
        assert changed != sample.files["index.db"]
        sample.restore({"index.db": changed})
        verdict = ask_and_judge(sample, run)
        sample.restore()
        assert verdict.outcome in GOOD, verdict.detail


def test_a_repair_drops_a_damaged_vector_that_is_not_in_use(samples: dict[str, Sample]) -> None:
    sample = samples["compressed"]
    sample.restore()
    with closing(sqlite3.connect(sample.folder / "index.db")) as connection:
        query = "SELECT v.vector FROM vectors v JOIN vector_refs p ON p.vector = v.id WHERE p.refcount = 0"
        (vector,) = connection.execute(query).fetchone()
    place = sample.files["index.db"].index(vector) + 5
    assert value_of(partial(try_repair, sample, flip(sample, "index.db", place, 1))) == RepairResult("", 0, "derived")


def test_old_log_is_not_applied_to_a_newer_database(tmp_path: Path) -> None:
    """If a newer database has an old log, each answer is from one generation or refused."""
    old = value_of(partial(make_sample, "log", tmp_path / "corpus", documents=12))
    later = Sample(old.name, old.root, expected=dict(old.expected))
    later.files = value_of(partial(_write_newer_generation, later))
    generation, picture = value_of(later.ask)
    assert generation is not None
    later.newest, later.expected[generation] = generation, picture
    outcomes = value_of(partial(_judge_with_old_logs, later, old.files["index.db-wal"]))
    assert len(outcomes) >= 3
    assert [outcome for outcome in outcomes if outcome[0] not in GOOD] == []


def _write_newer_generation(sample: Sample) -> dict[str, bytes]:
    with closing(sqlite3.connect(sample.folder / "index.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    write(sample.root, "later/silver.txt", "A silver lantern by the river.\n", tick=50)
    update_index(Request(sample.root, BagEncoder()))
    return read_folder(sample.folder)


def _judge_with_old_logs(sample: Sample, log: bytes) -> list[tuple[Outcome, str]]:
    """Judge the answers with the old log cut after each of its transactions, each time in a new process."""
    outcomes = []
    for length in transaction_ends(log):
        sample.restore({"index.db-wal": log[:length]})
        outcomes.append(value_in_fork(lambda: compare(sample, *sample.ask())))
    return outcomes


def test_wrong_answers_and_vague_errors_are_detected(samples: dict[str, Sample]) -> None:
    sample = samples["plain"]
    right = sample.expected[sample.newest]
    short: Picture = {**right, "dense": right["dense"][:-1]}
    assert compare(sample, sample.newest, right) == (Outcome.RIGHT, "")
    assert compare(sample, sample.newest, short)[0] is Outcome.WRONG
    assert compare(sample, sample.newest + 1, right)[0] is Outcome.WRONG
    clear = Refusal(DamagedIndexError("/x/.qa/index.db is damaged. Run `qa check --repair`."))
    vague = Refusal(DamagedIndexError("something is damaged"))
    assert compare(sample, None, {"open": clear})[0] is Outcome.REFUSED
    assert compare(sample, None, {"open": vague})[0] is Outcome.VAGUE


def test_a_fork_is_stopped_at_its_time_and_memory_limits() -> None:
    spun = run(_spin, seconds=0.2)
    assert (spun.status, spun.timed_out) == (-signal.SIGPROF, True)
    assert run(partial(_grow, 3 << 30), seconds=5, memory=1 << 20).error == "MemoryError"
    assert run(partial(_grow, 64 << 20), seconds=5).memory > 60 << 20
    failed = run(partial(int, "no"), seconds=5)
    assert (failed.status, failed.error, failed.crashed) == (0, "ValueError", True)


def _spin() -> None:
    while True:
        pass


def _grow(size: int) -> int:
    return len(b"x" * size)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_trials_are_forked_from_a_process_with_one_thread() -> None:
    """The fork server has one thread even if this process has started others, here those of FAISS."""
    many = faiss.IndexFlatIP(64)
    many.add(np.ones((50_000, 64), dtype=np.float32))
    many.search(np.ones((64, 64), dtype=np.float32), 5)
    assert value_of(partial(os.listdir, f"/proc/{value_of(os.getppid)}/task")) == [str(value_of(os.getppid))]
