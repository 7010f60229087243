"""Headings in text without markup: which short lines are headings, and how they nest.

A heading without markup is only a short line on its own. What follows it, how it is written and
whether it comes back elsewhere in the document decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

# A line that is marked as a heading but longer than this is read as text.
LONGEST_HEADING = 300
_MAX_CHARACTERS = 120
_MAX_WORDS = 18
# Longer lines than this are headings only where they are written like titles.
_SURE_WORDS = 8
_LONG_BODY = 200
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SMALL = "a an and as at but by de der des die du for from in into of on or over the to und via vs with"
_SMALL_WORDS = frozenset(_SMALL.split())
_URL = re.compile(r"https?://|www\.|\S@\S")
_QUOTES = "\"'“‘«>|"


def is_upper(line: str) -> bool:
    """Whether a line is written in capitals, as headings in old notes and manuals are."""
    letters = [c for c in line if c.isalpha()]
    return len(letters) >= 4 and sum(c.isupper() for c in letters) >= 0.9 * len(letters)


def is_title_case(line: str) -> bool:
    """Whether the words that carry meaning begin with a capital."""
    words = [word for word in _WORD.findall(line) if word.lower() not in _SMALL_WORDS]
    return bool(words) and sum(word[0].isupper() for word in words) >= 0.7 * len(words)


def _is_list_of_names(line: str) -> bool:
    names = re.sub(r"^(?:authors?|by)\b:? ?", "", line, flags=re.IGNORECASE)
    parts = re.split(r",|\band\b|&", names.rstrip("."))
    few = 2 if names != line or line.endswith(".") else 3
    return len(parts) >= few and all(len(part.split()) <= 4 for part in parts) and is_title_case(names)


def could_be_heading(line: str) -> bool:
    """Whether a line that stands alone could be a heading, by its own looks."""
    text = line.strip()
    # The length first: a line may have millions of words.
    if not 2 <= len(text) <= _MAX_CHARACTERS or not 1 <= len(words := text.split()) <= _MAX_WORDS:
        return False
    if text[0] in _QUOTES or text[0].islower() or _URL.search(text):
        return False
    if not any(len(word) >= 4 for word in _WORD.findall(text)) and not is_upper(text):
        return False
    if text[-1] in ",;!…":
        return False
    if text[-1] == "." and not (is_title_case(text) and len(words) >= 2):
        return False
    return not _is_list_of_names(text)


def is_sure(line: str) -> bool:
    """Whether a possible heading is one even in a document that has few."""
    text = line.strip()
    return len(text.split()) <= _SURE_WORDS or text[-1] == "?" or is_title_case(text) or is_upper(text)


@dataclass(frozen=True, slots=True)
class Line:
    """What heading inference looks at: one block of a document in order.

    Attributes:
        text: The block's text.
        alone: One line with blank lines (or the document's edge) around it.
        level: A level that markup states, 1 the outermost; 0 where there is none.
        leaf: True for list items, code and tables: never a heading, always a body.
    """

    text: str
    alone: bool
    level: int = 0
    leaf: bool = False


def infer(lines: Sequence[Line]) -> list[tuple[str, ...] | None]:
    """Decide for each block whether it is a heading, and under which headings it stands.

    Returns:
        For a heading its path, its own title last; for any other block None.
    """
    # Where headings are marked, unmarked lines are none.
    marked = sum(line.level > 0 for line in lines) >= 2
    possible = [bool(lines[i].level) or (not marked and _possible(lines, i)) for i in range(len(lines))]
    bodies = sum(1 for i, line in enumerate(lines) if not possible[i] and len(line.text) >= _LONG_BODY)
    # Where most long paragraphs have a short line above them, such lines are titles as a rule: a page of abstracts.
    regular = sum(possible) >= 0.6 * max(1, bodies)
    chosen = [
        line.level > 0
        or (possible[i] and (is_sure(line.text) or (regular and _long_body_follows(lines, i))))
        or (regular and not marked and _is_long_title(lines, i))
        for i, line in enumerate(lines)
    ]
    return _nest(lines, chosen)


def _possible(lines: Sequence[Line], i: int) -> bool:
    line = lines[i]
    return line.alone and not line.leaf and i + 1 < len(lines) and could_be_heading(line.text)


def _is_long_title(lines: Sequence[Line], i: int) -> bool:
    """Whether a line is longer than headings are, but written like the titles around it."""
    line = lines[i]
    if not line.alone or line.leaf or len(line.text) > LONGEST_HEADING:
        return False
    text = line.text.strip()
    if len(text) <= _MAX_CHARACTERS and len(text.split()) <= _MAX_WORDS:
        return False
    ends = text[-1] in ".,;:!…" or text[0] in _QUOTES
    return not ends and not _URL.search(text) and is_title_case(text) and _long_body_follows(lines, i)


def _long_body_follows(lines: Sequence[Line], i: int) -> bool:
    return i + 1 < len(lines) and len(lines[i + 1].text) >= _LONG_BODY


def heading_title(text: str) -> str:
    """A heading as a path shows it: one line, without the punctuation that ends it."""
    return " ".join(text.split()).rstrip(":. ") or text.strip()


def _nest(lines: Sequence[Line], chosen: Sequence[bool]) -> list[tuple[str, ...] | None]:
    titles = [heading_title(line.text) if taken else "" for line, taken in zip(lines, chosen, strict=True)]
    counts = Counter(titles[i] for i in range(len(lines)) if chosen[i])
    nesting = _Nesting(frozenset(title for title, count in counts.items() if count > 1))
    paths: list[tuple[str, ...] | None] = [None] * len(lines)
    i = 0
    while i < len(lines):
        run = [i] if chosen[i] else []
        while run and run[-1] + 1 < len(lines) and chosen[run[-1] + 1] and not lines[run[-1] + 1].level:
            run.append(run[-1] + 1)
        if run:
            # Marks decide where there are any; lines without a mark nest below the last marked one.
            marked = nesting.mark(titles[i], lines[i].level) if lines[i].level else None
            rest = run if marked is None else run[1:]
            found = nesting.place([titles[j] for j in rest], masthead=i == 0)
            for at, path in zip(run, found if marked is None else [marked, *found], strict=True):
                paths[at] = path
        i += max(1, len(run))
    return paths


class _Nesting:
    """The headings that are open while a document is read from top to bottom."""

    def __init__(self, repeated: frozenset[str]) -> None:
        self._repeated = repeated
        self._marked: list[tuple[int, str]] = []
        self._parent: tuple[str, ...] = ()
        self._topic: tuple[str, ...] = ()
        self._in_child = False

    def mark(self, title: str, level: int) -> tuple[str, ...]:
        """Open a heading whose level is stated."""
        while self._marked and self._marked[-1][0] >= level:
            self._marked.pop()
        self._marked.append((level, title))
        self._parent = self._topic = ()
        return self._base()

    def _base(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._marked)

    def place(self, run: list[str], *, masthead: bool) -> list[tuple[str, ...]]:
        """Paths of a run of unmarked headings with no text between them.

        "Context" and "What went wrong?", which come back under one topic after another, belong to the
        topic above them. Of the others, one that stands right above another is its parent, and the
        parent of those that follow; but a masthead, a menu or a caption is no parent.
        """
        own = [title for title in run if title not in self._repeated]
        parents_fit = not masthead and len(own) <= 3 and all(_could_be_parent(title) for title in own[:-1])
        if len(own) > 1:
            self._parent = tuple(own[:-1]) if parents_fit else ()
        paths = []
        for title in run:
            if title in self._repeated:
                self._in_child = bool(self._topic)
                path = (*self._topic, title)
            elif self._in_child and title.endswith("?"):
                path = (*self._topic, title)
            else:
                path = self._open_topic(title, own)
            paths.append(self._base() + path)
        return paths

    def _open_topic(self, title: str, own: list[str]) -> tuple[str, ...]:
        self._in_child = False
        depth = own.index(title) if title in self._parent else len(self._parent)
        self._topic = (*self._parent[:depth], title)
        return self._topic


def _could_be_parent(title: str) -> bool:
    return len(title.split()) <= 4 or is_title_case(title)
