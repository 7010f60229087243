"""Join superscripts and subscripts to their lines, and separate footnote marks from words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter

from corpus.readers.pdf.page.characters import Box
from corpus.readers.pdf.page.line import Line
from corpus.text.superscripts import SUPERSCRIPTS

# In characters: the longest script, and the shortest line that it is joined to; its largest size relative to the line.
_MAX_SCRIPT, _MIN_LINE, _MAX_SIZE = 8, 20, 0.8
# In line heights: how far a script's lower edge may be above or below the line's, how far the script may be beside the
# line, and how far up a raised character is.
_ABOVE, _BELOW, _BESIDE, _RAISED = 0.75, 0.5, 0.5, 0.2
# In characters: a longer piece at about the line's size is not a mark, even if it is higher, like a value in a form.
_MAX_MARK = 3
# In line heights: left edges this close count as equal.
_SAME = 0.1
# Raised letters and digits, with the signs and punctuation between them.
_MARK = re.compile(r"[a-zA-Z0-9+−-](?:[a-zA-Z0-9+−,/∗*†‡§¶-]*[a-zA-Z0-9])?")
_CLOSING = ".,;:)]"
# A word that a mark is separated from, unlike "m²", "10⁷", "21st" and "XVIe".
_WORD = re.compile(r"[^\W\d_]{2}[^\W\d_A-Z]$")

_bottom = attrgetter("bottom")


def join_scripts(pieces: Sequence[Line]) -> list[Line]:
    """Insert small pieces drawn above or below a line, such as stacked exponents, where they belong in it."""
    lines = sorted((piece for piece in pieces if len(piece.text) >= _MIN_LINE), key=_bottom)
    reach = max((line.size for line in lines), default=0.0)
    placed = set()
    # From top to bottom, so that a subscript comes before the superscript above it.
    for script in sorted((piece for piece in pieces if len(piece.text) <= _MAX_SCRIPT), key=_bottom, reverse=True):
        first = bisect_left(lines, script.bottom - _ABOVE * reach, key=_bottom)
        end = bisect_right(lines, script.bottom + _BELOW * reach, key=_bottom)
        candidates = [line for line in lines[first:end] if _is_script(script, line)]
        if candidates:
            _insert_script(min(candidates, key=lambda line: abs(script.bottom - line.bottom)), script)
            placed.add(id(script))
    return [piece for piece in pieces if id(piece) not in placed]


def _is_script(script: Line, line: Line) -> bool:
    return (
        script.size <= _MAX_SIZE * line.size
        and -_BELOW * line.size < script.bottom - line.bottom < _ABOVE * line.size
        and line.left - _BESIDE * line.size < script.left < line.right + _BESIDE * line.size
    )


def _insert_script(line: Line, script: Line) -> None:
    at = next((i for i, box in enumerate(line.boxes) if box[0] > script.left - _SAME * line.size), len(line.text))
    after = at
    if line.text[at - 1 : at] == " ":
        # The script replaces the space, which stays behind it if a word follows.
        at -= 1
        after = at + (line.text[at + 1 : at + 2] in _CLOSING)
    line.text = line.text[:at] + script.text + line.text[after:]
    line.boxes = line.boxes[:at] + script.boxes + line.boxes[after:]
    line.left, line.right = min(line.left, script.left), max(line.right, script.right)


def separate_marks(line: Line, pieces: Sequence[Line]) -> Line:
    """Write raised digits in a line of these pieces as superscripts, and put a space between a mark and a word."""
    for first, end in reversed(_raised_spans(line, pieces)):
        mark, following = line.text[first:end], line.text[end : end + 1]
        is_joined = following.isalnum()
        if following == "/" or (is_joined and not mark.isdigit() and (first or len(mark) > 1)):  # "1/2", "LATEX"
            continue
        if "/" not in mark and any(map(str.isdigit, mark)):
            line.text = line.text[:first] + mark.translate(SUPERSCRIPTS) + line.text[end:]
        if is_joined and not first:
            _insert_space(line, end)
        elif not is_joined and mark[0].isalnum() and _WORD.search(line.text, max(0, first - 3), first):
            _insert_space(line, first)
    return line


def _raised_spans(line: Line, pieces: Sequence[Line]) -> list[tuple[int, int]]:
    """Return the spans of raised marks and exponents."""
    floor = line.bottom + _RAISED * line.size
    long = [piece for piece in pieces if len(piece.text) > _MAX_MARK and piece.size > _MAX_SIZE * line.size]
    values = {box for piece in long if piece.bottom > floor for box in piece.boxes}
    is_raised = [box[1] > floor and box not in values for box in line.boxes]
    text = "".join([letter if raised else " " for letter, raised in zip(line.text, is_raised, strict=True)])
    return [match.span() for match in _MARK.finditer(text) if match[0][-1].isalnum()]


def _insert_space(line: Line, at: int) -> None:
    before, after = line.boxes[at - 1], line.boxes[at]
    space: Box = (before[2], after[1], after[0], after[3])
    line.text = f"{line.text[:at]} {line.text[at:]}"
    line.boxes.insert(at, space)
