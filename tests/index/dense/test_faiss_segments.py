"""One segment is built, written, read again and searched."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import faiss
import numpy as np
import pytest

from index.dense import faiss_segments
from index.dense.exact_segments import ExactSegment
from index.dense.faiss_segments import VectorIndex, members
from index.storage.vectors import Ids, Stored
from tests.index.segments import DIMENSION, built, scattered, searched, stored
from tests.marks import needs_fork


def test_a_wrong_segment_is_refused(tmp_path: Path) -> None:
    """Even with a matching checksum: another dimension, size or kind of index, a truncated file, bfloat16."""
    segment = faiss_segments.save(built(scattered(20)), tmp_path, number=1, generation=1)
    with pytest.raises(ValueError, match="of this kind and size"):
        faiss_segments.load(tmp_path, segment, dimension=DIMENSION + 1)
    with pytest.raises(ValueError, match="of this kind and size"):
        faiss_segments.load(tmp_path, replace(segment, held=19), dimension=DIMENSION)
    with pytest.raises(ValueError, match="checksum"):
        faiss_segments.load(tmp_path, replace(segment, digest="0" * 64), dimension=DIMENSION)
    flat = faiss.IndexFlatIP(DIMENSION)
    flat.add(scattered(20))
    kind = faiss.IndexScalarQuantizer(DIMENSION, faiss.ScalarQuantizer.QT_bf16, faiss.METRIC_INNER_PRODUCT)
    other = faiss.IndexIDMap(kind)
    other.add_with_ids(scattered(20), np.arange(1, 21))
    wrong = [faiss.serialize_index(index).tobytes() for index in (flat, other)]
    assert len(wrong[1]) == segment.size
    for data in (*wrong, (tmp_path / segment.name).read_bytes()[:-9], b"", b"IxMp"):
        (tmp_path / segment.name).write_bytes(data)
        bad = replace(segment, size=len(data), digest=faiss_segments._digest(data))
        with pytest.raises(ValueError, match="of this kind and size"):
            faiss_segments.load(tmp_path, bad, dimension=DIMENSION)
    (tmp_path / segment.name).unlink()
    assert not faiss_segments.is_there(tmp_path, segment)
    with pytest.raises(OSError, match="No such file"):
        faiss_segments.load(tmp_path, segment, dimension=DIMENSION)


def test_a_segment_is_built_from_few_vectors_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faiss_segments, "EXACT_MOST", 64)
    monkeypatch.setattr(faiss_segments, "_CHUNK", 32)
    rows, asked = scattered(100), []

    def fetch(wanted: Ids) -> Stored:
        asked.append(len(wanted))
        return stored(rows[wanted])

    index = faiss_segments.build(np.arange(100), fetch, dimension=DIMENSION)
    assert members(index).tolist() == list(range(100))
    assert max(asked) <= 32


def test_compressed_segments_are_searched_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """In threads of FAISS, with as many results as one segment with all vectors would give."""
    monkeypatch.setattr(faiss_segments, "EXACT_MOST", 64)
    rows = scattered(2000)
    nearest = searched(built(rows[:1000], 0), built(rows[1000:], 1000), built(rows[:3], 2000))
    assert nearest._side_by_side.count() == 2
    ids, bound = nearest.search(rows[1500], 5)
    assert 1500 in ids
    assert len(ids) == faiss_segments._OVERSAMPLE * 5 + faiss_segments._EXTRA / DIMENSION**0.5 + 3
    assert bound == -np.inf
    together, _ = nearest.search(rows[1500], 2000)
    assert sorted(together.tolist()) == list(range(2003))


def test_exact_segments_return_their_vectors_and_others_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faiss_segments, "EXACT_MOST", 64)
    rows, asked = stored(scattered(200)), []

    def fetch(wanted: Ids) -> Stored:
        asked.extend(wanted.tolist())
        return rows[wanted]

    ids = (np.arange(50), np.arange(50, 60), np.arange(60, 190))
    nearest = VectorIndex([faiss_segments.build(part, fetch, dimension=DIMENSION) for part in ids], fetch)
    asked.clear()
    wanted = np.array([55, 3, 120, 49, 50, 0, 199, 59, 55])
    assert nearest.stored(wanted).tobytes() == rows[wanted].tobytes()
    assert asked == [120, 199]
    assert nearest.stored(wanted[:2]).tobytes() == rows[wanted[:2]].tobytes()
    assert asked == [120, 199]
    assert nearest.stored(wanted[:0]).shape == (0, DIMENSION)
    assert VectorIndex([], fetch).stored(wanted).tobytes() == rows[wanted].tobytes()


def test_exact_segment_round_trips_through_faiss(tmp_path: Path) -> None:
    rows = scattered(20)
    segment = faiss_segments.save(built(rows, 7), tmp_path, number=1, generation=1)
    data = (tmp_path / segment.name).read_bytes()
    kind = faiss.IndexScalarQuantizer(DIMENSION, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index = faiss.IndexIDMap(kind)
    index.add_with_ids(rows, np.arange(7, 27))
    assert faiss.serialize_index(index).tobytes() == data
    scores, ids = faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8)).search(rows[:1], 5)
    found, bound = searched(built(rows, 7)).search(rows[0], 5)
    assert set(found.tolist()) == set(ids[0].tolist())
    assert bound == pytest.approx(scores[0, -1], abs=1e-6)


def test_every_value_of_float16_is_compared() -> None:
    """Including subnormal numbers."""
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    values = values[np.isfinite(values)]
    segment = ExactSegment(np.arange(1, len(values) + 1), values[:, np.newaxis])
    order = np.argsort(values, kind="stable")
    for limit in (1, 1000, 40_000):
        found, bound = segment.search(np.ones(1, dtype=np.float32), limit)
        assert sorted(values[found - 1].tolist()) == values[order[-limit:]].tolist()
        assert bound == values[order[-limit]]


def test_row_numbers_that_do_not_ascend_are_refused(tmp_path: Path) -> None:
    rows = scattered(3)
    for ids in ([1, 3, 2], [1, 2, 2], [0, 1, 2]):
        index = faiss_segments.build(np.array(ids), lambda wanted: stored(rows[: len(wanted)]), dimension=DIMENSION)
        segment = faiss_segments.save(index, tmp_path, number=1, generation=1)
        with pytest.raises(ValueError, match="row numbers do not ascend"):
            faiss_segments.load(tmp_path, segment, dimension=DIMENSION)


def test_a_segment_without_vectors_finds_nothing() -> None:
    """A segment is empty if its file was lost when none of its vectors was used."""
    rows = scattered(3)
    nearest = searched(built(rows[:0]), built(rows))
    assert sorted(nearest.search(rows[0], 5)[0].tolist()) == [1, 2, 3]
    assert nearest.stored(np.array([3, 1])).tobytes() == stored(rows[[2, 0]]).tobytes()


@needs_fork
def test_a_process_forked_while_a_segment_is_loaded_loads_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the other thread's lock, and with FAISS's own limit on allocations."""
    monkeypatch.setattr(faiss_segments, "EXACT_MOST", 64)
    segment = faiss_segments.save(built(scattered(200)), tmp_path, number=1, generation=1)
    begun, forking = Event(), Event()
    deserialize, limit = faiss.deserialize_index, faiss.get_deserialization_vector_byte_limit()

    def slowly(data: Any) -> Any:
        begun.set()
        forking.wait()
        return deserialize(data)

    monkeypatch.setattr(faiss, "deserialize_index", slowly)
    loading = Thread(target=partial(faiss_segments.load, tmp_path, segment, dimension=DIMENSION))
    loading.start()
    begun.wait()
    # The last one registered is called first: before the lock that the other thread holds is waited for.
    os.register_at_fork(before=forking.set)
    child = os.fork()
    if not child:
        signal.alarm(20)
        same = faiss.get_deserialization_vector_byte_limit() == limit
        faiss_segments.load(tmp_path, segment, dimension=DIMENSION)
        os._exit(0 if same else 1)
    loading.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
