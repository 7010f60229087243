"""Assign vectors to FAISS segments: a commit writes in proportion to what changed, not to what there is."""

from __future__ import annotations

from collections.abc import Sequence

from index.dense.faiss_segments import SEGMENT_MOST
from index.storage.metadata import Segment

# A segment is rewritten when more than this share of it, and more than a few of its vectors, are dead.
_DEAD_SHARE = 0.25
_DEAD_FEW = 64


def plan_merge(
    segments: Sequence[Segment], new: int, *, unusable: Sequence[Segment] = ()
) -> tuple[list[Segment], list[Segment]]:
    """Return the segments to keep, and those to merge with the new vectors into new segments.

    A segment at most twice as large as what is written anyway is merged, so that a vector is written again only as
    often as the collection grows by half, and the number of segments stays within the logarithm of their size.

    Args:
        segments: The current ones.
        new: How many vectors are in none of them.
        unusable: Segments whose files are missing or damaged.
    """
    merged = [segment for segment in segments if segment in unusable or _is_worn(segment)]
    kept = sorted((segment for segment in segments if segment not in merged), key=lambda segment: segment.live)
    size = new + sum(segment.live for segment in merged)
    while kept and 0 < kept[0].live <= 2 * size and size + kept[0].live <= SEGMENT_MOST:
        size += kept[0].live
        merged.append(kept.pop(0))
    return sorted(kept, key=lambda segment: segment.number), merged


def _is_worn(segment: Segment) -> bool:
    return segment.dead > max(_DEAD_FEW, _DEAD_SHARE * segment.held) or not segment.live
