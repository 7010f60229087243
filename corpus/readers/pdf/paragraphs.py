"""Paragraphs and headings from the lines of a PDF's pages, without running heads and page numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corpus.readers.pdf.page.characters import HYPHEN
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.page.rows import continues_table
from corpus.readers.pdf.reading_order import PageLines
from corpus.text.headings import is_upper

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# Private use characters are bullets in the fonts Symbol and Wingdings, as office programs write them.
BULLETS = "•◦▪▫‣●○■□∙⁃⦁❖➢►✓✔\uf0b7\uf0a7\uf0a8\uf0d8\uf076\uf0fc\uf06e\uf071"
# A word hyphenated at the end of a line within a table cell.
_BROKEN_IN_CELL = re.compile(rf"{HYPHEN} (?!\|)")
_BULLET = re.compile(rf"(?:[{BULLETS}–—·*]|\(?\d{{1,2}}[.)])\s+\S")
NUMBERED = re.compile(r"(?P<number>(?:\d{1,2}|[IVX]{1,5}|[A-Z])(?:\.\d{1,2}){0,4})\.?\s+(?=[^\W\d_])")
_PAGE_NUMBER = re.compile(
    r"(?:page\s+)?[-–—|\s]*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:/|of)\s*\d{1,4})?[-–—|\s]*", re.IGNORECASE
)
# A footnote begins with its mark, raised or joined to its first word; a run of notes has at most this many lines.
_NOTE = re.compile(r"(?:[⁰¹²³⁴-⁹]{1,2}|[∗*†‡§])\s?(?=[A-ZÀ-Þ]|http)|\d{1,2}[A-ZÀ-Þ][a-zß-ÿ]")
_NOTE_LINES = 12
# Head of a figure or table, which does not continue the sentence of the column before.
_CAPTION = re.compile(r"(?:table|fig)[a-z]*\.? \d|\d+\.\d", re.IGNORECASE)
_ENDS = re.compile(r"[.!?:;。！？]['\"”’)\]]*\s?[⁰¹²³⁴-⁹]*$")
# Fonts of small capitals, which count as capitals.
_SMALL_CAPITALS = re.compile(r"csc|smallcap|-sc\b|caps", re.IGNORECASE)
# Running heads and page numbers lie within this share of a page's height from its top or bottom.
_MARGIN = 0.12
# Longer paragraphs are not taken for headings by their number or font.
MAX_GUESSED_HEADING = 160
# A line with this many wide gaps is not a heading, but names the columns of a table.
TABLE_GAPS = 2
# Largest relative difference in line height within a paragraph; larger if the font changes, as to a typewriter's.
_SAME_FONT, _OTHER_FONT = 0.08, 0.3


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together, perhaps across columns or pages.

    Attributes:
        text: Its text; words hyphenated at line ends are rejoined.
        pages: Page of each character of `text`, from 0.
        size: Height of its font in points.
        font: Name of the font in which it begins.
        gaps: Number of wide gaps in its short lines.
        level: Heading level, 1 for the outermost; 0 for body text.
        table: Whether its lines are rows of a table, with bars between cells.
    """

    text: str
    pages: list[int]
    size: float
    bold: bool
    font: str
    gaps: int
    lines: int
    level: int = 0
    table: bool = False


def body_lines(pages: Sequence[PageLines]) -> list[list[Line]]:
    """Return the lines of each page without running heads and page numbers."""
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({_without_digits(line.text) for line in page.lines if _is_in_margin(line, page)})
    min_repeats = max(2, min(4, len(pages) // 3))

    def is_running(line: Line) -> bool:
        return len(pages) > 1 and counts[_without_digits(line.text)] >= min_repeats

    return [
        [
            line
            for line in page.lines
            if not (_is_in_margin(line, page) and (is_running(line) or _PAGE_NUMBER.fullmatch(line.text)))
        ]
        for page in pages
    ]


def _without_digits(text: str) -> str:
    return re.sub(r"\d+", "#", text.lower())


def _is_in_margin(line: Line, page: PageLines) -> bool:
    return line.bottom > (1 - _MARGIN) * page.height or line.top < _MARGIN * page.height


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """Return the font height of most of the text, in points."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[round(line.size, 1)] += len(line.text)
    return max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 10.0


def paragraphs(pages: Sequence[Sequence[Line]]) -> Iterator[Paragraph]:
    """Join lines into paragraphs, which end at a gap, an indent, a short line or a change of font.

    Footnotes that interrupt a sentence precede its paragraph, so that pages stay in order.
    """
    words = Counter(word.lower() for page in pages for line in page for word in _WORD.findall(line.text))
    lines = [(layout, line) for page in pages for layout in [_Layout(page)] for line in page]
    pending: list[Line] = []
    skip_to = 0
    for at, (layout, line) in enumerate(lines):
        if at < skip_to:
            continue
        if line.table:
            if pending:
                yield _paragraph(pending, words)
            pending = []
            skip_to = _end_of_table(lines, at)
            yield _table([one for _, one in lines[at:skip_to]], words)
            continue
        if pending and (skip_to := _end_of_notes(pending, lines, at)):
            starts = [i for i in range(at, skip_to) if _NOTE.match(lines[i][1].text)]
            for start, end in pairwise([*starts, skip_to]):
                yield _paragraph([one for _, one in lines[start:end]], words)
            continue
        if pending and not layout.continues(pending, line):
            yield _paragraph(pending, words)
            pending = []
        pending.append(line)
    if pending:
        yield _paragraph(pending, words)


def _end_of_notes(pending: Sequence[Line], lines: Sequence[tuple[_Layout, Line]], at: int) -> int:
    """Index past the footnotes that begin at a line if they interrupt a sentence; else 0."""
    first, before = lines[at][1], pending[-1]
    if not _NOTE.match(first.text) or _ENDS.search(before.text) or not pending[0].page == before.page == first.page:
        return 0
    end = at + 1
    while end < min(len(lines), at + _NOTE_LINES + 1):
        layout, line = lines[end]
        if line.page != first.page or line.bottom >= lines[end - 1][1].bottom:
            is_text = not (line.gaps or _CAPTION.match(line.text))
            return end if is_text and layout.continues(pending, line) else 0
        end += 1
    return 0


def _end_of_table(lines: Sequence[tuple[_Layout, Line]], at: int) -> int:
    """Index past the table that begins at a line; it continues on a new page unless column names are at its top."""
    rows = [lines[at][1]]
    for _, line in lines[at + 1 :]:
        is_next = line.table and line.page == rows[-1].page + 1 and continues_table(rows, [line])
        if not is_next and (line.page, line.table) != (rows[-1].page, rows[-1].table):
            break
        rows.append(line)
    return at + len(rows)


class _Layout:
    """The edges of a page's columns, and its line spacing."""

    def __init__(self, lines: Sequence[Line]) -> None:
        columns: dict[int, list[Line]] = {}
        for line in lines:
            columns.setdefault(line.column, []).append(line)
        self._edges = {
            column: (median(line.left for line in column_lines), max(line.right for line in column_lines))
            for column, column_lines in columns.items()
        }
        steps = [
            above.bottom - line.bottom
            for column_lines in columns.values()
            for above, line in pairwise(column_lines)
            if 0 < above.bottom - line.bottom < 3 * line.size
        ]
        self._step = median(steps) if steps else 0.0

    def continues(self, pending: Sequence[Line], line: Line) -> bool:
        """Whether a line belongs to the paragraph of the lines before it."""
        before = pending[-1]
        mid_sentence = self._is_mid_sentence(before, line)
        tolerance = _OTHER_FONT if mid_sentence else _SAME_FONT
        if abs(before.size - line.size) > tolerance * line.size or _BULLET.match(line.text):
            return False
        if before.text.endswith(HYPHEN):
            return True
        if (before.page, before.column) != (line.page, line.column):
            return not _ENDS.search(before.text) and _continues_column(pending, line)
        if is_numbered_in_capitals(before) != is_numbered_in_capitals(line) or (
            before.bold != line.bold and not mid_sentence and (before.bold or len(line.text) < 60)
        ):
            return False
        step = before.bottom - line.bottom
        if step <= 0 or step > max(1.35 * self._step, 1.4 * line.size):
            return False
        return not self._begins(before, line)

    def _is_mid_sentence(self, before: Line, line: Line) -> bool:
        """Whether a full line breaks within a sentence, even if the font changes: "see | example.org/code"."""
        if (before.page, before.column) != (line.page, line.column) or not line.text[0].isalpha():
            return False
        left, right = self._edges[line.column]
        full = right - before.right < 0.25 * (right - left) and not before.gaps
        return full and (before.text.endswith(HYPHEN) or (before.text[-1].islower() and line.text[0].islower()))

    def _begins(self, before: Line, line: Line) -> bool:
        """Whether a line begins a paragraph, judged by its indent or by how the line before it ends."""
        left, right = self._edges[line.column]
        ends = bool(_ENDS.search(before.text))
        short = right - before.right > 0.25 * (right - left)
        if line.left - left > 0.7 * line.size and before.left - left < 0.5 * line.size:
            return ends or short
        return short and ends and not line.text[0].islower()


def is_numbered_in_capitals(one: Line | Paragraph) -> bool:
    """Whether this may be a numbered heading in small capitals, with the size and weight of body text."""
    numbered = NUMBERED.match(one.text) if len(one.text) <= MAX_GUESSED_HEADING else None
    if numbered is None or not is_upper(one.text[numbered.end() :]):
        return False
    return numbered[0].rstrip().endswith(".") or _SMALL_CAPITALS.search(one.font) is not None


def _continues_column(pending: Sequence[Line], line: Line) -> bool:
    """Whether the line at the head of a column continues the sentence at the foot of the one before."""
    if line.text[0].islower() or line.text[0] in "([“":
        return True
    before = pending[-1]
    return len(pending) > 1 and before.bold == line.bold and (before.text[-1].islower() or before.text[-1] == ",")


def _paragraph(lines: Sequence[Line], words: Counter[str]) -> Paragraph:
    text = ""
    pages: list[int] = []
    for line, next_line in zip(lines, [*lines[1:], None], strict=True):
        part = line.text
        if part.endswith(HYPHEN):
            part = part[:-1] + ("-" if next_line is None or _keeps_hyphen(part, next_line.text, words) else "")
        elif next_line is not None:
            part += " "
        part = part.replace(HYPHEN, "-")
        text += part
        pages += [line.page] * len(part)
    return Paragraph(
        text=text,
        pages=pages,
        size=median(line.size for line in lines),
        bold=all(line.bold for line in lines),
        font=lines[0].font,
        gaps=sum(line.gaps for line in lines),
        lines=len(lines),
    )


def _table(rows: Sequence[Line], words: Counter[str]) -> Paragraph:
    texts = []
    for row in rows:
        text, *parts = _BROKEN_IN_CELL.split(row.text)
        for part in parts:
            text += "-" * _keeps_hyphen(text + HYPHEN, part, words) + part
        texts.append(text.replace(HYPHEN, "-"))
    return Paragraph(
        text="\n".join(texts),
        pages=[row.page for row, text in zip(rows, texts, strict=True) for _ in range(len(text) + 1)][:-1],
        size=median(row.size for row in rows),
        bold=False,
        font=rows[0].font,
        gaps=max(TABLE_GAPS, sum(row.gaps for row in rows)),
        lines=len(rows),
        table=True,
    )


def _keeps_hyphen(before: str, after: str, words: Counter[str]) -> bool:
    """Whether a hyphen at the end of a line belongs to the word: "task-" and "specific", not "re-" and "sult"."""
    head = re.search(r"([\w-]+)\ufffe$", before)
    tail = re.match(r"\w+", after)
    if head is None or tail is None or re.match(r"\w+-\w", after):  # the last as in state-of-the-art
        return True
    first, last = head[1].lower(), tail[0].lower()
    if words[f"{first}-{last}"] or not first[-1].isalpha() or not last[0].isalpha() or tail[0][0].isupper():
        return True
    if words[first + last]:
        return False
    first = first.rpartition("-")[2]
    return min(len(first), len(last)) >= 3 and words[first] > 1 and words[last] > 1
