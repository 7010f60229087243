"""Line numbers of character offsets, and the lines of a text with their spans."""

from __future__ import annotations

from bisect import bisect_right


class LineMap:
    r"""Line starts of a text; a line ends at "\n" only, so "\r\n" and lone "\r" stay inside lines."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def __len__(self) -> int:
        """Number of lines; a text that ends in a newline has no further empty line."""
        empty_tail = len(self._starts) > 1 and self._starts[-1] == len(self._text)
        return len(self._starts) - int(empty_tail)

    def line_of(self, offset: int) -> int:
        """The line (1-based) that holds the character at `offset`."""
        return bisect_right(self._starts, offset)

    def span(self, line: int) -> tuple[int, int]:
        """Characters of a line (1-based), without its newline.

        Raises:
            IndexError: There is no such line.
        """
        if not 1 <= line <= len(self):
            raise IndexError(line)
        start = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._text)
        return start, end

    def range_of(self, start: int, end: int) -> tuple[int, int]:
        """First and last line (1-based, inclusive) of the characters `start` to `end` (exclusive)."""
        return self.line_of(start), self.line_of(max(start, end - 1))
