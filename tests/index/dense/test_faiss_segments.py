"""Segments are built, written, read again and searched."""

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
from index.dense.faiss_segments import VectorIndex, vector_ids
from index.storage.vectors import Ids, Stored
from tests.index.segments import DIMENSION, make_segment, random_vectors, to_stored, vector_index
from tests.marks import needs_fork


def test_a_wrong_segment_is_refused(tmp_path: Path) -> None:
    """Another dimension, size or kind of index, a truncated file, bfloat16: even with a matching checksum."""
    segment = faiss_segments.save_segment(make_segment(random_vectors(20)), tmp_path, number=1, generation=1)
    with pytest.raises(ValueError, match="of this kind and size"):
        faiss_segments.load_segment(tmp_path, segment, dimension=DIMENSION + 1)
    with pytest.raises(ValueError, match="of this kind and size"):
        faiss_segments.load_segment(tmp_path, replace(segment, held=19), dimension=DIMENSION)
    with pytest.raises(ValueError, match="checksum"):
        faiss_segments.load_segment(tmp_path, replace(segment, digest="0" * 64), dimension=DIMENSION)
    flat = faiss.IndexFlatIP(DIMENSION)
    flat.add(random_vectors(20))
    quantiser = faiss.IndexScalarQuantizer(DIMENSION, faiss.ScalarQuantizer.QT_bf16, faiss.METRIC_INNER_PRODUCT)
    bfloat16 = faiss.IndexIDMap(quantiser)
    bfloat16.add_with_ids(random_vectors(20), np.arange(1, 21))
    other_files = [faiss.serialize_index(index).tobytes() for index in (flat, bfloat16)]
    assert len(other_files[1]) == segment.size
    for data in (*other_files, (tmp_path / segment.name).read_bytes()[:-9], b"", b"IxMp"):
        (tmp_path / segment.name).write_bytes(data)
        forged = replace(segment, size=len(data), digest=faiss_segments._digest(data))
        with pytest.raises(ValueError, match="of this kind and size"):
            faiss_segments.load_segment(tmp_path, forged, dimension=DIMENSION)
    (tmp_path / segment.name).unlink()
    assert not faiss_segments.has_segment_file(tmp_path, segment)
    with pytest.raises(OSError, match="No such file"):
        faiss_segments.load_segment(tmp_path, segment, dimension=DIMENSION)


def test_a_segment_is_built_from_few_vectors_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faiss_segments, "EXACT_MOST", 64)
    monkeypatch.setattr(faiss_segments, "_CHUNK", 32)
    rows, sizes = random_vectors(100), []

    def fetch(ids: Ids) -> Stored:
        sizes.append(len(ids))
        return to_stored(rows[ids])

    index = faiss_segments.build_segment(np.arange(100), fetch, dimension=DIMENSION)
    assert vector_ids(index).tolist() == list(range(100))
    assert max(sizes) <= 32


def test_compressed_segments_are_searched_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """FAISS searches them in threads, and returns as many results as for one segment with all vectors."""
    monkeypatch.setattr(faiss_segments, "EXACT_MOST", 64)
    rows = random_vectors(2000)
    index = vector_index(make_segment(rows[:1000], 0), make_segment(rows[1000:], 1000), make_segment(rows[:3], 2000))
    assert index._joined.count() == 2
    ids, bound = index.search(rows[1500], 5)
    assert 1500 in ids
    assert len(ids) == faiss_segments._OVERSAMPLE * 5 + faiss_segments._EXTRA / DIMENSION**0.5 + 3
    assert bound == -np.inf
    all_ids, _ = index.search(rows[1500], 2000)
    assert sorted(all_ids.tolist()) == list(range(2003))


def test_exact_segments_return_their_vectors_and_others_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faiss_segments, "EXACT_MOST", 64)
    rows, fetched = to_stored(random_vectors(200)), []

    def fetch(ids: Ids) -> Stored:
        fetched.extend(ids.tolist())
        return rows[ids]

    parts = (np.arange(50), np.arange(50, 60), np.arange(60, 190))
    index = VectorIndex([faiss_segments.build_segment(part, fetch, dimension=DIMENSION) for part in parts], fetch)
    fetched.clear()
    ids = np.array([55, 3, 120, 49, 50, 0, 199, 59, 55])
    assert index.stored_vectors(ids).tobytes() == rows[ids].tobytes()
    assert fetched == [120, 199]
    assert index.stored_vectors(ids[:2]).tobytes() == rows[ids[:2]].tobytes()
    assert fetched == [120, 199]
    assert index.stored_vectors(ids[:0]).shape == (0, DIMENSION)
    assert VectorIndex([], fetch).stored_vectors(ids).tobytes() == rows[ids].tobytes()


def test_exact_segment_round_trips_through_faiss(tmp_path: Path) -> None:
    rows = random_vectors(20)
    segment = faiss_segments.save_segment(make_segment(rows, 7), tmp_path, number=1, generation=1)
    data = (tmp_path / segment.name).read_bytes()
    quantiser = faiss.IndexScalarQuantizer(DIMENSION, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index = faiss.IndexIDMap(quantiser)
    index.add_with_ids(rows, np.arange(7, 27))
    assert faiss.serialize_index(index).tobytes() == data
    scores, ids = faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8)).search(rows[:1], 5)
    nearest_ids, bound = vector_index(make_segment(rows, 7)).search(rows[0], 5)
    assert set(nearest_ids.tolist()) == set(ids[0].tolist())
    assert bound == pytest.approx(scores[0, -1], abs=1e-6)


def test_every_value_of_float16_is_compared() -> None:
    """Including subnormal numbers."""
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    values = values[np.isfinite(values)]
    segment = ExactSegment(np.arange(1, len(values) + 1), values[:, np.newaxis])
    order = np.argsort(values, kind="stable")
    for limit in (1, 1000, 40_000):
        ids, bound = segment.search(np.ones(1, dtype=np.float32), limit)
        assert sorted(values[ids - 1].tolist()) == values[order[-limit:]].tolist()
        assert bound == values[order[-limit]]


def test_row_numbers_that_do_not_ascend_are_refused(tmp_path: Path) -> None:
    rows = random_vectors(3)
    for ids in ([1, 3, 2], [1, 2, 2], [0, 1, 2]):
        index = ExactSegment(np.array(ids), to_stored(rows))
        segment = faiss_segments.save_segment(index, tmp_path, number=1, generation=1)
        with pytest.raises(ValueError, match="row numbers do not ascend"):
            faiss_segments.load_segment(tmp_path, segment, dimension=DIMENSION)


def test_a_segment_without_vectors_finds_nothing() -> None:
    """A segment is empty if its file was lost while none of its vectors was live."""
    rows = random_vectors(3)
    index = vector_index(make_segment(rows[:0]), make_segment(rows))
    assert sorted(index.search(rows[0], 5)[0].tolist()) == [1, 2, 3]
    assert index.stored_vectors(np.array([3, 1])).tobytes() == to_stored(rows[[2, 0]]).tobytes()


@needs_fork
def test_a_process_forked_while_a_segment_is_loaded_loads_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child has neither the other thread's lock nor its limit on allocations."""
    monkeypatch.setattr(faiss_segments, "EXACT_MOST", 64)
    segment = faiss_segments.save_segment(make_segment(random_vectors(200)), tmp_path, number=1, generation=1)
    began, forking = Event(), Event()
    deserialize, limit = faiss.deserialize_index, faiss.get_deserialization_vector_byte_limit()

    def slowly(data: Any) -> Any:
        began.set()
        forking.wait()
        return deserialize(data)

    monkeypatch.setattr(faiss, "deserialize_index", slowly)
    loading = Thread(target=partial(faiss_segments.load_segment, tmp_path, segment, dimension=DIMENSION))
    loading.start()
    began.wait()
    # Handlers registered last are called first: this one before the handler that waits for the other thread's lock.
    os.register_at_fork(before=forking.set)
    child = os.fork()
    if not child:
        signal.alarm(20)
        has_own_limit = faiss.get_deserialization_vector_byte_limit() == limit
        faiss_segments.load_segment(tmp_path, segment, dimension=DIMENSION)
        os._exit(0 if has_own_limit else 1)
    loading.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
