"""Posting lists as bytes, many at once.

A posting is a number: how many places it is behind the one before in its list, times four, plus the least of its weight
less one and three. The weights above three, less four, follow behind the last posting of a list. Each number is stored
in groups of seven bits, the highest first, all but the last with the eighth bit set: most take one byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

# Of the weight, in two bits; the greatest says that the weight follows.
_INLINE = 3
MAX_WEIGHT = 255
# Bytes of a number: three hold the place in a block and a weight.
_MOST = 3
# Bytes that are unpacked at once, or one list: few enough that the next ones take the same memory.
_PIECE = 16_384
# What each byte of a number adds to the position: the last one, and the one before it.
_STEPS = np.concatenate([np.arange(128) // 4 + 1, np.arange(128) * 32])


class PostingList(NamedTuple):
    """One posting list: the number of its passages, and its bytes."""

    passages: int
    data: bytes


class Postings(NamedTuple):
    """Unpacked posting lists, one after another.

    Attributes:
        positions: `(n,) int64`, ascending within a list.
        weights: `(n,)`, of the term in each passage.
        counts: `(lists,) int64`, postings of each list.
    """

    positions: Numbers
    weights: Bytes | Numbers
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


def unpack(lists: Sequence[PostingList], starts: Numbers) -> Postings:
    """What `pack` packed, or ValueError; positions are counted from a start of each list's own."""
    counts = np.array([one.passages for one in lists], dtype=np.int64)
    sizes = np.array([len(one.data) for one in lists], dtype=np.int64)
    if (counts < 1).any() or (counts > sizes).any():
        raise ValueError("a posting list is cut")
    found = Postings(np.empty(counts.sum(), dtype=np.int64), np.empty(counts.sum(), dtype=np.uint8), counts)
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _PIECE)) + 1
    at = 0
    for first, last in pairwise([0, *cuts.tolist(), len(counts)] if len(counts) else []):
        raw = np.frombuffer(b"".join([one.data for one in lists[first:last]]), dtype=np.uint8)
        positions, weights = _unpacked(raw, counts[first:last], sizes[first:last], starts[first:last])
        found.positions[at : at + len(positions)] = positions
        found.weights[at : at + len(positions)] = weights
        at += len(positions)
    return found


def _unpacked(raw: Bytes, counts: Numbers, sizes: Numbers, starts: Numbers) -> tuple[Numbers, Bytes]:
    """Positions and weights of posting lists, or ValueError.

    A byte adds to the position as if it stood alone, so that a sum over all bytes is right where a posting ends.
    """
    ends = np.cumsum(sizes)
    kept = raw < 0x80  # the last byte of a number
    more = np.flatnonzero(~kept)
    behind = sizes - np.diff(np.searchsorted(more, ends), prepend=0) - counts
    if not kept[ends - 1].all() or (behind < 0).any():
        raise ValueError("a posting list is cut")
    steps = _STEPS.take(raw)
    steps[_long(raw, more)] <<= 7
    firsts = ends - sizes
    sums = np.add.reduceat(steps, firsts)
    steps[firsts] += np.diff(starts, prepend=1) - np.concatenate([[0], sums[:-1]])
    np.cumsum(steps, out=steps)
    values = _weights_behind(raw, kept, behind, np.cumsum(counts))
    weights = raw[kept]
    weights &= _INLINE
    weights += 1
    large = np.flatnonzero(weights > _INLINE)
    if len(large) != len(values):
        raise ValueError("a posting list has no weight for a posting, or too many")
    weights[large] = values
    return steps[kept], weights


def _long(raw: Bytes, more: Numbers) -> Numbers:
    """Where numbers of three bytes begin, or ValueError; `more` says which bytes are not the last of a number."""
    found: Numbers = more[:-1][np.diff(more) == 1]
    if (raw[found + 2] & 0x80).any():
        raise ValueError("a number of a posting list is too long")
    return found


def _weights_behind(raw: Bytes, kept: npt.NDArray[np.bool_], behind: Numbers, ends: Numbers) -> Numbers:
    """The weights that follow the postings of each list, so many, which `kept` then leaves out, or ValueError."""
    if not behind.any():
        return behind[:0]
    wanted = np.arange(behind.sum()) + np.repeat(ends, behind)
    last = np.flatnonzero(kept)[wanted]
    kept[last] = False
    # Never those of a list before, whose last byte has no eighth bit.
    before = raw[last - 1].astype(np.int64)
    values: Numbers = raw[last] + np.where(before & 0x80, (before & 0x7F) << 7, 0) + _INLINE + 1
    if values.max() > MAX_WEIGHT or (before & raw[last - 2] & 0x80).any():
        raise ValueError("a posting list has a weight that is too great")
    return values


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
