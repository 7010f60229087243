"""Commits leave few segments, and write no vector often."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.dense import faiss_segments
from index.dense.segment_writer import plan_merge
from index.storage.metadata import Segment
from tests.index.segments import limit_sizes


def make_segment(number: int, held: int, dead: int = 0) -> Segment:
    return Segment(number, f"vectors-1-{number}.faiss", 1, "", held, dead)


class CommitHistory:
    """Segments after commits that add vectors and remove none, and how often each vector was written."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.written: list[int] = []
        self._vectors_by_segment: dict[int, list[int]] = {}

    def commit(self, new: int) -> None:
        self.segments, merged = plan_merge(self.segments, new)
        vectors = list(range(len(self.written), len(self.written) + new))
        self.written += [0] * new
        for segment in merged:
            vectors += self._vectors_by_segment.pop(segment.number)
        for vector in vectors:
            self.written[vector] += 1
        for start in range(0, len(vectors), faiss_segments.SEGMENT_MOST):
            part = vectors[start : start + faiss_segments.SEGMENT_MOST]
            number = max(self._vectors_by_segment, default=0) + 1
            self._vectors_by_segment[number] = part
            self.segments.append(make_segment(number, len(part)))


def max_segments(total: int) -> int:
    """Return the allowed number of segments: some of any size, and twice the minimum of full ones."""
    return 2 + math.ceil(math.log2(total)) + 2 * (total // faiss_segments.SEGMENT_MOST)


SIZES = {
    "any": np.random.default_rng(0).integers(1, 51, 1000).tolist(),
    "one": [1] * 1000,
    "most": [50] * 1000,
    "ascending": [*range(1, 51)] * 20,
    "descending": [*range(50, 0, -1)] * 20,
    "few and many": [50, *[1] * 49] * 20,
}


@pytest.mark.parametrize("most", [2_000, faiss_segments.SEGMENT_MOST])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES.keys())
def test_many_commits_leave_few_segments_and_few_rewrites(
    sizes: list[int], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_sizes(monkeypatch, exact=64, most=most)
    history = CommitHistory()
    for size in sizes:
        history.commit(size)
        total = len(history.written)
        assert len(history.segments) <= max_segments(total)
        assert sum(segment.live for segment in history.segments) == total
        assert max(segment.held for segment in history.segments) <= most
    assert max(history.written) <= 1 + math.log(min(most, len(history.written)), 1.5)


@st.composite
def segment_lists(draw: st.DrawFn) -> tuple[list[Segment], list[Segment]]:
    """Generate segments with some dead vectors, and those of them whose files are lost."""
    sizes = draw(st.lists(st.tuples(st.integers(1, 400), st.floats(0, 1)), max_size=8))
    segments = [make_segment(number, held, round(held * share)) for number, (held, share) in enumerate(sizes, 1)]
    return segments, [segment for segment in segments if draw(st.integers(0, 5)) == 0]


@settings(deadline=None)
@given(collection=segment_lists(), new=st.integers(0, 500))
def test_worn_lost_and_small_segments_are_merged(collection: tuple[list[Segment], list[Segment]], new: int) -> None:
    """Each segment is kept or merged, unusable ones are never kept, and merging never exceeds the maximum size."""
    segments, lost = collection
    with pytest.MonkeyPatch.context() as patch:
        limit_sizes(patch, exact=64, most=300)
        kept, merged = plan_merge(segments, new, unusable=lost)
    assert sorted((*kept, *merged), key=lambda segment: segment.number) == segments
    assert kept == sorted(kept, key=lambda segment: segment.number)
    unusable = [it for it in segments if it in lost or not it.live or it.dead > max(64, 0.25 * it.held)]
    assert set(unusable) <= set(merged)
    size = new + sum(segment.live for segment in merged)
    if len(merged) > len(unusable):
        assert size <= 300
    for segment in kept:
        assert segment.live > size or segment.live + size > 300 or not size


def test_segment_is_worn_above_the_dead_vector_thresholds() -> None:
    for segment, is_merged in (
        (make_segment(1, 1000, 250), False),
        (make_segment(1, 1000, 251), True),
        (make_segment(1, 100, 64), False),
        (make_segment(1, 100, 65), True),
        (make_segment(1, 10, 10), True),
    ):
        assert plan_merge([segment], 0)[1] == ([segment] if is_merged else [])


def test_without_new_vectors_nothing_is_merged() -> None:
    segments = [make_segment(1, 100), make_segment(2, 1), make_segment(3, 1)]
    assert plan_merge(segments, 0) == (segments, [])
