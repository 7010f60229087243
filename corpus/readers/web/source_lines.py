"""The text that the parser reports, with the lines of the file that it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from corpus.readers.assemble.document_builder import Starts, count_visible

_BLANKS = re.compile(r"\s+")


class Fragment(NamedTuple):
    """Text, and the lines of the file that it comes from."""

    text: str
    lines: Starts


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
        self._parts.append(text if verbatim else _collapse_blanks(text))

    def insert(self, text: str) -> None:
        """Append text that replaces an element."""
        self._parts.append(text)

    def is_at_line_start(self) -> bool:
        """Whether there is no text, or it ends with a newline."""
        return not self._parts or self._parts[-1].endswith("\n")

    def is_blank(self) -> bool:
        """Whether there is no visible text."""
        return not any(part and not part.isspace() for part in self._parts)

    def end(self) -> tuple[int, int]:
        """Return where the text ends now, for `text_from` and `cut_from`."""
        return len(self._parts), len(self._raw)

    def text_from(self, position: tuple[int, int]) -> str:
        """Return the text from a position on."""
        return "".join(self._parts[position[0] :])

    def cut_from(self, position: tuple[int, int]) -> None:
        """Drop the text from a position on."""
        del self._parts[position[0] :], self._raw[position[1] :]

    def take(self) -> Fragment:
        """Return the text, and clear the buffer."""
        text, raw = "".join(self._parts), self._raw
        self._parts, self._raw = [], []
        if not raw or text.isspace():
            return Fragment(text, ())
        if raw[0][0] == self.line and "\n" not in raw[-1][1]:
            return Fragment(text, ((0, self.line),))
        return Fragment(text, tuple(_line_starts(raw)))


def _line_starts(raw: list[tuple[int, str]]) -> Iterator[tuple[int, int]]:
    count = last_line = 0
    for start, text in raw:
        for line, part in enumerate(text.split("\n"), start):
            if visible := count_visible(part):
                if line != last_line:
                    yield count, line
                last_line = line
                count += visible


def _collapse_blanks(text: str) -> str:
    if text.isspace():
        return " "
    return text if "  " not in text and text.isprintable() else _BLANKS.sub(" ", text)
