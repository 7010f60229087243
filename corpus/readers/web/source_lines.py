"""Text of a page as the parser reports it, with the lines of the file that it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from corpus.readers.assemble.document_builder import Marks, visible

_BLANKS = re.compile(r"\s+")


class Fragment(NamedTuple):
    """Text, and the lines of the file that it comes from."""

    text: str
    lines: Marks


class LineBuffer:
    """Collects the text of a block; `line` is the file line on which the next text begins, 0 for no lines."""

    def __init__(self) -> None:
        self.line = 0
        self._parts: list[str] = []
        # Text with its newlines in the file, and the line on which it begins.
        self._raw: list[tuple[int, str]] = []

    def add(self, text: str, *, verbatim: bool) -> None:
        """Append text from the file, keeping its white space only if `verbatim`."""
        if self.line:
            self._raw.append((self.line, text))
        self._parts.append(text if verbatim else _with_single_spaces(text))

    def insert(self, text: str) -> None:
        """Append text that stands for an element."""
        self._parts.append(text)

    def ends_line(self) -> bool:
        """Return whether there is no text, or it ends with a newline."""
        return not self._parts or self._parts[-1].endswith("\n")

    def is_blank(self) -> bool:
        """Return whether there is no visible text."""
        return not any(part and not part.isspace() for part in self._parts)

    def place(self) -> tuple[int, int]:
        """Return where the text ends now, for `since` and `cut`."""
        return len(self._parts), len(self._raw)

    def since(self, place: tuple[int, int]) -> str:
        """Return the text from a place on."""
        return "".join(self._parts[place[0] :])

    def cut(self, place: tuple[int, int]) -> None:
        """Drop the text from a place on."""
        del self._parts[place[0] :], self._raw[place[1] :]

    def take(self) -> Fragment:
        """Return the text, and clear the buffer."""
        text, raw = "".join(self._parts), self._raw
        self._parts, self._raw = [], []
        if not raw or text.isspace():
            return Fragment(text, ())
        if raw[0][0] == self.line and "\n" not in raw[-1][1]:
            return Fragment(text, ((0, self.line),))
        return Fragment(text, tuple(_marks(raw)))


def _marks(raw: list[tuple[int, str]]) -> Iterator[tuple[int, int]]:
    seen = last = 0
    for start, text in raw:
        for line, part in enumerate(text.split("\n"), start):
            if count := visible(part):
                if line != last:
                    yield seen, line
                last = line
                seen += count


def _with_single_spaces(text: str) -> str:
    if text.isspace():
        return " "
    return text if "  " not in text and text.isprintable() else _BLANKS.sub(" ", text)
