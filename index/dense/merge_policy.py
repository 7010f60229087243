"""Which vectors go into which FAISS segment: a commit writes in proportion to what changed, not to what there is."""

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
    """Decide how new vectors join the segments there are: which stay, and which are merged with them into new ones.

    A segment at most twice as large as what is written anyway is merged, so that a vector is written again only as
    often as the collection grows by half, and the number of segments stays within the logarithm of their size.

    Args:
        segments: Those there are.
        new: How many vectors are in none of them.
        unusable: Segments whose files are missing or damaged.
    """
    merged = [one for one in segments if one in unusable or _is_worn(one)]
    kept = sorted((one for one in segments if one not in merged), key=lambda one: one.live)
    size = new + sum(one.live for one in merged)
    while kept and 0 < kept[0].live <= 2 * size and size + kept[0].live <= SEGMENT_MOST:
        size += kept[0].live
        merged.append(kept.pop(0))
    return sorted(kept, key=lambda one: one.number), merged


def _is_worn(segment: Segment) -> bool:
    return segment.dead > max(_DEAD_FEW, _DEAD_SHARE * segment.held) or not segment.live
