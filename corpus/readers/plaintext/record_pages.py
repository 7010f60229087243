"""Pages of records in plain text, such as one of abstracts: one title after another, a paragraph below each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus.text.headings import heading_title
from corpus.types import Block, BlockKind, Record

# So many records make a page of them, with as large a share of one shape, and with so much of the text.
_FEWEST = 6
_SAME_SHAPE = 0.9
_SHARE_OF_TEXT = 0.8
# A title says what its record is about; headings within one document, such as "Related work", mostly have fewer words.
_TITLE_WORDS = 4
# Characters of the one paragraph that a record has at the least, and of a line beside it: authors, a date, a link.
_PARAGRAPH = 200
_MOST_LINES = 2
_TEXT = frozenset({BlockKind.PARAGRAPH, BlockKind.TABLE})


@dataclass(frozen=True, slots=True)
class _Group:
    """A heading and what stands below it, up to the next."""

    heading: Block
    body: tuple[Block, ...]

    @property
    def is_one_paragraph(self) -> bool:
        long = [block for block in self.body if block.end - block.start >= _PARAGRAPH]
        return len(long) == 1 and long[0].kind in _TEXT and len(self.body) <= 1 + _MOST_LINES


def find_records(text: str, blocks: Sequence[Block]) -> tuple[Record, ...]:
    """The records of a page of them; () for any other text.

    Nothing marks them, so that only the repetition tells: headings without markup, all of them side by side, with
    one paragraph each, throughout the text. What stands before the first belongs to none, but for headings right
    above it, such as that of the page.
    """
    groups = list(_groups(blocks))
    first = next((i for i, group in enumerate(groups) if group.is_one_paragraph), len(groups))
    start = _headings_above(groups, first)
    groups = groups[first:]
    if len(groups) < _FEWEST:
        return ()
    above = groups[0].heading.heading[:-1]
    beside = [group for group in groups if group.heading.heading[:-1] == above and _is_bare(text, group.heading)]
    alike = [group for group in beside if group.is_one_paragraph]
    words = sorted(len(group.heading.heading[-1].split()) for group in alike)
    if (
        len(alike) < max(_FEWEST, _SAME_SHAPE * len(groups))
        or words[len(words) // 2] < _TITLE_WORDS
        or blocks[-1].end - start < _SHARE_OF_TEXT * (blocks[-1].end - blocks[0].start)
    ):
        return ()
    starts = [start, *(group.heading.start for group in beside[1:])]
    return tuple(Record(at, group.heading.heading[-1]) for at, group in zip(starts, beside, strict=True))


def _groups(blocks: Sequence[Block]) -> Iterator[_Group]:
    at = [i for i, block in enumerate(blocks) if block.kind is BlockKind.HEADING]
    for i, after in pairwise([*at, len(blocks)]):
        yield _Group(blocks[i], tuple(blocks[i + 1 : after]))


def _headings_above(groups: Sequence[_Group], first: int) -> int:
    """Where a group begins, with the headings above it that have nothing else below them."""
    while 0 < first < len(groups) and not groups[first - 1].body:
        first -= 1
    return groups[first].heading.start if first < len(groups) else 0


def _is_bare(text: str, heading: Block) -> bool:
    """Whether a heading is only a line on its own: whoever marks headings writes one document."""
    return heading_title(text[heading.start : heading.end]) == heading.heading[-1]
