"""FAISS files that the tool never wrote, under a digest that fits (case 33)."""

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
class Held:
    """What a segment's file holds in truth: ids, vectors, and the bytes of the file."""

    ids: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]
    data: bytes


def held_in(sample: Sample) -> Held:
    with Snapshot(sample.folder) as snapshot:
        data = (sample.folder / snapshot.info.segments[0].name).read_bytes()
    index: Any = faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8))
    vectors = faiss.downcast_index(index.index).reconstruct_n(0, index.ntotal)
    return Held(faiss.vector_to_array(index.id_map), vectors, data)


def serialized(index: Any) -> bytes:
    data: bytes = faiss.serialize_index(index).tobytes()
    return data


def with_ids(held: Held, kind: Any, ids: npt.NDArray[np.int64] | None = None) -> bytes:
    """The true vectors in an index of another kind, or under other ids."""
    outer: Any = faiss.IndexIDMap(kind)
    outer.add_with_ids(held.vectors, (held.ids if ids is None else ids).astype(np.int64))
    return serialized(outer)


def halves() -> Any:
    return faiss.IndexScalarQuantizer(64, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)


def without_ids(held: Held) -> bytes:
    kind = halves()
    kind.add(held.vectors)
    return serialized(kind)


def of_dimension(held: Held, dimension: int) -> bytes:
    kind = faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    outer: Any = faiss.IndexIDMap(kind)
    outer.add_with_ids(np.ascontiguousarray(held.vectors[:, :dimension]), held.ids)
    return serialized(outer)


def transformed(held: Held) -> bytes:
    transform = faiss.LinearTransform(64, 64)
    faiss.copy_array_to_vector(np.eye(64, dtype=np.float32).ravel(), transform.A)
    transform.is_trained = True
    return with_ids(held, faiss.IndexPreTransform(transform, faiss.IndexFlatIP(64)))


def patched(held: Held, old: int, new: int) -> bytes:
    """Every number of eight bytes that has one value gets another: counts and sizes in the header among them."""
    changed = held.data.replace(struct.pack("<q", old), struct.pack("<q", new))
    assert changed != held.data
    return changed


def nested(held: Held, depth: int) -> bytes:
    """An index in an index in an index: the outer headers are the first bytes of an IndexIDMap."""
    inner = held.data.index(b"IxSQ")
    return held.data[:inner] * depth + held.data


FILES: dict[str, Callable[[Held], bytes]] = {
    "a huge number of vectors": lambda held: patched(held, len(held.ids), 2**50),
    "a negative number of vectors": lambda held: patched(held, len(held.ids), -1),
    "codes far larger than the file": lambda held: patched(held, len(held.ids) * 128, 2**46),
    "codes of no size": lambda held: patched(held, 128, 0),
    "ids far away": lambda held: with_ids(held, halves(), held.ids + NOWHERE),
    "negative ids": lambda held: with_ids(held, halves(), -held.ids),
    "one id for all": lambda held: with_ids(held, halves(), held.ids * 0 + 1),
    "another dimension": lambda held: of_dimension(held, 32),
    "an index without ids": without_ids,
    "a hundred thousand indexes in one another": lambda held: nested(held, 100_000),
    "a graph": lambda held: with_ids(held, faiss.IndexHNSWFlat(64, 8)),
    "a flat index": lambda held: with_ids(held, faiss.IndexFlatIP(64)),
    "a transform before it": transformed,
    "nothing": lambda _: b"",
    "an unknown kind": lambda _: b"Qxyz" + bytes(100),
}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_faiss_file_under_a_digest_that_fits_is_harmless(sample: Sample, name: str) -> None:
    """Made again from the stored vectors, or what it says is noticed; in time, and within memory."""
    value_of(partial(_replace, sample, name))
    judged = asked_and_checked(sample)
    # A file that is sound in itself and gives the wrong vectors the wrong ids is as good as one with other vectors.
    assert name == "one id for all" or judged.outcome in (Outcome.RIGHT, Outcome.REFUSED), judged.detail


def _replace(sample: Sample, name: str) -> None:
    """Not in the process of the tests: some of these files are made by threads of FAISS."""
    replace_segment(sample.folder, FILES[name](held_in(sample)))
