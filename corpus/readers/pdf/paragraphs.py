"""Paragraphs and headings from the lines of a PDF's pages, without what is printed on every page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corpus.readers.pdf.characters import HYPHEN
from corpus.readers.pdf.reading_order import Line, Sheet
from corpus.text.headings import could_be_heading

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BULLET = re.compile(r"(?:[•◦▪‣●○■□–—∙·*]|\(?\d{1,2}[.)])\s+\S")
_MARKS = "(•◦▪‣●○■□–—∙·*-"
_NUMBERED = re.compile(r"(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,4})\.?\s+(?=[^\W\d_])")
_PAGE_NUMBER = re.compile(
    r"(?:page\s+)?[-–—|\s]*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:/|of)\s*\d{1,4})?[-–—|\s]*", re.IGNORECASE
)
_ENDS = re.compile(r"[.!?:;。！？]['\"”’)\]]*$")
# Of a page's height, above and below: where heads and feet stand.
_MARGIN = 0.12
_LONGEST = 160
# Of a line's height: fonts of one size differ in it, most of all those of typewriters.
_SAME_FONT, _OTHER_FONT = 0.08, 0.3


@dataclass(slots=True)
class Paragraph:
    """Text that belongs together, possibly over a column's or a page's end.

    Attributes:
        text: Words that were broken at the end of a line are whole.
        pages: Of each character of `text`, from 0.
        size: Height of its font in points.
        bold: Whether all of it is bold.
        font: Name of the font that it begins in.
        gaps: How many wide gaps its lines have, if they are short.
        lines: How many there are.
        top: Where it begins, in points from the foot of its first page.
    """

    text: str
    pages: list[int]
    size: float
    bold: bool
    font: str
    gaps: int
    lines: int
    top: float
    level: int = 0


def body_lines(sheets: Sequence[Sheet]) -> list[list[Line]]:
    """The lines of each page without running heads, feet and page numbers."""
    seen: Counter[str] = Counter()
    for sheet in sheets:
        seen.update({_key(line.text) for line in sheet.lines if _in_margin(line, sheet)})
    least = max(2, min(4, len(sheets) // 3))
    return [
        [
            line
            for line in sheet.lines
            if not (
                _in_margin(line, sheet)
                and ((len(sheets) > 1 and seen[_key(line.text)] >= least) or _PAGE_NUMBER.fullmatch(line.text))
            )
        ]
        for sheet in sheets
    ]


def _key(text: str) -> str:
    return re.sub(r"\d+", "#", text.lower())


def _in_margin(line: Line, sheet: Sheet) -> bool:
    return line.bottom > (1 - _MARGIN) * sheet.height or line.top < _MARGIN * sheet.height


def body_size(lines: Sequence[Sequence[Line]]) -> float:
    """The height of the font that most of the text is in."""
    sizes: Counter[float] = Counter()
    for page in lines:
        for line in page:
            sizes[round(line.size, 1)] += len(line.text)
    return max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 10.0


def paragraphs(pages: Sequence[Sequence[Line]]) -> Iterator[Paragraph]:
    """Put lines together; within a page a paragraph ends at a gap, an indent, a short line, another font."""
    words = Counter(word.lower() for page in pages for line in page for word in _WORD.findall(line.text))
    gathered: list[Line] = []
    for page in pages:
        look = _Look(page)
        for line in page:
            if gathered and not look.goes_on(gathered, line):
                yield _paragraph(gathered, words)
                gathered = []
            gathered.append(line)
    if gathered:
        yield _paragraph(gathered, words)


class _Look:
    """What the lines of a page have in common."""

    def __init__(self, lines: Sequence[Line]) -> None:
        columns: dict[int, list[Line]] = {}
        for line in lines:
            columns.setdefault(line.column, []).append(line)
        self._edges = {
            column: (median(line.left for line in found), max(line.right for line in found))
            for column, found in columns.items()
        }
        steps = [
            above.bottom - line.bottom
            for found in columns.values()
            for above, line in pairwise(found)
            if 0 < above.bottom - line.bottom < 3 * line.size
        ]
        self._step = median(steps) if steps else 0.0

    def goes_on(self, gathered: Sequence[Line], line: Line) -> bool:
        """Whether a line belongs to the paragraph of those before it."""
        before = gathered[-1]
        flows = self._is_in_mid_sentence(before, line)
        unlike = _OTHER_FONT if flows else _SAME_FONT
        if abs(before.size - line.size) > unlike * line.size or _BULLET.match(line.text):
            return False
        if before.text.endswith(HYPHEN):
            return True
        if (before.page, before.column) != (line.page, line.column):
            return not _ENDS.search(before.text) and _continues(gathered, line)
        if before.bold != line.bold and not flows and (before.bold or len(line.text) < 60):
            return False
        step = before.bottom - line.bottom
        if step <= 0 or step > max(1.35 * self._step, 1.4 * line.size):
            return False
        return not self._begins(gathered, line)

    def _is_in_mid_sentence(self, before: Line, line: Line) -> bool:
        """Whether a line goes on with a full one, be it in another font: "for the code see | example.org/code"."""
        if (before.page, before.column) != (line.page, line.column) or not line.text[0].isalpha():
            return False
        left, right = self._edges[line.column]
        full = right - before.right < 0.25 * (right - left) and not before.gaps
        return full and (before.text.endswith(HYPHEN) or (before.text[-1].islower() and line.text[0].islower()))

    def _begins(self, gathered: Sequence[Line], line: Line) -> bool:
        before = gathered[-1]
        left, right = self._edges[line.column]
        indented = line.left - left > 0.7 * line.size and before.left - left < 0.5 * line.size
        short = right - before.right > 0.25 * (right - left)
        if indented:
            return bool(_ENDS.search(before.text)) or short
        return short and bool(_ENDS.search(before.text)) and not line.text[0].islower()


def _continues(gathered: Sequence[Line], line: Line) -> bool:
    """Whether a line at the head of a column goes on with the sentence at the foot of the one before."""
    if line.text[0].islower() or line.text[0] in "([“":
        return True
    before = gathered[-1]
    return len(gathered) > 1 and before.bold == line.bold and (before.text[-1].islower() or before.text[-1] == ",")


def _paragraph(lines: Sequence[Line], words: Counter[str]) -> Paragraph:
    text = ""
    pages: list[int] = []
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        own = line.text
        if own.endswith(HYPHEN):
            own = own[:-1] + ("-" if following is None or _keeps_hyphen(own, following.text, words) else "")
        elif following is not None:
            own += " "
        own = own.replace(HYPHEN, "-")
        text += own
        pages += [line.page] * len(own)
    return Paragraph(
        text,
        pages,
        median(line.size for line in lines),
        all(line.bold for line in lines),
        lines[0].font,
        sum(line.gaps for line in lines),
        len(lines),
        lines[0].top,
    )


def _keeps_hyphen(before: str, after: str, words: Counter[str]) -> bool:
    """Whether a hyphen at the end of a line belongs to the word: "task-" and "specific", not "re-" and "sult"."""
    head = re.search(r"([\w-]+)\ufffe$", before)
    tail = re.match(r"\w+", after)
    if head is None or tail is None:
        return True
    first, last = head[1].lower(), tail[0].lower()
    if re.match(r"\w+-\w", after):  # as in state-of-the-art
        return True
    if words[f"{first}-{last}"] or not first[-1].isalpha() or not last[0].isalpha() or tail[0][0].isupper():
        return True
    if words[first + last]:
        return False
    first = first.rpartition("-")[2]
    return min(len(first), len(last)) >= 3 and words[first] > 1 and words[last] > 1


def heading_levels(found: Sequence[Paragraph], body: float) -> list[int]:
    """The level of each paragraph as a heading, 0 for what is none.

    Where headings are numbered, those without a number are set in the same type.
    """
    levels = [_heading_level(one, body) for one in found]
    numbered = {_type(one) for one, level in zip(found, levels, strict=True) if level and _NUMBERED.match(one.text)}
    if len(numbered) == 0 or sum(1 for one, n in zip(found, levels, strict=True) if n and _type(one) in numbered) < 5:
        return levels
    return [level if _type(one) in numbered else 0 for one, level in zip(found, levels, strict=True)]


def _type(one: Paragraph) -> tuple[int, bool, str]:
    return round(one.size), one.bold, one.font


def _heading_level(found: Paragraph, body: float) -> int:
    """The level of a heading, 1 the outermost, by its numbers and its font; 0 for a paragraph."""
    text = found.text
    if not _may_be_heading(found) or found.size < 0.95 * body:
        return 0
    numbered = _NUMBERED.match(text)
    larger = found.size > 1.1 * body
    rest = text[numbered.end() :] if numbered else text
    if not (larger or found.bold):
        return 0
    if numbered and len(rest) >= 3 and (larger or could_be_heading(rest) or len(rest.split()) <= 6):
        return 1 + numbered["number"].count(".")
    if could_be_heading(rest) or (larger and len(rest.split()) <= 8 and len(rest) >= 4):
        return 1 if larger else 2
    return 0


def is_table_head(found: Paragraph) -> bool:
    """Whether a line that looks like a heading names the columns of a table: it has three parts."""
    return found.gaps >= 2


def _may_be_heading(found: Paragraph) -> bool:
    text = found.text
    few = found.lines <= 3 and len(text) <= _LONGEST and not is_table_head(found)
    return few and text[0] not in _MARKS and text[-1] not in ".,;:" and any(map(str.isalpha, text))
