"""Hostile FAISS files with a matching digest (case 33)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
import pytest

from index.snapshot import Snapshot
from tests.robustness.process import value_of
from tests.robustness.reseal import replace_segment
from tests.robustness.samples import Sample
from tests.robustness.trials import NOWHERE, Outcome, asked_and_checked


@dataclass(frozen=True, slots=True)
class Original:
    """The true contents of a segment's file."""

    ids: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]
    data: bytes


def original_of(sample: Sample) -> Original:
    with Snapshot(sample.folder) as snapshot:
        data = (sample.folder / snapshot.info.segments[0].name).read_bytes()
    index: Any = faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8))
    vectors = faiss.downcast_index(index.index).reconstruct_n(0, index.ntotal)
    return Original(faiss.vector_to_array(index.id_map), vectors, data)


def serialized(index: Any) -> bytes:
    data: bytes = faiss.serialize_index(index).tobytes()
    return data


def with_ids(one: Original, index: Any, ids: npt.NDArray[np.int64] | None = None) -> bytes:
    """The true vectors, cut to the dimension of the index, with their ids or others."""
    outer: Any = faiss.IndexIDMap(index)
    vectors = np.ascontiguousarray(one.vectors[:, : index.d])
    outer.add_with_ids(vectors, (one.ids if ids is None else ids).astype(np.int64))
    return serialized(outer)


def float16_index(dimension: int = 64) -> Any:
    return faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)


def without_ids(one: Original) -> bytes:
    index = float16_index()
    index.add(one.vectors)
    return serialized(index)


def transformed(one: Original) -> bytes:
    transform = faiss.LinearTransform(64, 64)
    faiss.copy_array_to_vector(np.eye(64, dtype=np.float32).ravel(), transform.A)
    transform.is_trained = True
    return with_ids(one, faiss.IndexPreTransform(transform, faiss.IndexFlatIP(64)))


def patched(one: Original, old: int, new: int) -> bytes:
    """Replace every 8-byte number that has the old value, which includes counts and sizes in the header."""
    changed = one.data.replace(struct.pack("<q", old), struct.pack("<q", new))
    assert changed != one.data
    return changed


def nested(one: Original, depth: int) -> bytes:
    """Wrap the index in many IndexIDMap headers."""
    return one.data[: one.data.index(b"IxSQ")] * depth + one.data


FILES: dict[str, Callable[[Original], bytes]] = {
    "a huge number of vectors": lambda one: patched(one, len(one.ids), 2**50),
    "a negative number of vectors": lambda one: patched(one, len(one.ids), -1),
    "codes far larger than the file": lambda one: patched(one, len(one.ids) * 128, 2**46),
    "codes of size zero": lambda one: patched(one, 128, 0),
    "ids out of range": lambda one: with_ids(one, float16_index(), one.ids + NOWHERE),
    "negative ids": lambda one: with_ids(one, float16_index(), -one.ids),
    "one id for all": lambda one: with_ids(one, float16_index(), one.ids * 0 + 1),
    "another dimension": lambda one: with_ids(one, float16_index(32)),
    "an index without ids": without_ids,
    "a hundred thousand nested indexes": lambda one: nested(one, 100_000),
    "a graph": lambda one: with_ids(one, faiss.IndexHNSWFlat(64, 8)),
    "a flat index": lambda one: with_ids(one, faiss.IndexFlatIP(64)),
    "a linear transform": transformed,
    "an empty file": lambda _: b"",
    "an unknown type": lambda _: b"Qxyz" + bytes(100),
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_faiss_file_with_matching_digest_is_harmless(sample: Sample, name: str) -> None:
    """It is rebuilt from the stored vectors or refused, within limits of time and memory."""
    value_of(partial(_replace, sample, name))
    judged = asked_and_checked(sample)
    # A valid file with wrong ids cannot be told from one with other vectors.
    assert name == "one id for all" or judged.outcome in (Outcome.RIGHT, Outcome.REFUSED), judged.detail


def _replace(sample: Sample, name: str) -> None:
    """Run in a process of its own, as FAISS starts threads to create some of these files."""
    replace_segment(sample.folder, FILES[name](original_of(sample)))
