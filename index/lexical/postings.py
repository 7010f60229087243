"""Posting lists as bytes, many at once.

A posting is a number: how many places it is behind the one before in its list, times four, plus the least of its weight
less one and three. The weights above three, less four, follow behind the last posting of a list. Each number is stored
in groups of seven bits, the highest first, all but the last with the eighth bit set: most take one byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

# Of the weight, in two bits; the greatest says that the weight follows.
_INLINE = 3
MAX_WEIGHT = 255
# Bytes of a number: three hold the place in a block and a weight.
_MOST = 3


class PostingList(NamedTuple):
    """One posting list: the number of its passages, and its bytes."""

    passages: int
    data: bytes


class Postings(NamedTuple):
    """Unpacked posting lists, one after another.

    Attributes:
        positions: `(n,) int64`, ascending within a list.
        weights: `(n,) int64`, of the term in each passage.
        counts: `(lists,) int64`, postings of each list.
    """

    positions: Numbers
    weights: Numbers
    counts: Numbers


def pack(postings: Postings) -> tuple[bytes, list[int]]:
    """The bytes of posting lists, none empty, one after another, and where each ends."""
    positions, weights, counts = postings
    if not len(counts):
        return b"", []
    ends = np.cumsum(counts)
    starts = ends - counts
    gaps = np.diff(positions, prepend=-1) - 1
    gaps[starts] = positions[starts]
    large = weights > _INLINE
    behind = np.add.reduceat(large, starts, dtype=np.int64)
    values_end = ends + np.cumsum(behind)
    values = np.empty(values_end[-1], dtype=np.int64)
    values[np.arange(len(positions)) + np.repeat(values_end - behind - ends, counts)] = gaps << 2 | np.minimum(
        weights - 1, _INLINE
    )
    values[np.arange(len(values) - len(positions)) + np.repeat(ends, behind)] = weights[large] - _INLINE - 1
    data, bytes_end = _to_bytes(values)
    return data, bytes_end[values_end - 1].tolist()


def unpack(lists: Sequence[PostingList]) -> Postings:
    """What `pack` packed, or ValueError."""
    raw = np.frombuffer(b"".join(one.data for one in lists), dtype=np.uint8)
    counts = np.array([one.passages for one in lists], dtype=np.int64)
    values, bytes_end = _from_bytes(raw)
    sizes = np.array([len(one.data) for one in lists], dtype=np.int64)
    values_end = np.searchsorted(bytes_end, np.cumsum(sizes), side="right")
    found = np.diff(values_end, prepend=0)
    whole = sizes.all() and not (raw[np.cumsum(sizes) - 1] & 0x80).any()
    if not whole or (counts < 1).any() or (found < counts).any():
        raise ValueError("a posting list is cut")
    is_posting = np.ones(len(values), dtype=bool)
    behind = found - counts
    is_posting[np.arange(behind.sum()) + np.repeat(np.cumsum(counts), behind)] = False
    postings = values[is_posting]
    weights = (postings & _INLINE) + 1
    large = weights > _INLINE
    if np.count_nonzero(large) != len(values) - len(postings):
        raise ValueError("a posting list has no weight for a posting, or too many")
    weights[large] = values[~is_posting] + _INLINE + 1
    if weights.max(initial=0) > MAX_WEIGHT:
        raise ValueError("a posting list has a weight that is too great")
    positions = np.cumsum((postings >> 2) + 1)
    ends = np.cumsum(counts)
    before = np.concatenate([[0], positions[ends[:-1] - 1]]) if len(ends) else ends
    return Postings(positions - np.repeat(before, counts) - 1, weights, counts)


def _to_bytes(values: Numbers) -> tuple[bytes, Numbers]:
    """Numbers as bytes, and where each ends."""
    sizes = 1 + sum((values >= 1 << 7 * more).astype(np.int64) for more in range(1, _MOST))
    ends = np.cumsum(sizes)
    raw = np.empty(ends[-1], dtype=np.uint8)
    raw[ends - 1] = values & 0x7F
    for more in range(1, _MOST):
        longer = sizes > more
        raw[ends[longer] - 1 - more] = values[longer] >> 7 * more & 0x7F | 0x80
    return raw.tobytes(), ends


def _from_bytes(raw: npt.NDArray[np.uint8]) -> tuple[Numbers, Numbers]:
    """Numbers, and where each ends, or ValueError."""
    last = np.flatnonzero(raw < 0x80)
    values = raw[last].astype(np.int64)
    if len(last) < len(raw):
        sizes = np.diff(last, prepend=-1)
        if sizes.max(initial=0) > _MOST:
            raise ValueError("a number of a posting list is too long")
        for more in range(1, _MOST):
            longer = sizes > more
            values[longer] += (raw[last[longer] - more] & 0x7F).astype(np.int64) << 7 * more
    return values, last + 1
