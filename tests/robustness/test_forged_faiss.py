"""Hostile FAISS files with a matching digest (case 33)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import faiss
import numpy as np
import pytest

from index.dense.faiss_segments import build_segment, load_segment
from index.snapshot import Snapshot
from index.storage.vectors import Ids
from tests.robustness.process import value_of
from tests.robustness.reseal import replace_segment
from tests.robustness.samples import Sample
from tests.robustness.trials import UNUSED_ID, Outcome, ask_and_check


@dataclass(frozen=True, slots=True)
class Segment:
    """A compressed segment: its index as FAISS reads it, and its file."""

    index: Any
    data: bytes

    @property
    def ids(self) -> Ids:
        ids: Ids = faiss.vector_to_array(self.index.id_map)
        return ids

    def patched(self, old: int, new: int) -> bytes:
        """Replace every 8-byte number of this value, among them counts and sizes in the header."""
        changed = self.data.replace(struct.pack("<q", old), struct.pack("<q", new))
        assert changed != self.data
        return changed


def serialized(index: Any) -> bytes:
    data: bytes = faiss.serialize_index(index).tobytes()
    return data


def rebuilt(ids: Ids, dimension: int = 64) -> bytes:
    """A segment of the right kind, but with other vectors."""
    return serialized(
        build_segment(ids, lambda batch: np.ones((len(batch), dimension), np.float16), dimension=dimension)
    )


def flat(ids: Ids) -> bytes:
    """An index of another kind, but with the right ids."""
    outer: Any = faiss.IndexIDMap(faiss.IndexFlatIP(64))
    outer.add_with_ids(np.ones((len(ids), 64), np.float32), ids)
    return serialized(outer)


def nested(data: bytes, depth: int) -> bytes:
    """Wrap an index in many IndexIDMap headers."""
    return data[: data.index(b"Irfn")] * depth + data


FILES: dict[str, Callable[[Segment], bytes]] = {
    "a huge number of vectors": lambda segment: segment.patched(len(segment.ids), 2**50),
    "a negative number of vectors": lambda segment: segment.patched(len(segment.ids), -1),
    "codes far larger than the file": lambda segment: segment.patched(64, 2**46),
    "ids out of range": lambda segment: rebuilt(segment.ids + UNUSED_ID),
    "negative ids": lambda segment: rebuilt(-segment.ids),
    "one id for all": lambda segment: rebuilt(segment.ids * 0 + 1),
    "another dimension": lambda segment: rebuilt(segment.ids, 32),
    "an index without ids": lambda segment: serialized(segment.index.index),
    "a hundred thousand nested indexes": lambda segment: nested(segment.data, 100_000),
    "an index of another kind": lambda segment: flat(segment.ids),
    "an empty file": lambda _: b"",
    "an unknown type": lambda _: b"Qxyz" + bytes(100),
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_faiss_file_with_matching_digest_is_harmless(sample: Sample, name: str) -> None:
    """It is rebuilt from the stored vectors or refused, within the limits on time and memory."""
    value_of(partial(_replace, sample, name))
    verdict = ask_and_check(sample)
    assert verdict.outcome in (Outcome.RIGHT, Outcome.REFUSED), verdict.detail


def _replace(sample: Sample, name: str) -> None:
    """Replace a segment; in a process of its own, as FAISS starts threads to create some of these files."""
    with sample.limits():
        with Snapshot(sample.folder) as snapshot:
            stored = snapshot.info.segments[0]
        segment = Segment(load_segment(sample.folder, stored, dimension=64), (sample.folder / stored.name).read_bytes())
        replace_segment(sample.folder, FILES[name](segment))
