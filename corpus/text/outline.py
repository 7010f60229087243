"""The outline of a text without markup: which of its lines are headings, and which heading is below which."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from corpus.text.headings import (
    MAX_HEADING,
    HeadingStack,
    could_be_heading,
    heading_title,
    is_clear_heading,
    is_day,
    is_enumeration,
    is_long_title,
    is_title_case,
)

# A paragraph at least this long is text that has a heading; so is a shorter one, below some kinds of lines.
_LONG_BODY, _BODY = 200, 100
_ABBREVIATION = re.compile(r"[A-Z]{3}|Q&A")
# How a line begins that says what is in a picture, as on the web for those who cannot see it: a number of things, or
# names; and what someone does, "holding a", but not "during the", nor after the words of a title, "ways of paying a".
_THINGS = r"[\"“]?(?:An?|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Several|People)(?![\w:-])(?! [A-Z])"
_ABOUT = r"(?:of|for|on|in|by|to|and|or|the|an?|with|from|about|without|before|after|when|while)\b"
_ACT = (
    r"(?:[a-z]+ing and )?(?!(?:during|including|according|regarding|following|evening|morning|meeting|building)\b)"
    r"[a-z]+ing(?:,| (?:an?|the|his|her|their|its|at|behind|next|from|towards|through|in front|on (?:an?|the)|how)\b)"
)
_SCENE = re.compile(rf"{_THINGS}(?:.*? )?(?!{_ABOUT})[\w’'-]+,? {_ACT}|[\"“]?(?:[A-Z][\w.’'-]*,? ){{2,4}}{_ACT}")
_PHRASE = re.compile(rf"{_THINGS}(?: \S+){{4,}}(?<![.!])")
_SENTENCE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|can|could|may|must|shall|should|does|did)\b|[:?]\Z"
)
_NAME = re.compile(r"[A-Z]\w{2,}")
# "Young Engineer Award", "Runner-Up", "Lifetime Medal 2025"; the parts of an award.
_AWARD = re.compile(r"(?i)\b(?:award|prize|medal|trophy|winner|runner-up|preis)(?: (?:of )?\d{4}| \([^)]*\))?\W*$")
_PLACED = re.compile(r"(?i)\b(?:winners?|runners?-up|mentions?)\b")
# As many headings may be below the only parent of a document, beside the one right below it.
_MAX_CHILDREN = 3
# Days, and headings above a blank line that are right above tight ones, are parents if there are as many.
_MIN_PARENTS, _DAY_LEVEL, _TIGHT_LEVEL = 2, 8, 9


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
    if sum(block.level > 0 for block in blocks) >= 2:
        return _nest(blocks, [block.level > 0 for block in blocks], frozenset())
    days = frozenset(i for i, block in enumerate(blocks) if _is_line(block) and is_day(block.text))
    pictures = _pictures(blocks)
    is_candidate = [
        bool(block.level) or (i not in pictures and _is_possible(blocks, i, days)) for i, block in enumerate(blocks)
    ]
    bodies = sum(len(block.text) >= _LONG_BODY for i, block in enumerate(blocks) if not is_candidate[i])
    # On a page of abstracts, most long paragraphs have a short line above them, which usually is a title.
    regular = sum(is_candidate) >= 0.6 * max(1, bodies)
    titles = {i for i, below in enumerate(blocks[1:]) if regular and len(below.text) >= _LONG_BODY}
    is_heading = [
        block.level > 0
        or (is_candidate[i] and (block.tight or is_clear_heading(block.text) or i in titles))
        or (i in titles and _is_line(block) and is_long_title(block.text))
        for i, block in enumerate(blocks)
    ]
    for i in _winners(blocks, is_heading):
        is_heading[i] = False
    return _nest(blocks, is_heading, days)


def _is_line(block: HeadingCandidate) -> bool:
    return block.alone and not (block.leaf or block.level)


def _is_possible(blocks: Sequence[HeadingCandidate], i: int, days: Set[int]) -> bool:
    if not _is_line(blocks[i]) or i + 1 == len(blocks):
        return False
    text, below = blocks[i].text.strip(), blocks[i + 1]
    if i in days:
        # One day above a heading is the date of the page, and days right below each other are a rota.
        is_date = _is_line(below) and could_be_heading(below.text)
        return not {i - 1, i + 1} & days if len(days) > 1 else could_be_heading(text) and not is_date
    if could_be_heading(text):
        return True
    has_body = below.leaf or len(below.text) >= _BODY
    if is_enumeration(text):
        # Right below a title, it has names.
        is_below = i > 0 and _is_line(blocks[i - 1]) and could_be_heading(blocks[i - 1].text)
        return has_body and not is_below
    return bool(_ABBREVIATION.fullmatch(text)) and (has_body or below.text.rstrip().endswith("?"))


def _pictures(blocks: Sequence[HeadingCandidate]) -> set[int]:
    """Return the lines amid text that say what is in a picture, and the captions right below them."""
    found: set[int] = set()
    has_text = False
    for i, (block, below) in enumerate(pairwise(blocks)):
        has_text |= len(block.text) >= _BODY
        text = block.text.strip()
        first = re.split(r"[.;] ", text[:MAX_HEADING], maxsplit=1)[0]
        is_odd = len(text) > MAX_HEADING or is_title_case(text) or _SENTENCE.search(first)
        if i in found or not has_text or not _is_line(block) or is_odd:
            continue
        has_caption = _is_line(below) and len(below.text) < _BODY and not is_day(below.text)
        # Without a caption, "A woman in a red hat" may be a heading.
        if _SCENE.match(first) or (has_caption and _PHRASE.fullmatch(text)):
            found.add(i)
            # A sentence may be text: its caption has a name from it.
            if has_caption and (text[-1] != "." or {*_NAME.findall(text)} & {*_NAME.findall(below.text)}):
                found.add(i + 1)
    return found


def _winners(blocks: Sequence[HeadingCandidate], is_heading: Sequence[bool]) -> list[int]:
    """Return the lines above text and right below the heading of an award, which are its winners and no headings."""
    lines = [block.text.strip() if chosen else "" for block, chosen in zip(blocks, is_heading, strict=True)]
    counts = Counter(lines)
    found = [
        i + 1
        for i, (award, line, below) in enumerate(zip(lines, lines[1:], lines[2:], strict=False))
        if line and not below and _AWARD.search(award) and not _AWARD.search(line) and counts[line] == 1
    ]
    # One may be a heading such as "Deadline", but not "Ann Lee (Harlow)".
    return [i for i in found if len(found) > 1 or {*",("} & {*lines[i]}]


def _nest(
    blocks: Sequence[HeadingCandidate], is_heading: Sequence[bool], days: Set[int]
) -> list[tuple[str, ...] | None]:
    titles = [heading_title(block.text) if chosen else "" for block, chosen in zip(blocks, is_heading, strict=True)]
    repeated = {title for title, count in Counter(titles).items() if title and count > 1}
    is_tight = [chosen and block.tight for block, chosen in zip(blocks, is_heading, strict=True)]
    is_loose = [chosen and not (block.level or block.tight) for block, chosen in zip(blocks, is_heading, strict=True)]
    days = {i for i in days if is_loose[i]}
    above_tight = {i for i, pair in enumerate(zip(is_loose, is_tight[1:], strict=False)) if all(pair)}
    has_days = any(i + 1 not in days and any(is_heading[i + 1 : i + 2]) for i in days)
    parents = dict.fromkeys(above_tight if len(above_tight) >= _MIN_PARENTS else (), _TIGHT_LEVEL)
    parents |= dict.fromkeys(days if has_days and len(days) >= _MIN_PARENTS else (), _DAY_LEVEL)
    nesting = _Nesting(repeated, is_lasting=_is_lasting(titles, is_loose, repeated))
    paths: list[tuple[str, ...] | None] = [None] * len(blocks)
    i = 0
    while i < len(blocks):
        begin = i
        while i < len(blocks) and is_loose[i] and i not in parents:
            i += 1
        if begin < i:
            paths[begin:i] = nesting.nest_unmarked(titles[begin:i], masthead=begin == 0)
        elif blocks[i].level or i in parents:
            paths[i] = nesting.open_marked(titles[i], blocks[i].level or parents[i])
            i += 1
        else:
            paths[i] = (*nesting.marked_path, titles[i]) if is_tight[i] else None
            i += 1
    return paths


def _is_lasting(titles: Sequence[str], is_loose: Sequence[bool], repeated: Set[str]) -> bool:
    """Whether parents keep all headings up to the next parent: not if it is the only one, with many below it."""
    topics = [loose and title not in repeated for loose, title in zip(is_loose, titles, strict=True)]
    start = is_loose.index(False) if False in is_loose else 0
    parents = [i for i in range(start, len(topics) - 1) if topics[i] and topics[i + 1]]
    return len(parents) != 1 or sum(topics[parents[0] + 2 :]) <= _MAX_CHILDREN


class _Nesting:
    """The headings above the current position; unmarked headings nest below the last marked heading."""

    def __init__(self, repeated: Set[str], *, is_lasting: bool) -> None:
        self._repeated = repeated
        self._is_lasting = is_lasting
        self._marked = HeadingStack()
        self._parent: tuple[str, ...] = ()
        self._topic: tuple[str, ...] = ()
        self._in_child = False

    def open_marked(self, title: str, level: int) -> tuple[str, ...]:
        """Open a heading whose level is known, as by markup, and return its path."""
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
        self._marked.push(_TIGHT_LEVEL, "")
        topics = [title for title in run if title not in self._repeated]
        short = all(len(title.split()) <= 4 or is_title_case(title) for title in topics[:-1])
        parents_fit = not masthead and len(topics) <= 3 and short
        if len(topics) > 1:
            self._parent = tuple(topics[:-1]) if parents_fit else ()
        elif topics and not (self._is_lasting or _PLACED.search(topics[0])):
            self._parent = ()
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
