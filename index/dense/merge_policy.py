"""Which vectors go into which FAISS file: what a commit writes grows with what changed, not with what there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from index.dense.faiss_segments import SEGMENT_MOST
from index.storage.metadata import Segment

# A segment is written anew when more than this share of it, and more than a few, cannot be found any more.
_DEAD_SHARE = 0.25
_DEAD_FEW = 64


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What becomes of the segments.

    Attributes:
        kept: Segments that stay as they are.
        merged: Segments whose live vectors go, with the new ones, into new segments.
    """

    kept: tuple[Segment, ...]
    merged: tuple[Segment, ...]


def plan_merge(segments: Sequence[Segment], new: int, *, lost: Sequence[Segment] = ()) -> MergePlan:
    """Decide how so many new vectors join the segments there are.

    A segment at most twice as large as what is written anyway is taken in, so that a vector is written again only as
    often as the collection grows by half, and there are never more segments than a few and the logarithm of their size.

    Args:
        segments: Those there are.
        new: Vectors that are in none of them.
        lost: Segments whose files are of no use.
    """
    merged = [one for one in segments if one in lost or _is_worn(one)]
    kept = sorted((one for one in segments if one not in merged), key=lambda one: one.live)
    size = new + sum(one.live for one in merged)
    while kept and 0 < kept[0].live <= 2 * size and size + kept[0].live <= SEGMENT_MOST:
        size += kept[0].live
        merged.append(kept.pop(0))
    return MergePlan(tuple(sorted(kept, key=lambda one: one.number)), tuple(merged))


def _is_worn(segment: Segment) -> bool:
    return segment.dead > max(_DEAD_FEW, _DEAD_SHARE * segment.held) or not segment.live
