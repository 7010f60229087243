r"""Lines of a text: their spans, and the line of a character. Only "\n" ends a line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corpus.types import Extracted

# Characters that begin a list item, for a character class of a regular expression.
BULLETS = "•◦▪‣●○■□–—*+-"
# Fewer lines that begin with a capital, or longer ones, may be wrapped prose.
_MIN_ITEMS, _MAX_ITEM = 4, 60
_LINE = re.compile(r"([^\n]*)(?:\n|\Z)")


def line_spans(text: str) -> list[tuple[int, int]]:
    """Return the span of each line, without its newline and without a byte order mark; the last is always empty."""
    return [line.span(1) for line in _LINE.finditer(text, int(text.startswith("\ufeff")))]


class LineMap:
    """Line numbers of character offsets."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(newline.end() for newline in re.finditer("\n", text))]

    def __len__(self) -> int:
        """Number of lines; a text that ends in a newline has no further empty line."""
        ends_in_newline = len(self._starts) > 1 and self._starts[-1] == len(self._text)
        return len(self._starts) - int(ends_in_newline)

    def line_of(self, offset: int) -> int:
        """Return the line (from 1) that contains a character."""
        return bisect_right(self._starts, offset)

    def span(self, line: int) -> tuple[int, int]:
        """Return the span of a line (from 1), without its newline.

        Raises:
            IndexError: There is no such line.
        """
        if not 1 <= line <= len(self):
            raise IndexError(line)
        start = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._text)
        return start, end

    def range_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and last line (from 1, inclusive) of the characters `start` to `end` (exclusive)."""
        return self.line_of(start), self.line_of(max(start, end - 1))


class FileLines:
    """Line numbers in the file of a document, which may differ from those of its text."""

    def __init__(self, document: Extracted) -> None:
        self._lines = LineMap(document.text) if document.file_lines == () else None
        self._marks = document.file_lines

    def range_of(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the first and last line as `LineMap` does; None for a file without lines."""
        if self._lines is not None:
            return self._lines.range_of(start, end)
        if self._marks is None:
            return None
        first, last = (self._line_of(self._marks, offset) for offset in (start, max(start, end - 1)))
        return first, max(first, last)

    @staticmethod
    def _line_of(marks: tuple[tuple[int, int], ...], offset: int) -> int:
        return marks[max(0, bisect_right(marks, offset, key=itemgetter(0)) - 1)][1]


def is_line_list(lines: Sequence[str]) -> bool:
    """Whether lines are a list without bullets, each beginning with a capital letter or a number: "Beds 32".

    They are too short for wrapped prose, which seldom begins four lines in a row with a capital.
    """
    items = [line.strip() for line in lines if line.strip()]
    is_short = len(items) >= _MIN_ITEMS and max(map(len, items)) <= _MAX_ITEM
    return is_short and all(item[0].isupper() or item[0].isdigit() for item in items)
