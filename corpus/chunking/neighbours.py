"""Find blocks that belong together: a line and the block it introduces, a list item and its nested items."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus.text.headings import could_be_heading, is_clear_heading
from corpus.types import Block, BlockKind

_LONGEST_INTRODUCTION = 120
# Maximum gap, in characters, between an introduction and its block: a blank line.
_GAP = 4
# A line at least this long is text; so is a shorter line that ends like a sentence.
_LINE_OF_TEXT = 60
_CLAUSE = re.compile(r"\d{1,2}[.)]\s+\S")
_CAPTION = re.compile(r"(?:table|tab\.|tabelle) \w{1,4}\b", re.IGNORECASE)
_BOLD = re.compile(r"(\*\*|__)(?=\S)[^*_]+(?<=\S)\1:?")


def introduces(text: str, before: Block, block: Block) -> bool:
    """Whether `before` is a short line that introduces `block`: in bold, or directly above it like a heading."""
    # "4. Parking" above its text looks like a list item.
    kinds = (BlockKind.PARAGRAPH, BlockKind.ITEM) if block.kind is BlockKind.PARAGRAPH else (BlockKind.PARAGRAPH,)
    is_near = before.end - before.start <= _LONGEST_INTRODUCTION and block.start - before.end <= _GAP
    if not is_near or before.kind not in kinds:
        return False
    line = text[before.start : before.end]
    if "\n" in line or _BOLD.fullmatch(line):
        return "\n" not in line
    # "2. Payment" above the text of a clause, and "Table 1: Prices" or "Our prices:" above a table.
    is_clause = before.kind is BlockKind.ITEM and before.depth == 0 and line[-1] not in ".:;" and _CLAUSE.match(line)
    if is_clause and could_be_heading(line) and block.depth == 0:
        return True
    if block.kind is BlockKind.TABLE and (line[-1] == ":" or _CAPTION.match(line)):
        return True
    is_below = text.count("\n", before.end, block.start) == 1
    return is_below and _is_text(text, block) and could_be_heading(line) and is_clear_heading(line)


def _is_text(text: str, block: Block) -> bool:
    """Whether a block is more than a short line like those of an address."""
    is_long = block.end - block.start >= _LINE_OF_TEXT
    return is_long or block.kind is not BlockKind.PARAGRAPH or text[block.end - 1] in ".!?:…"


def parent_items(blocks: Sequence[Block]) -> dict[int, Block]:
    """Return the parent of each nested list item, by the start of the nested item."""
    parents: dict[int, Block] = {}
    open_items: list[Block] = []
    for block in blocks:
        is_item = block.kind is BlockKind.ITEM
        while open_items and not (is_item and open_items[-1].depth < block.depth):
            open_items.pop()
        if is_item:
            if open_items:
                parents[block.start] = open_items[-1]
            open_items.append(block)
    return parents


def belongs_to(group: Sequence[Block], block: Block) -> bool:
    """Whether a block is a list item that the group's last line introduces, or one nested in the group's first item."""
    if not group or block.kind is not BlockKind.ITEM:
        return False
    return group[-1].kind is BlockKind.PARAGRAPH or block.depth > group[0].depth
