"""Commits leave few segments, and write each vector few times."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.dense import faiss_segments, merge_policy
from index.storage.metadata import Segment
from tests.index.segments import limit_sizes


def made(number: int, held: int, dead: int = 0) -> Segment:
    return Segment(number, f"vectors-1-{number}.faiss", 1, "", held, dead)


class History:
    """Commits of new vectors, as in the store; none is ever removed."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.written: list[int] = []
        self._members: dict[int, list[int]] = {}

    def commit(self, new: int) -> None:
        self.segments, merged = merge_policy.plan_merge(self.segments, new)
        members = list(range(len(self.written), len(self.written) + new))
        self.written += [0] * new
        for segment in merged:
            members += self._members.pop(segment.number)
        for vector in members:
            self.written[vector] += 1
        for start in range(0, len(members), faiss_segments.SEGMENT_MOST):
            part = members[start : start + faiss_segments.SEGMENT_MOST]
            number = max(self._members, default=0) + 1
            self._members[number] = part
            self.segments.append(made(number, len(part)))


def most_segments(total: int) -> int:
    """The allowed number: some of any size, and twice the least number of full ones."""
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
    history = History()
    for size in sizes:
        history.commit(size)
        total = len(history.written)
        assert len(history.segments) <= most_segments(total)
        assert sum(segment.live for segment in history.segments) == total
        assert max(segment.held for segment in history.segments) <= most
    assert max(history.written) <= 1 + math.log(min(most, len(history.written)), 1.5)


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[Segment], list[Segment]]:
    """Segments with some dead vectors, and those whose files are lost."""
    sizes = draw(st.lists(st.tuples(st.integers(1, 400), st.floats(0, 1)), max_size=8))
    segments = [made(number, held, round(held * share)) for number, (held, share) in enumerate(sizes, 1)]
    return segments, [segment for segment in segments if draw(st.integers(0, 5)) == 0]


@settings(deadline=None)
@given(collection=collections(), new=st.integers(0, 500))
def test_worn_lost_and_small_segments_are_merged(collection: tuple[list[Segment], list[Segment]], new: int) -> None:
    """Each segment is kept or merged, bad ones are never kept, and merging never exceeds the maximum size."""
    segments, lost = collection
    with pytest.MonkeyPatch.context() as patch:
        limit_sizes(patch, exact=64, most=300)
        kept, merged = merge_policy.plan_merge(segments, new, unusable=lost)
    assert sorted((*kept, *merged), key=lambda one: one.number) == segments
    assert kept == sorted(kept, key=lambda one: one.number)
    bad = [one for one in segments if one in lost or not one.live or one.dead > max(64, 0.25 * one.held)]
    assert set(bad) <= set(merged)
    size = new + sum(one.live for one in merged)
    if len(merged) > len(bad):
        assert size <= 300
    for one in kept:
        assert one.live > size or one.live + size > 300 or not size


def test_segment_is_worn_above_the_dead_vector_thresholds() -> None:
    for segment, is_worn in (
        (made(1, 1000, 250), False),
        (made(1, 1000, 251), True),
        (made(1, 100, 64), False),
        (made(1, 100, 65), True),
        (made(1, 10, 10), True),
    ):
        assert merge_policy.plan_merge([segment], 0)[1] == ([segment] if is_worn else [])


def test_without_new_vectors_nothing_is_merged() -> None:
    segments = [made(1, 100), made(2, 1), made(3, 1)]
    assert merge_policy.plan_merge(segments, 0) == (segments, [])
