"""Pack posting lists into bytes and unpack them, many at once.

A posting is a number: the gap between its position and the previous one in its list, times four, plus its weight minus
one, at most three. The weights above three, minus four, follow the last posting of a list. Each number is stored in
groups of seven bits, the highest first, all but the last with the eighth bit set: most take one byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

# The largest value of a weight's two bits: it means that the weight follows the list.
_INLINE = 3
MAX_WEIGHT = 255
# A position in a block and a weight fit into three bytes.
_MAX_NUMBER_BYTES = 3
# Bytes of lists that are unpacked at once: few, so that memory in the processor's cache is reused.
_PIECE_BYTES = 16_384
# What each byte of a number adds to the position: the last byte, and the one before it.
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
    """Return the bytes of posting lists, none of them empty, and the offset of each list's end."""
    positions, weights, counts = postings
    if not len(counts):
        return b"", []
    ends = np.cumsum(counts)
    starts = ends - counts
    gaps = np.diff(positions, prepend=-1) - 1
    gaps[starts] = positions[starts]
    large = weights > _INLINE
    trailing = np.add.reduceat(large, starts, dtype=np.int64)
    values_end = ends + np.cumsum(trailing)
    values = np.empty(values_end[-1], dtype=np.int64)
    values[np.arange(len(positions)) + np.repeat(values_end - trailing - ends, counts)] = gaps << 2 | np.minimum(
        weights - 1, _INLINE
    )
    values[np.arange(len(values) - len(positions)) + np.repeat(ends, trailing)] = weights[large] - _INLINE - 1
    data, bytes_end = _to_bytes(values)
    return data, bytes_end[values_end - 1].tolist()


def unpack(lists: Sequence[PostingList], starts: Numbers) -> Postings:
    """Unpack posting lists packed by `pack`, counting the positions of each from its start; raises ValueError."""
    counts = np.array([postings.passages for postings in lists], dtype=np.int64)
    sizes = np.array([len(postings.data) for postings in lists], dtype=np.int64)
    if (counts < 1).any() or (counts > sizes).any():
        raise ValueError("a posting list is truncated")
    unpacked = Postings(np.empty(counts.sum(), dtype=np.int64), np.empty(counts.sum(), dtype=np.uint8), counts)
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _PIECE_BYTES)) + 1
    done = 0
    for first, last in pairwise([0, *cuts.tolist(), len(counts)] if len(counts) else []):
        raw = np.frombuffer(b"".join([postings.data for postings in lists[first:last]]), dtype=np.uint8)
        positions, weights = _unpack_piece(raw, counts[first:last], sizes[first:last], starts[first:last])
        unpacked.positions[done : done + len(positions)] = positions
        unpacked.weights[done : done + len(positions)] = weights
        done += len(positions)
    return unpacked


def _unpack_piece(raw: Bytes, counts: Numbers, sizes: Numbers, starts: Numbers) -> tuple[Numbers, Bytes]:
    """Return the positions and weights of posting lists; raises ValueError.

    Each byte adds to the position independently of the others, so that the cumulative sum of all bytes is the position
    wherever a posting ends.
    """
    ends = np.cumsum(sizes)
    is_last = raw < 0x80  # the last byte of a number; without the trailing weights, that of a posting
    continued = np.flatnonzero(~is_last)
    trailing = sizes - np.diff(np.searchsorted(continued, ends), prepend=0) - counts
    if not is_last[ends - 1].all() or (trailing < 0).any():
        raise ValueError("a posting list is truncated")
    steps = _STEPS.take(raw)
    steps[_long_numbers(raw, continued)] <<= 7
    list_starts = ends - sizes
    sums = np.add.reduceat(steps, list_starts)
    steps[list_starts] += np.diff(starts, prepend=1) - np.concatenate([[0], sums[:-1]])
    np.cumsum(steps, out=steps)
    values = _trailing_weights(raw, is_last, trailing, np.cumsum(counts))
    weights = raw[is_last]
    weights &= _INLINE
    weights += 1
    large = np.flatnonzero(weights > _INLINE)
    if len(large) != len(values):
        raise ValueError("a posting list has too few or too many weights")
    weights[large] = values
    return steps[is_last], weights


def _long_numbers(raw: Bytes, continued: Numbers) -> Numbers:
    """Return where numbers of three bytes begin, given all bytes that do not end a number; raises ValueError."""
    starts: Numbers = continued[:-1][np.diff(continued) == 1]
    if (raw[starts + 2] & 0x80).any():
        raise ValueError("a number in a posting list is too long")
    return starts


def _trailing_weights(raw: Bytes, is_last: npt.NDArray[np.bool_], trailing: Numbers, ends: Numbers) -> Numbers:
    """Return the `trailing` weights of each list, and clear their ends in `is_last`; raises ValueError."""
    if not trailing.any():
        return trailing[:0]
    indexes = np.arange(trailing.sum()) + np.repeat(ends, trailing)
    weight_ends = np.flatnonzero(is_last)[indexes]
    is_last[weight_ends] = False
    # The byte before may end the previous list, but its eighth bit is clear then.
    previous = raw[weight_ends - 1].astype(np.int64)
    values: Numbers = raw[weight_ends] + np.where(previous & 0x80, (previous & 0x7F) << 7, 0) + _INLINE + 1
    if values.max() > MAX_WEIGHT or (previous & raw[weight_ends - 2] & 0x80).any():
        raise ValueError("a posting list has a weight that is too large")
    return values


def _to_bytes(values: Numbers) -> tuple[bytes, Numbers]:
    """Return the bytes of numbers, and the offset of each number's end."""
    sizes = 1 + sum((values >= 1 << 7 * group).astype(np.int64) for group in range(1, _MAX_NUMBER_BYTES))
    ends = np.cumsum(sizes)
    raw = np.empty(ends[-1], dtype=np.uint8)
    raw[ends - 1] = values & 0x7F
    for group in range(1, _MAX_NUMBER_BYTES):
        longer = sizes > group
        raw[ends[longer] - 1 - group] = values[longer] >> 7 * group & 0x7F | 0x80
    return raw.tobytes(), ends
