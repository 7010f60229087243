"""Raised and lowered characters: within the line that they belong to, and marks of notes apart from their word."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter

from corpus.readers.pdf.page.characters import Box
from corpus.readers.pdf.page.line import Line

# Characters of a piece that may be a script, and of the line that it may be in; how high it is in that line's height.
_LONGEST, _LINE, _SMALLER = 8, 20, 0.8
# In the height of the line: how far a script's lower edge is above or below that of the line, how far it is beside it,
# and from where on a character within a line is raised.
_ABOVE, _BELOW, _BESIDE, _RAISED = 0.75, 0.5, 0.5, 0.2
# In the same: how far apart what is at the same place begins.
_SAME = 0.1
_SUPERSCRIPTS = str.maketrans("0123456789-−+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁺")
_SIGNS = frozenset("-−+")
_BETWEEN = _SIGNS | frozenset(",/∗*†‡§¶")
_CLOSING = ".,;:)]"
# A mark is raised behind such a word; "m²", "10⁷", "21st" and "XVIe" are whole.
_WORD = re.compile(r"[^\W\d_]{2}[^\W\d_A-Z]$")

_bottom = attrgetter("bottom")


def in_their_lines(pieces: Sequence[Line]) -> list[Line]:
    """Put small pieces that are drawn above or below a line, such as stacked exponents, where they belong in it."""
    lines = sorted((piece for piece in pieces if len(piece.text) >= _LINE), key=_bottom)
    reach = max((line.size for line in lines), default=0.0)
    placed = set()
    # From top to bottom, so that an index is put before the exponent above it.
    for one in sorted((piece for piece in pieces if len(piece.text) <= _LONGEST), key=_bottom, reverse=True):
        first = bisect_left(lines, one.bottom - _ABOVE * reach, key=_bottom)
        end = bisect_right(lines, one.bottom + _BELOW * reach, key=_bottom)
        around = [line for line in lines[first:end] if _is_script(one, line)]
        if around:
            _put_in(min(around, key=lambda line: abs(one.bottom - line.bottom)), one)
            placed.add(id(one))
    return [piece for piece in pieces if id(piece) not in placed]


def _is_script(one: Line, line: Line) -> bool:
    return (
        one.size <= _SMALLER * line.size
        and -_BELOW * line.size < one.bottom - line.bottom < _ABOVE * line.size
        and line.left - _BESIDE * line.size < one.left < line.right + _BESIDE * line.size
    )


def _put_in(line: Line, script: Line) -> None:
    at = next((i for i, box in enumerate(line.boxes) if box[0] > script.left - _SAME * line.size), len(line.text))
    after = at
    if line.text[at - 1 : at] == " ":
        # The blank is the place of the script, and one behind it if a word follows.
        at -= 1
        after = at + (line.text[at + 1 : at + 2] in _CLOSING)
    line.text = line.text[:at] + script.text + line.text[after:]
    line.boxes = line.boxes[:at] + script.boxes + line.boxes[after:]
    line.left, line.right = min(line.left, script.left), max(line.right, script.right)


def with_marks_apart(line: Line) -> Line:
    """Write raised digits as such, and put a blank between a raised mark and the word before or behind it."""
    for first, end in reversed(list(_raised(line))):
        mark, behind = line.text[first:end], line.text[end : end + 1]
        glued = behind.isalnum()
        if behind == "/" or (glued and not mark.isdigit() and (first or len(mark) > 1)):  # "1/2", "LATEX"
            continue
        if "/" not in mark and any(map(str.isdigit, mark)):
            line.text = line.text[:first] + mark.translate(_SUPERSCRIPTS) + line.text[end:]
        if glued and not first:
            _insert_blank(line, end)
        elif not glued and mark[0].isalnum() and _WORD.search(line.text, max(0, first - 3), first):
            _insert_blank(line, first)
    return line


def _raised(line: Line) -> Iterator[tuple[int, int]]:
    """Where raised letters and digits are, with what is between them."""
    floor = line.bottom + _RAISED * line.size
    run: list[int] = []
    for i in [i for i, box in enumerate(line.boxes) if box[1] > floor]:
        is_mark = line.text[i].isascii() and line.text[i].isalnum()
        if run and i - run[-1] == 1 and (is_mark or line.text[i] in _BETWEEN):
            run.append(i)
        elif is_mark or line.text[i] in _SIGNS:
            yield from _marks(line.text, run)
            run = [i]
    yield from _marks(line.text, run)


def _marks(text: str, run: list[int]) -> Iterator[tuple[int, int]]:
    while run and not text[run[-1]].isalnum():
        run.pop()
    if run:
        yield run[0], run[-1] + 1


def _insert_blank(line: Line, at: int) -> None:
    before, behind = line.boxes[at - 1], line.boxes[at]
    blank: Box = (before[2], behind[1], behind[0], behind[3])
    line.text = f"{line.text[:at]} {line.text[at:]}"
    line.boxes.insert(at, blank)
