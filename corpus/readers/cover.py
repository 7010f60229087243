"""Make sure that a reader lost nothing: what no block covers becomes a block of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corpus.types import Block, BlockKind


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: white space, and the byte order mark."""
    return not text.replace("\ufeff", "").strip()


def with_gaps_filled(text: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Order blocks, trim them to what is visible, and add a paragraph for every stretch left out.

    Returns:
        Blocks that do not overlap, in order; every non-blank character of `text` stands in one.
    """
    covered: list[Block] = []
    at = 0
    heading: tuple[str, ...] = ()
    for block in sorted(blocks, key=lambda block: block.start):
        start, end = max(block.start, at), block.end
        covered.extend(_visible(text, Block(BlockKind.PARAGRAPH, at, start, heading)))
        if start < end:
            covered.extend(_visible(text, Block(block.kind, start, end, block.heading, block.depth)))
            at, heading = end, block.heading
    covered.extend(_visible(text, Block(BlockKind.PARAGRAPH, at, len(text), heading)))
    return tuple(covered)


def _visible(text: str, block: Block) -> list[Block]:
    """The block without blank edges; nothing where it shows nothing."""
    start, end = block.start, block.end
    while start < end and is_blank(text[start]):
        start += 1
    while start < end and is_blank(text[end - 1]):
        end -= 1
    return [replace(block, start=start, end=end)] if start < end else []
