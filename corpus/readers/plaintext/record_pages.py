"""Find the records of a plain text, such as a list of abstracts: titles with a paragraph each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus.text.headings import heading_title
from corpus.types import Block, BlockKind, Record

# A page of records has at least this many records, this share of them alike, in this share of the text.
_MIN_RECORDS = 6
_MIN_SAME_SHAPE = 0.9
_MIN_SHARE_OF_TEXT = 0.8
# Minimum number of words of the median title; headings within a document, such as "Related work", mostly have fewer.
_MIN_TITLE_WORDS = 4
# A record has one paragraph of at least this many characters, and at most this many lines: authors, a date, a link.
_MIN_PARAGRAPH = 200
_MAX_LINES = 2
_TEXT = frozenset({BlockKind.PARAGRAPH, BlockKind.TABLE})


@dataclass(frozen=True, slots=True)
class _Group:
    """A heading and the blocks up to the next."""

    heading: Block
    body: tuple[Block, ...]

    @property
    def has_one_paragraph(self) -> bool:
        long = [block for block in self.body if block.end - block.start >= _MIN_PARAGRAPH]
        return len(long) == 1 and long[0].kind in _TEXT and len(self.body) <= 1 + _MAX_LINES


def find_records(text: str, blocks: Sequence[Block]) -> tuple[Record, ...]:
    """Return the records of a page of records; () for any other text.

    Such a page has sibling headings without markup, with one paragraph each, throughout the text. Text before the
    first record belongs to none, except for headings directly above it, such as that of the page.
    """
    groups = list(_group_by_heading(blocks))
    first = next((i for i, group in enumerate(groups) if group.has_one_paragraph), len(groups))
    first_start = _start_with_headings(groups, first)
    groups = groups[first:]
    if len(groups) < _MIN_RECORDS:
        return ()
    page_heading = groups[0].heading.heading[:-1]
    # Headings with markup have another text, and belong to a single document.
    expected_paths = [(*page_heading, heading_title(text[group.heading.start : group.heading.end])) for group in groups]
    siblings = [group for group, path in zip(groups, expected_paths, strict=True) if group.heading.heading == path]
    alike = [group for group in siblings if group.has_one_paragraph]
    word_counts = sorted(len(group.heading.heading[-1].split()) for group in alike)
    if (
        len(alike) < max(_MIN_RECORDS, _MIN_SAME_SHAPE * len(groups))
        or word_counts[len(word_counts) // 2] < _MIN_TITLE_WORDS
        or blocks[-1].end - first_start < _MIN_SHARE_OF_TEXT * (blocks[-1].end - blocks[0].start)
    ):
        return ()
    starts = [first_start, *(group.heading.start for group in siblings[1:])]
    return tuple(Record(start, group.heading.heading[-1]) for start, group in zip(starts, siblings, strict=True))


def _group_by_heading(blocks: Sequence[Block]) -> Iterator[_Group]:
    headings = [i for i, block in enumerate(blocks) if block.kind is BlockKind.HEADING]
    for i, next_heading in pairwise([*headings, len(blocks)]):
        yield _Group(blocks[i], tuple(blocks[i + 1 : next_heading]))


def _start_with_headings(groups: Sequence[_Group], first: int) -> int:
    """Return the start of a group, or of the headings directly above it."""
    while 0 < first < len(groups) and not groups[first - 1].body:
        first -= 1
    return groups[first].heading.start if first < len(groups) else 0
