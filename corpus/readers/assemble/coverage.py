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


def fill_gaps(text: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
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
        # Most gaps are a line end.
        if at < start and not text[at:start].isspace():
            covered.extend(_visible(text, Block(BlockKind.PARAGRAPH, at, start, heading)))
        if start < end:
            covered.extend(_visible(text, block if start == block.start else replace(block, start=start)))
            at, heading = end, block.heading
    covered.extend(_visible(text, Block(BlockKind.PARAGRAPH, at, len(text), heading)))
    return tuple(covered)


def _visible(text: str, block: Block) -> Iterator[Block]:
    """The block without blank edges and wide gaps; nothing where it shows nothing."""
    left = block.start
    ends = text[left : left + 1], text[block.end - 1 : block.end]
    if block.end - left <= WIDEST_GAP and ends[0] not in _BLANKS and ends[1] not in _BLANKS:
        yield block
        return
    if block.end - left > WIDEST_GAP:
        for gap in _GAP.finditer(text, left, block.end):
            yield from _trimmed(text, replace(block, start=left, end=gap.start()))
            left = gap.end()
    yield from _trimmed(text, block if left == block.start else replace(block, start=left))


def _trimmed(text: str, block: Block) -> Iterator[Block]:
    piece = text[block.start : block.end]
    start = block.start + len(piece) - len(piece.lstrip(_BLANKS))
    end = block.start + len(piece.rstrip(_BLANKS))
    if start < end:
        yield block if (start, end) == (block.start, block.end) else replace(block, start=start, end=end)
