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
places = st.integers(0, 300) | st.integers(0, BLOCK - 1)
lists = st.lists(st.dictionaries(places, st.integers(1, 6) | st.integers(1, MAX_WEIGHT), min_size=1), max_size=6)


def packed(several: Sequence[Mapping[int, int]]) -> list[PostingList]:
    """Pack lists together, and divide the result."""
    pairs = [pair for one in several for pair in sorted(one.items())]
    columns = ([place for place, _ in pairs], [weight for _, weight in pairs], [len(one) for one in several])
    data, ends = pack(Postings(*(np.array(column, dtype=np.int64) for column in columns)))
    starts = [0, *ends]
    return [PostingList(len(one), data[starts[i] : ends[i]]) for i, one in enumerate(several)]


@settings(max_examples=100, deadline=None)
@given(several=lists, piece=st.sampled_from([1, 8, 16_384]), data=st.data())
def test_lists_can_be_unpacked_in_any_combination(
    several: list[dict[int, int]], piece: int, data: st.DataObject
) -> None:
    """Lists packed together are unpacked in another order, each with its own start."""
    order = data.draw(st.permutations(range(len(several))))
    starts = data.draw(st.lists(st.integers(0, 9 * BLOCK), min_size=len(order), max_size=len(order)))
    with patch.object(postings, "_PIECE", piece):
        found = unpack([packed(several)[i] for i in order], np.array(starts, dtype=np.int64))
    expected = [
        (start + place, weight)
        for i, start in zip(order, starts, strict=True)
        for place, weight in sorted(several[i].items())
    ]
    assert list(zip(found.positions.tolist(), found.weights.tolist(), strict=True)) == expected
    assert found.counts.tolist() == [len(several[i]) for i in order]


@settings(max_examples=100, deadline=None)
@given(several=lists.filter(bool), data=st.data())
def test_a_truncated_or_miscounted_list_is_refused(several: list[dict[int, int]], data: st.DataObject) -> None:
    found = packed(several)
    which = data.draw(st.integers(0, len(found) - 1))
    count, content = found[which]
    cut = PostingList(count, content[: data.draw(st.integers(0, len(content) - 1))])
    for wrong in (cut, PostingList(count + 1, content), PostingList(count - 1, content)):
        with pytest.raises(ValueError, match="a posting list"):
            unpack([*found[:which], wrong, *found[which + 1 :]], np.zeros(len(found), dtype=np.int64))
