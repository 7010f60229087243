"""The outline of a text without markup: which of its lines are headings, and which heading is below which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.text.headings import (
    HeadingStack,
    could_be_heading,
    heading_title,
    is_clear_heading,
    is_long_title,
    is_title_case,
)

# A paragraph at least this long is text that has a heading.
_LONG_BODY = 200
# Headings above a blank line that may be parents of those directly above their text.
_MIN_PARENTS = 2


@dataclass(frozen=True, slots=True)
class HeadingCandidate:
    """A block of a document that may be a heading.

    Attributes:
        alone: Whether it is one line between blank lines (or the edges of the document).
        level: Level given by markup, 1 for the outermost; 0 without markup.
        leaf: Whether it is a list item, code or a table, which is never a heading.
        tight: Whether it is a line directly above text, as several lines of the document are.
    """

    text: str
    alone: bool
    level: int = 0
    leaf: bool = False
    tight: bool = False


def infer_headings(blocks: Sequence[HeadingCandidate]) -> list[tuple[str, ...] | None]:
    """Decide which blocks are headings.

    A line without markup is judged by its form, the text below it and repetition in the document.

    Returns:
        For each heading, its path with its own title last; for any other block, None.
    """
    # In a document with markup for headings, no other line is a heading.
    has_markup = sum(block.level > 0 for block in blocks) >= 2
    is_candidate = [bool(block.level) or (not has_markup and _is_possible(blocks, i)) for i, block in enumerate(blocks)]
    bodies = sum(len(block.text) >= _LONG_BODY for i, block in enumerate(blocks) if not is_candidate[i])
    # On a page of abstracts, most long paragraphs have a short line above them, which usually is a title.
    regular = sum(is_candidate) >= 0.6 * max(1, bodies)
    is_heading = [
        block.level > 0
        or (
            is_candidate[i] and (block.tight or is_clear_heading(block.text) or (regular and _has_long_body(blocks, i)))
        )
        or (regular and not has_markup and _is_line(block) and is_long_title(block.text) and _has_long_body(blocks, i))
        for i, block in enumerate(blocks)
    ]
    return _nest(blocks, is_heading)


def _is_possible(blocks: Sequence[HeadingCandidate], i: int) -> bool:
    return _is_line(blocks[i]) and i + 1 < len(blocks) and could_be_heading(blocks[i].text)


def _is_line(block: HeadingCandidate) -> bool:
    return block.alone and not block.leaf


def _has_long_body(blocks: Sequence[HeadingCandidate], i: int) -> bool:
    return i + 1 < len(blocks) and len(blocks[i + 1].text) >= _LONG_BODY


def _nest(blocks: Sequence[HeadingCandidate], is_heading: Sequence[bool]) -> list[tuple[str, ...] | None]:
    titles = [heading_title(block.text) if chosen else "" for block, chosen in zip(blocks, is_heading, strict=True)]
    counts = Counter(title for title, chosen in zip(titles, is_heading, strict=True) if chosen)
    nesting = _Nesting(frozenset(title for title, count in counts.items() if count > 1))
    # Headings above a blank line are parents of those directly above their text, if some are right above these.
    is_tight = [chosen and block.tight for block, chosen in zip(blocks, is_heading, strict=True)]
    is_loose = [chosen and not (block.level or block.tight) for block, chosen in zip(blocks, is_heading, strict=True)]
    is_parent = [loose and tight for loose, tight in zip(is_loose, [*is_tight, False][1:], strict=True)]
    has_parents = sum(is_parent) >= _MIN_PARENTS
    paths: list[tuple[str, ...] | None] = [None] * len(blocks)
    parent: tuple[str, ...] = ()
    i = 0
    while i < len(blocks):
        if not is_heading[i]:
            i += 1
            continue
        first = i
        if blocks[i].level:
            paths[i] = nesting.open_marked(titles[i], blocks[i].level)
            i += 1
        elif is_tight[i]:
            paths[i] = (*(parent or nesting.marked_path), titles[i])
            i += 1
            continue
        begin = i
        while i < len(blocks) and is_loose[i]:
            i += 1
        paths[begin:i] = nesting.nest_unmarked(titles[begin:i], masthead=first == 0)
        parent = (paths[i - 1] or ()) if has_parents and is_parent[i - 1] else ()
    return paths


class _Nesting:
    """The headings above the current position; unmarked headings nest below the last marked heading."""

    def __init__(self, repeated: frozenset[str]) -> None:
        self._repeated = repeated
        self._marked = HeadingStack()
        self._parent: tuple[str, ...] = ()
        self._topic: tuple[str, ...] = ()
        self._in_child = False

    def open_marked(self, title: str, level: int) -> tuple[str, ...]:
        """Open a heading whose level is given by markup, and return its path."""
        self._parent = self._topic = ()
        return self._marked.push(level, title)

    @property
    def marked_path(self) -> tuple[str, ...]:
        """The headings with markup above the current position."""
        return self._marked.path

    def nest_unmarked(self, run: list[str], *, masthead: bool) -> list[tuple[str, ...]]:
        """Return the paths of a run of unmarked headings with no text between them.

        Titles that recur under several topics, such as "Context", belong to the topic above them. Any other heading
        is the parent of a heading directly below it, and of those that follow; but a masthead, a menu or a caption
        is not a parent.
        """
        topics = [title for title in run if title not in self._repeated]
        short = all(len(title.split()) <= 4 or is_title_case(title) for title in topics[:-1])
        parents_fit = not masthead and len(topics) <= 3 and short
        if len(topics) > 1:
            self._parent = tuple(topics[:-1]) if parents_fit else ()
        return [(*self._marked.path, *self._place(title, topics)) for title in run]

    def _place(self, title: str, topics: list[str]) -> tuple[str, ...]:
        if title in self._repeated:
            self._in_child = bool(self._topic)
            return (*self._topic, title)
        if self._in_child and title.endswith("?"):
            return (*self._topic, title)
        self._in_child = False
        depth = topics.index(title) if title in self._parent else len(self._parent)
        self._topic = (*self._parent[:depth], title)
        return self._topic
