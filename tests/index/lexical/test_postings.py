"""Packed posting lists can be unpacked, and anything else is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.lexical import postings
from index.lexical.posting_blocks import BLOCK
from index.lexical.postings import MAX_WEIGHT, PostingList, Postings, pack, unpack

# Positions close to each other and far apart; weights small enough to be stored with a position, and larger ones.
positions = st.integers(0, 300) | st.integers(0, BLOCK - 1)
weights = st.integers(1, 6) | st.integers(1, MAX_WEIGHT)
batches = st.lists(st.dictionaries(positions, weights, min_size=1), max_size=6)


def pack_separately(lists: Sequence[Mapping[int, int]]) -> list[PostingList]:
    """Pack lists together, and split the result."""
    pairs = [pair for postings_list in lists for pair in sorted(postings_list.items())]
    columns = ([position for position, _ in pairs], [weight for _, weight in pairs], [*map(len, lists)])
    data, ends = pack(Postings(*(np.array(column, dtype=np.int64) for column in columns)))
    starts = [0, *ends]
    return [PostingList(len(lists[i]), data[starts[i] : ends[i]]) for i in range(len(lists))]


@settings(max_examples=100, deadline=None)
@given(lists=batches, piece=st.sampled_from([1, 8, 16_384]), data=st.data())
def test_lists_can_be_unpacked_in_any_combination(lists: list[dict[int, int]], piece: int, data: st.DataObject) -> None:
    """Lists packed together are unpacked in another order, each with its own start."""
    order = data.draw(st.permutations(range(len(lists))))
    starts = data.draw(st.lists(st.integers(0, 9 * BLOCK), min_size=len(order), max_size=len(order)))
    with patch.object(postings, "_PIECE_BYTES", piece):
        unpacked = unpack([pack_separately(lists)[i] for i in order], np.array(starts, dtype=np.int64))
    expected = [
        (start + position, weight)
        for i, start in zip(order, starts, strict=True)
        for position, weight in sorted(lists[i].items())
    ]
    assert list(zip(unpacked.positions.tolist(), unpacked.weights.tolist(), strict=True)) == expected
    assert unpacked.counts.tolist() == [len(lists[i]) for i in order]


@settings(max_examples=100, deadline=None)
@given(lists=batches.filter(bool), data=st.data())
def test_a_truncated_or_miscounted_list_is_refused(lists: list[dict[int, int]], data: st.DataObject) -> None:
    unpacked = pack_separately(lists)
    which = data.draw(st.integers(0, len(unpacked) - 1))
    count, content = unpacked[which]
    cut = PostingList(count, content[: data.draw(st.integers(0, len(content) - 1))])
    for wrong in (cut, PostingList(count + 1, content), PostingList(count - 1, content)):
        with pytest.raises(ValueError, match="a posting list"):
            unpack([*unpacked[:which], wrong, *unpacked[which + 1 :]], np.zeros(len(unpacked), dtype=np.int64))
