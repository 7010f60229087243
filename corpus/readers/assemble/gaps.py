"""Keep all text: text that a reader put in no block becomes a block."""

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
    """Whether a text has only white space and byte order marks."""
    return not text.strip(_BLANKS)


def fill_gaps(text: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Sort and trim blocks, split them at wide gaps, and make paragraphs of the text between them.

    Returns:
        Blocks in order, without overlap; together they cover every non-blank character of `text`.
    """
    filled: list[Block] = []
    filled_to = 0
    heading: tuple[str, ...] = ()
    for block in sorted(blocks, key=lambda block: block.start):
        start, end = max(block.start, filled_to), block.end
        # Most gaps are a newline.
        if filled_to < start and not text[filled_to:start].isspace():
            filled.extend(_trim(text, Block(BlockKind.PARAGRAPH, filled_to, start, heading)))
        if start < end:
            filled.extend(_trim(text, block if start == block.start else replace(block, start=start)))
            filled_to, heading = end, block.heading
    filled.extend(_trim(text, Block(BlockKind.PARAGRAPH, filled_to, len(text), heading)))
    return tuple(filled)


def _trim(text: str, block: Block) -> Iterator[Block]:
    """Yield the parts of a block without blank edges and wide gaps; nothing if it is blank."""
    part_start = block.start
    gaps = _GAP.finditer(text, block.start, block.end) if block.end - block.start > MAX_GAP else ()
    for part_end, next_start in [*(gap.span() for gap in gaps), (block.end, block.end)]:
        part = text[part_start:part_end]
        start, end = part_end - len(part.lstrip(_BLANKS)), part_start + len(part.rstrip(_BLANKS))
        if start < end:
            yield block if (start, end) == (block.start, block.end) else replace(block, start=start, end=end)
        part_start = next_start
