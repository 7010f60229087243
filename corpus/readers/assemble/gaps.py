"""Keep all text: what a reader put in no block becomes a block of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from corpus.types import Block, BlockKind

# No block or passage spans a wider gap: it could be mostly blank, and as long as the file.
MAX_GAP = 1000
_GAP = re.compile(rf"(?<!\s)\s{{{MAX_GAP + 1},}}+")
_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\ufeff"


def is_blank(text: str) -> bool:
    """Whether a text is white space and byte order marks only."""
    return not text.strip(_BLANKS)


def fill_gaps(text: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Sort and trim blocks, split them at wide gaps, and add a paragraph for all text between them.

    Returns:
        Blocks in order, without overlap; together they hold every non-blank character of `text`.
    """
    covered: list[Block] = []
    at = 0
    heading: tuple[str, ...] = ()
    for block in sorted(blocks, key=lambda block: block.start):
        start, end = max(block.start, at), block.end
        # Most gaps are a newline.
        if at < start and not text[at:start].isspace():
            covered.extend(_trim(text, Block(BlockKind.PARAGRAPH, at, start, heading)))
        if start < end:
            covered.extend(_trim(text, block if start == block.start else replace(block, start=start)))
            at, heading = end, block.heading
    covered.extend(_trim(text, Block(BlockKind.PARAGRAPH, at, len(text), heading)))
    return tuple(covered)


def _trim(text: str, block: Block) -> Iterator[Block]:
    """Yield the parts of a block without blank edges and wide gaps; nothing if it is blank."""
    left = block.start
    gaps = _GAP.finditer(text, block.start, block.end) if block.end - block.start > MAX_GAP else ()
    for right, following in [*(gap.span() for gap in gaps), (block.end, block.end)]:
        piece = text[left:right]
        start, end = right - len(piece.lstrip(_BLANKS)), left + len(piece.rstrip(_BLANKS))
        if start < end:
            yield block if (start, end) == (block.start, block.end) else replace(block, start=start, end=end)
        left = following
