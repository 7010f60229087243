"""Make sure that a reader lost nothing: what no block covers becomes a block of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from corpus.types import Block, BlockKind

# A passage goes over no wider gap: it would be mostly blanks, and as long as the file.
WIDEST_GAP = 1000
_GAP = re.compile(rf"(?<!\s)\s{{{WIDEST_GAP + 1},}}+")
_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\ufeff"


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: white space, and the byte order mark."""
    return not text.strip(_BLANKS)


def with_gaps_filled(text: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Order blocks, trim them to what is visible, and add a paragraph for every stretch left out.

    A block with a wide gap in it becomes several.

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


def _visible(text: str, block: Block) -> Iterator[Block]:
    """The block without blank edges and wide gaps; nothing where it shows nothing."""
    left = block.start
    gaps = _GAP.finditer(text, block.start, block.end) if block.end - block.start > WIDEST_GAP else ()
    for right, following in (*(gap.span() for gap in gaps), (block.end, block.end)):
        piece = text[left:right]
        start = left + len(piece) - len(piece.lstrip(_BLANKS))
        end = left + len(piece.rstrip(_BLANKS))
        if start < end:
            yield replace(block, start=start, end=end)
        left = following
