"""Join the lines of a PDF's pages into paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corpus.readers.pdf.page.characters import HYPHEN
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.page.rows import continues_table
from corpus.text.headings import is_upper

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# The private use characters are bullets of the fonts Symbol and Wingdings, which office programs use.
BULLETS = "•◦▪▫‣●○■□∙⁃⦁❖➢►✓✔\uf0b7\uf0a7\uf0a8\uf0d8\uf076\uf0fc\uf06e\uf071"
# A word hyphenated at the end of a line within a table cell.
_BROKEN_IN_CELL = re.compile(rf"{HYPHEN} (?!\|)")
_BULLET = re.compile(rf"(?:[{BULLETS}–—·*]|\(?\d{{1,2}}[.)])\s+\S")
# The number or letter of a clause: "2.1 Invoices", "(b) keep"; a sentence may refer to one, too.
_CLAUSE = re.compile(r"\d{1,2}(?:\.\d{1,2})+\.?\s+[\"“‘(]?[A-ZÀ-Þ]|\((?:[a-z]|[ivx]{2,5})\)\s+\S")
_CLAUSE_END = re.compile(r"(?:[.!?:;]['\"”’)\]]*|[,;] (?:and|or))$")
NUMBERED = re.compile(r"(?P<number>(?:\d{1,2}|[IVX]{1,5}|[A-Z])(?:\.\d{1,2}){0,4})\.?\s+(?=[^\W\d_])")
# The beginning of a footnote: its mark, raised or joined to the first word.
_NOTE = re.compile(r"(?:[⁰¹²³⁴-⁹]{1,2}|[∗*†‡§])\s?(?=[A-ZÀ-Þ]|http)|\d{1,2}[A-ZÀ-Þ][a-zß-ÿ]")
# Words such as "see", which "Table 1. It lists ..." may follow.
_LEADS_TO_CAPTION = re.compile(r"\b(?:in|see|and|or|from|by|to|with|of|than|as)$")
# The most lines of notes, captions and tables between two parts of a sentence.
_ASIDE_LINES = 24
# The beginning of a caption, which does not continue the sentence of the column before.
_CAPTION = re.compile(r"(?:table|fig)[a-z]*\.? \d|\d+\.\d", re.IGNORECASE)
_CAPTION_HEAD = re.compile(r"(?:tab|fig|abb)[a-z]*\.? \d+[a-z]?(?:[:.] |$)", re.IGNORECASE)
# PDFium does not mark a hyphen at the end of a column.
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u2010]$")
# A word that is broken at a hyphen within a line or at one of its ends.
_BROKEN_WORD = re.compile(rf"(?<![\w-])[\w-]*{HYPHEN}(?: \w+)?")
# An English word that has a hyphen, such as "well-known", unlike "wellness" and "longest".
_COMPOUND = re.compile(r"well-(?!be|ness|ing)|self-(?!hood|ish|less)|long-(?:last|lived|range|stand|term)")
# A range or a telephone number such as "44–", with "58" on the next line.
_RANGE = re.compile(r"\d[–—-]$")
# The beginning of an address of a page or a person up to a line's end, and the rest of one from a line's start.
_ADDRESS, _REST_OF_ADDRESS = re.compile(r"(?:@|//|www\.)\S*$"), re.compile(r"[\w.-]+@")
# An entry of a list of references, a line of a form.
_REFERENCE = re.compile(r"\[(\d{1,3})\] ?\S")
_LABELLED = re.compile(r"[^\W\d_][^:.!?]{0,30}: +\S")
_SENTENCE_END = re.compile(r"[.!?:;。！？]['\"”’)\]]*\s?[⁰¹²³⁴-⁹]*$")
# A single line of at most this many characters may be a label of a figure, or a cell of a ragged table.
MAX_SCRAP = 40
# A longer paragraph is not a heading, whatever its number or font.
MAX_GUESSED_HEADING = 160
# A line with this many wide gaps has the column names of a table, and is not a heading.
TABLE_GAPS = 2
# Largest relative difference in line height within a paragraph; larger if the font changes, as to monospaced type.
_SAME_FONT, _NEW_FONT = 0.08, 0.3

# The left and right edges of columns, by page and column number.
_Edges = dict[tuple[int, int], tuple[float, float]]


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together, perhaps across columns or pages.

    Attributes:
        text: Its text, with words hyphenated at line ends rejoined.
        pages: Page of each character of `text`, from 0.
        size: Height of its font, in points.
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

    @property
    def type(self) -> tuple[int, bool, str]:
        """Its rounded font size, whether it is bold, and its font."""
        return round(self.size), self.bold, self.font


def join_paragraphs(pages: Sequence[Sequence[Line]]) -> Iterator[Paragraph]:
    """Join lines into paragraphs, which end at a gap, an indent, a short line or a change of font.

    Footnotes, captions and tables that interrupt a sentence come before its paragraph if they are on the page where it
    begins, and after it if they are on a later page, so that pages stay in order.
    """
    words = _count_words(line.text for page in pages for line in page)
    edges: _Edges = {}
    lines = [(layout, line) for page in pages for layout in [_Layout(page, edges)] for line in page]
    return (_build_paragraph(group, words) for group in _group_lines(lines))


def _count_words(lines: Iterable[str]) -> Counter[str]:
    """Count the words of lines, but not the parts of words that are hyphenated at the ends of lines or in cells."""
    words: Counter[str] = Counter()
    is_broken = False
    for line in lines:
        text = _HYPHENATED.sub(HYPHEN, line)
        words.update(map(str.lower, _WORD.findall(_BROKEN_WORD.sub(" ", f"{HYPHEN} {text}" if is_broken else text))))
        is_broken = text.endswith(HYPHEN)
    return words


def _group_lines(lines: Sequence[tuple[_Layout, Line]]) -> Iterator[list[Line]]:
    """Yield the lines of each paragraph and each table; see `join_paragraphs`."""
    pending: list[Line] = []
    held: list[list[Line]] = []
    skip_to = 0
    for at, (layout, line) in enumerate(lines):
        if at < skip_to:
            continue
        if pending and _is_unfinished(pending) and (asides := _find_asides(pending, lines, at)):
            skip_to = at + sum(map(len, asides))
            for aside in asides:
                if aside[0].page == pending[0].page:
                    yield aside
                else:
                    held.append(aside)
            continue
        if line.table:
            skip_to = _table_end(lines, at)
            yield from filter(None, [pending, *held, [row for _, row in lines[at:skip_to]]])
            pending, held = [], []
            continue
        if pending and not (layout.continues(pending, line) and all(aside[0].page == line.page for aside in held)):
            yield from [pending, *held]
            pending, held = [], []
        pending.append(line)
    yield from filter(None, [pending, *held])


def _find_asides(pending: Sequence[Line], lines: Sequence[tuple[_Layout, Line]], at: int) -> list[list[Line]]:
    """Return the footnotes, figures and tables that begin at a line and interrupt a sentence; else none."""
    last_line = pending[-1]
    asides: list[list[Line]] = []
    if lines[at][0].continues(pending, lines[at][1]):
        return []
    for layout, line in lines[at : at + _ASIDE_LINES + 1]:
        is_later = (last_line.page, last_line.column) != (line.page, line.column)
        if asides and _continues_aside(asides[-1], layout, line):
            asides[-1].append(line)
        elif _begins_aside(line):
            asides.append([line])
        elif is_later and not line.gaps and not _CAPTION.match(line.text) and layout.continues(pending, line):
            are_near = all(aside[-1].page in {pending[0].page, line.page} for aside in asides)
            return asides if are_near and _begins_aside(asides[-1][0]) else []
        elif is_later and layout.is_narrow(line):  # words of a figure, above its caption
            asides.append([line])
        else:
            return []
    return []


def _is_unfinished(pending: Sequence[Line]) -> bool:
    """Whether lines end within a sentence, and are neither words of a figure nor cells."""
    text = pending[-1].text
    is_prose = sum(map(str.isalpha, text)) > 0.7 * len(text.replace(" ", ""))
    return is_prose and (len(pending) > 1 or len(text) > MAX_SCRAP) and not _SENTENCE_END.search(text)


def _begins_aside(line: Line) -> bool:
    return bool(line.table or _NOTE.match(line.text) or _CAPTION_HEAD.match(line.text))


def _continues_aside(aside: Sequence[Line], layout: _Layout, line: Line) -> bool:
    first, before = aside[0], aside[-1]
    if first.table:
        return (first.page, first.table) == (line.page, line.table)
    if not _begins_aside(first) or _begins_aside(line) or (before.page, before.column) != (line.page, line.column):
        return False
    # Notes end their column; below a caption, the text continues after a gap.
    return line.bottom < before.bottom if _NOTE.match(first.text) else layout.continues(aside, line)


def _table_end(lines: Sequence[tuple[_Layout, Line]], at: int) -> int:
    """Return the index after a table, which continues on the next page unless that begins with column names."""
    rows = [lines[at][1]]
    for _, line in lines[at + 1 :]:
        is_next = line.table and line.page == rows[-1].page + 1 and continues_table(rows, [line])
        if not is_next and (line.page, line.table) != (rows[-1].page, rows[-1].table):
            break
        rows.append(line)
    return at + len(rows)


class _Layout:
    """The column edges of all pages so far, including this one, and the line spacing of this page."""

    def __init__(self, lines: Sequence[Line], edges: _Edges) -> None:
        columns: dict[int, list[Line]] = {}
        for line in lines:
            columns.setdefault(line.column, []).append(line)
        self._edges = edges
        for column, column_lines in columns.items():
            left, right = median(line.left for line in column_lines), max(line.right for line in column_lines)
            edges[column_lines[0].page, column] = left, right
        steps = [
            above.bottom - line.bottom
            for column_lines in columns.values()
            for above, line in pairwise(column_lines)
            if 0 < above.bottom - line.bottom < 3 * line.size
        ]
        self._step = median(steps) if steps else 0.0

    def continues(self, pending: Sequence[Line], line: Line) -> bool:
        """Whether a line continues the paragraph of the lines before it."""
        before = pending[-1]
        mid_sentence = self._is_mid_sentence(before, line)
        tolerance = _NEW_FONT if mid_sentence else _SAME_FONT
        if abs(before.size - line.size) > tolerance * line.size or _BULLET.match(line.text):
            return False
        if _CLAUSE.match(line.text) and (_CLAUSE_END.search(before.text) or self._is_short(before)):
            return False
        if (before.page, before.column) != (line.page, line.column):
            return not _SENTENCE_END.search(before.text) and self._continues_column(pending, line)
        if before.text.endswith(HYPHEN):
            return not _begins_aside(line)
        if is_numbered_in_capitals(before) != is_numbered_in_capitals(line) or (
            before.bold != line.bold and not mid_sentence and (before.bold or len(line.text) < 60)
        ):
            return False
        step = before.bottom - line.bottom
        return 0 < step <= max(1.35 * self._step, 1.4 * line.size) and not self._begins_paragraph(pending, line)

    def is_narrow(self, line: Line) -> bool:
        """Whether a line is much shorter than its column is wide."""
        left, right = self._edges[line.page, line.column]
        return line.right - line.left < 0.6 * (right - left)

    def _is_short(self, line: Line) -> bool:
        """Whether a line ends well before its column does."""
        left, right = self._edges[line.page, line.column]
        return right - line.right > 0.25 * (right - left)

    def _continues_column(self, pending: Sequence[Line], line: Line) -> bool:
        """Whether the first line of a column continues the sentence at the foot of the column before."""
        before = pending[-1]
        if _CAPTION_HEAD.match(line.text):
            return _LEADS_TO_CAPTION.search(before.text) is not None
        if before.text.endswith(HYPHEN) or _begins_aside(line):
            return line.text[0].islower()
        if line.text[0].islower() or line.text[0] in "([“":
            return True
        if before.page == line.page and self._is_short(before):
            return False
        return len(pending) > 1 and before.bold == line.bold and (before.text[-1].islower() or before.text[-1] == ",")

    def _is_mid_sentence(self, before: Line, line: Line) -> bool:
        """Whether a full line ends within a sentence, even if the font changes: "see | example.org/code"."""
        if (before.page, before.column) != (line.page, line.column) or not line.text[0].isalpha():
            return False
        is_full = not self._is_short(before) and not before.gaps
        return is_full and (before.text.endswith(HYPHEN) or (before.text[-1].islower() and line.text[0].islower()))

    def _begins_paragraph(self, pending: Sequence[Line], line: Line) -> bool:
        """Whether a line begins a paragraph, judging by its indent or by the end of the line before it."""
        first, before = pending[0], pending[-1]
        left, _ = self._edges[line.page, line.column]
        indent = 0.7 * line.size
        if _is_next_reference(first, line) or (_REFERENCE.match(first.text) and line.left - first.left > indent):
            return _is_next_reference(first, line)
        ends_sentence = bool(_SENTENCE_END.search(before.text))
        is_short = self._is_short(before)
        if line.left - left > indent and before.left - left < 0.5 * line.size:
            return ends_sentence or is_short
        # Definitions, and references without numbers, have hanging indents.
        is_outdented = before.left - line.left > indent and abs(line.left - first.left) < 0.3 * line.size
        are_labelled = _LABELLED.match(before.text) and _LABELLED.match(line.text)
        is_start = (ends_sentence and (is_short or is_outdented)) or (is_short and are_labelled)
        return bool(is_start) and not line.text[0].islower()


def _is_next_reference(entry: Line, line: Line) -> bool:
    """Whether a line begins the next entry of a list of references: "[3] ..." after "[2] ..."."""
    number, next_number = _REFERENCE.match(entry.text), _REFERENCE.match(line.text)
    return number is not None and next_number is not None and int(next_number[1]) == int(number[1]) + 1


def is_numbered_in_capitals(line: Line | Paragraph) -> bool:
    """Whether this may be a heading like "2. METHODS" in the size and weight of body text."""
    numbered = NUMBERED.match(line.text) if len(line.text) <= MAX_GUESSED_HEADING else None
    return bool(numbered and numbered[0].rstrip().endswith(".") and is_upper(line.text[numbered.end() :]))


def _build_paragraph(lines: Sequence[Line], words: Counter[str]) -> Paragraph:
    is_table = lines[0].table > 0
    texts = list(_row_texts(lines, words) if is_table else _line_texts(lines, words))
    gaps = sum(line.gaps for line in lines)
    return Paragraph(
        text="".join(texts),
        pages=[line.page for line, text in zip(lines, texts, strict=True) for _ in text],
        size=median(line.size for line in lines),
        bold=not is_table and all(line.bold for line in lines),
        font=lines[0].font,
        gaps=max(TABLE_GAPS, gaps) if is_table else gaps,
        lines=len(lines),
        table=is_table,
    )


def _line_texts(lines: Sequence[Line], words: Counter[str]) -> Iterator[str]:
    """Yield the text of each line, with a space after it unless a word or a range continues on the next line."""
    for line, next_line in pairwise(lines):
        text = _HYPHENATED.sub(HYPHEN, line.text)
        if text.endswith(HYPHEN):
            text = text[:-1] + "-" * _keeps_hyphen(text, next_line.text, words)
        elif not (_RANGE.search(text) and next_line.text[0].isdigit()):
            text += " "
        yield text.replace(HYPHEN, "-")
    yield lines[-1].text.replace(HYPHEN, "-")


def _row_texts(rows: Sequence[Line], words: Counter[str]) -> Iterator[str]:
    """Yield the text of each row of a table, with a newline between rows; hyphenated words in cells are rejoined."""
    for row in rows:
        text, *parts = _BROKEN_IN_CELL.split(row.text)
        for part in parts:
            text += "-" * _keeps_hyphen(text + HYPHEN, part, words) + part
        yield text.replace(HYPHEN, "-") + ("\n" if row is not rows[-1] else "")


def _keeps_hyphen(before: str, after: str, words: Counter[str]) -> bool:
    """Whether a hyphen at the end of a line is part of the word: in "task-" and "specific", not "re-" and "sult"."""
    first_match = re.search(r"([\w-]+)\ufffe$", before)
    last_match = re.match(r"\w+", after)
    if _ADDRESS.search(before) or _REST_OF_ADDRESS.match(after):
        return True
    if first_match is None or last_match is None or re.match(r"\w+-\w", after):  # the last as in state-of-the-art
        return True
    first, last = first_match[1].lower(), last_match[0].lower()
    if words[f"{first}-{last}"] or not first[-1].isalpha() or not last[0].isalpha() or last_match[0][0].isupper():
        return True
    if words[first + last]:
        return False
    first = first.rpartition("-")[2]
    if _COMPOUND.match(f"{first}-{last}"):
        return True
    return min(len(first), len(last)) >= 3 and words[first] > 0 and words[last] > 0
