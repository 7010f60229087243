"""Assign vectors to FAISS segments, so that a commit writes in proportion to the changes, not to the index."""

from __future__ import annotations

from collections.abc import Sequence

from index.dense.faiss_segments import SEGMENT_MOST
from index.storage.metadata import Segment

# A segment is rewritten when more than this share of it, and more than a few of its vectors, are dead.
_DEAD_SHARE = 0.25
_MIN_DEAD = 64


def plan_merge(
    segments: Sequence[Segment], new: int, *, unusable: Sequence[Segment] = ()
) -> tuple[list[Segment], list[Segment]]:
    """Return the segments to keep, and those to merge with the new vectors into new segments.

    A segment is merged if it is at most twice as large as the data written anyway, so that a vector is rewritten only
    as often as the collection grows by half, and the number of segments grows with the logarithm of its size.

    Args:
        segments: The current ones.
        new: How many vectors are in no segment yet.
        unusable: Segments whose files are missing or damaged.
    """
    merged = [segment for segment in segments if segment in unusable or _needs_rewrite(segment)]
    kept = sorted((segment for segment in segments if segment not in merged), key=lambda segment: segment.live)
    size = new + sum(segment.live for segment in merged)
    while kept and 0 < kept[0].live <= 2 * size and size + kept[0].live <= SEGMENT_MOST:
        size += kept[0].live
        merged.append(kept.pop(0))
    return sorted(kept, key=lambda segment: segment.number), merged


def _needs_rewrite(segment: Segment) -> bool:
    return segment.dead > max(_MIN_DEAD, _DEAD_SHARE * segment.held) or not segment.live
