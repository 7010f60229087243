"""PDF by PDFium: text by page in reading order, the outline or large type as headings, places on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from corpus.files import Unreadable
from corpus.headings import heading_title
from corpus.readers.pdf_page import Box, read_page
from corpus.readers.pdf_text import Paragraph, body_lines, body_size, heading_levels, paragraphs
from corpus.readers.writer import Writer
from corpus.sentences import sentence_spans
from corpus.types import BlockKind, Reading

MAX_PAGES = 5000
_MEDIA_TYPE = "application/pdf"
# Less on a page than this is a number or a stamp.
_LEAST_CHARACTERS = 16
_NO_TITLE = re.compile(
    r"untitled|microsoft word|document\d*$|.*\.(?:docx?|dvi|tex|pdf|indd|qxd|pptx?|rtf|odt)$|[\W\d_]*$|title$",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"abstract|summary|introduction|contents|zusammenfassung|r[ée]sum[ée]|[\dIA]\.?\d*\s", re.IGNORECASE
)
_BULLET = re.compile(r"[•◦▪‣●○■□∙]\s*(?=\S)")


def read(path: str, data: bytes) -> Reading:
    """Read a PDF; see `corpus.readers`."""
    return _Text(data).writer.reading(_MEDIA_TYPE)


def boxes(data: bytes, spans: Sequence[tuple[int, int]]) -> list[list[tuple[int, float, float, float, float]]]:
    """Where spans of the text that `read` gives stand: for each, a box a line.

    Returns:
        Boxes as page (from 1), left, top, right, bottom, in points from the page's upper left corner.
    """
    text = _Text(data)
    return [list(text.boxes(start, end)) for start, end in spans]


class _Text:
    """The text of a PDF, and where its characters stand."""

    def __init__(self, data: bytes) -> None:
        self.writer = Writer()
        self._places: list[tuple[int, Paragraph, int]] = []
        document = _opened(data)
        try:
            if len(document) > MAX_PAGES:
                raise Unreadable(f"more than {MAX_PAGES:,} pages; split it into smaller files")
            sheets = [read_page(page, number) for number, page in enumerate(_pages(document))]
            outline = _outline(document)
            title = str(document.get_metadata_dict().get("Title", ""))
        finally:
            document.close()
        if sum(len(line.text) for sheet in sheets for line in sheet.lines) < _LEAST_CHARACTERS:
            raise Unreadable("no text in it: scanned, or pictures alone")
        self._heights = [sheet.height for sheet in sheets]
        lines = body_lines(sheets)
        found = list(paragraphs(lines))
        body = body_size(lines)
        first = _largest(found, body)
        self.writer.title = title.strip() if _is_title(title) else first.text if first else ""
        _mark(found, outline, body, first)
        self._write(found)

    def _write(self, found: Sequence[Paragraph]) -> None:
        page = -1
        for one in found:
            for start, end in _by_page(one):
                if one.pages[start] > page:
                    self.writer.page(one.pages[start] - page)
                    page = one.pages[start]
                mark = _BULLET.match(one.text, start, end)
                begin = mark.end() if mark else start
                at = self._add(one, one.text[begin:end], is_item=mark is not None)
                if at is not None:
                    self._places.append((at, one, begin))
        if page < len(self._heights) - 1:
            self.writer.page(len(self._heights) - 1 - page)

    def _add(self, one: Paragraph, text: str, *, is_item: bool) -> int | None:
        if one.level:
            return self.writer.heading(one.level, text)
        return self.writer.block(text, BlockKind.ITEM if is_item else BlockKind.PARAGRAPH)

    def boxes(self, start: int, end: int) -> Iterator[tuple[int, float, float, float, float]]:
        """One box a line, of the characters from `start` to `end`."""
        current: tuple[int, Box] | None = None
        for page, box in self._characters(start, end):
            if current is not None and current[0] == page and _same_line(current[1], box):
                left, bottom, right, top = current[1]
                current = page, (min(left, box[0]), min(bottom, box[1]), max(right, box[2]), max(top, box[3]))
                continue
            if current is not None:
                yield self._from_top(*current)
            current = page, box
        if current is not None:
            yield self._from_top(*current)

    def _characters(self, start: int, end: int) -> Iterator[tuple[int, Box]]:
        for i, (at, one, offset) in enumerate(self._places):
            stop = self._places[i + 1][0] if i + 1 < len(self._places) else end
            for k in range(max(start, at), min(end, stop)):
                place = k - at + offset
                if place < len(one.boxes) and (box := one.boxes[place]) is not None and box[2] > box[0]:
                    yield one.pages[place], box

    def _from_top(self, page: int, box: Box) -> tuple[int, float, float, float, float]:
        height = self._heights[page]
        left, bottom, right, top = box
        return page + 1, round(left, 1), round(height - top, 1), round(right, 1), round(height - bottom, 1)


def _same_line(line: Box, box: Box) -> bool:
    middle = (box[1] + box[3]) / 2
    return line[1] - 3 <= middle <= line[3] + 3 and box[0] >= line[0] - 1


def _opened(data: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locked = getattr(error, "err_code", None) in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        raise Unreadable("encrypted" if locked else "damaged: no PDF that can be opened") from error


def _pages(document: pypdfium2.PdfDocument) -> Iterator[Any]:
    for number in range(len(document)):
        try:
            page = document[number]
        except pypdfium2.PdfiumError as error:
            raise Unreadable(f"damaged: page {number + 1} cannot be opened") from error
        try:
            yield page
        finally:
            page.close()


def _outline(document: pypdfium2.PdfDocument) -> list[tuple[int, int, str]]:
    """The entries of the outline: level from 1, page from 0, title."""
    found = []
    for entry in document.get_toc(max_depth=6):
        goal = entry.get_dest()
        page = None if goal is None else goal.get_index()
        if page is not None:
            found.append((entry.level + 1, page, entry.get_title()))
    return found


def _is_title(title: str) -> bool:
    return 4 <= len(title.strip()) <= 300 and not _NO_TITLE.match(title.strip())


def _largest(found: Sequence[Paragraph], body: float) -> Paragraph | None:
    """The first page's largest type, where it is larger than the text."""
    first = [one for one in found if one.pages[0] == 0 and 4 <= len(one.text) <= 300 and one.size > 1.15 * body]
    # A single large word is likelier part of a figure or a letterhead.
    first = [one for one in first if len(one.text.split()) > 2] or [one for one in first if one.text.isalpha()]
    return max(first, key=lambda one: one.size) if first else None


def _mark(
    found: Sequence[Paragraph], outline: Sequence[tuple[int, int, str]], body: float, title: Paragraph | None
) -> None:
    """Say which paragraphs are headings: those that the outline names, else those that look like it."""
    named = {(page, _letters(text)): level for level, page, text in outline}
    levels = [named.get((one.pages[0], _letters(one.text)), 0) or _without_number(named, one) for one in found]
    if sum(map(bool, levels)) < max(2, len(outline) // 3):
        levels = heading_levels(found, body)
    above: Paragraph | None = None
    for one, level in zip(found, levels, strict=True):
        if above is not None and above is title and level and not _OPENING.match(one.text):
            continue  # who wrote it
        one.level = 1 if one is title else level + 1 if level and title is not None else level
        above = one


def _without_number(named: dict[tuple[int, str], int], one: Paragraph) -> int:
    if len(one.text) > 200 or not one.text[0].isalnum():
        return 0
    return named.get((one.pages[0], _letters(re.sub(r"^[\dA-Z.]+\s+", "", one.text))), 0)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, heading_title(text).lower()))[:60]


def _by_page(one: Paragraph) -> Iterator[tuple[int, int]]:
    """The paragraph cut behind the sentence in which a page ends."""
    start = 0
    if one.pages[0] != one.pages[-1]:
        turns = [i for i in range(1, len(one.pages)) if one.pages[i] != one.pages[i - 1]]
        begins = [begin for begin, _ in sentence_spans(one.text)]
        for turn in turns:
            cut = next((begin for begin in begins if begin >= turn), None)
            if cut is not None and cut > start:
                yield start, cut
                start = cut
    yield start, len(one.text)
