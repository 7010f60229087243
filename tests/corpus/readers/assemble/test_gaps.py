"""Text outside all blocks becomes a block."""

from __future__ import annotations

from corpus.readers.assemble.gaps import fill_gaps, is_blank
from corpus.types import Block, BlockKind


def test_gaps_become_paragraphs_under_the_heading_above() -> None:
    text = "x  # T\nlost\n- item  \ntail"
    blocks = fill_gaps(text, [Block(BlockKind.ITEM, 12, 20, ("T",), 1), Block(BlockKind.HEADING, 3, 6, ("T",))])
    assert blocks == (
        Block(BlockKind.PARAGRAPH, 0, 1),
        Block(BlockKind.HEADING, 3, 6, ("T",)),
        Block(BlockKind.PARAGRAPH, 7, 11, ("T",)),
        Block(BlockKind.ITEM, 12, 18, ("T",), 1),
        Block(BlockKind.PARAGRAPH, 21, 25, ("T",)),
    )


def test_overlaps_are_cut_and_blank_blocks_dropped() -> None:
    """Where two blocks overlap, the earlier one keeps the text."""
    blocks = [Block(BlockKind.PARAGRAPH, 0, 3), *(Block(BlockKind.CODE, *span) for span in ((1, 5), (2, 4), (5, 7)))]
    assert fill_gaps("abcde  ", blocks) == (Block(BlockKind.PARAGRAPH, 0, 3), Block(BlockKind.CODE, 3, 5))


def test_a_byte_order_mark_is_blank() -> None:
    assert is_blank("\ufeff \ufeff\n\xa0\x85")
    assert not is_blank("\ufeffa")
    assert fill_gaps("\ufeff \ufeffa\ufeff ", []) == (Block(BlockKind.PARAGRAPH, 3, 4),)
