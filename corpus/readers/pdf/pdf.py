"""PDF by PDFium: text by page in reading order, the outline or large type as headings, places on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from corpus.errors import Unreadable
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.pdf.paragraphs import Paragraph, body_lines, body_size, heading_levels, is_table_head, paragraphs
from corpus.readers.pdf.reading_order import Sheet, read_page
from corpus.text.headings import heading_title
from corpus.text.sentences import sentence_spans
from corpus.types import BlockKind, Extracted, PageBox

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
# So many short lines that follow one another are the words and numbers of a figure, or the rows of a table.
_LEAST_SCRAPS, _SCRAP = 3, 40
_BULLET = re.compile(r"[•◦▪‣●○■□∙]\s*(?=\S)")


def read(path: str, data: bytes) -> Extracted:
    """Read a PDF; see `corpus.readers`."""
    return _Text(data).builder.build(_MEDIA_TYPE)


def boxes(data: bytes, wanted: Sequence[tuple[int, str]]) -> list[list[PageBox]]:
    """Where texts stand: for each the number of its page (from 1) and its words, a box a line.

    Only the letters and digits count, as hyphens and blanks are not those of the page; a text may end on the next
    page. What is not found has no boxes.
    """
    document = _opened(data)
    sheets: dict[int, Sheet] = {}
    try:
        for page in {page + more for page, _ in wanted for more in (-1, 0)}:
            if 0 <= page < len(document):
                sheets[page] = read_page(document[page], page)
    finally:
        document.close()
    return [list(_found(text, [sheets[n] for n in (page - 1, page) if n in sheets])) for page, text in wanted]


def _found(text: str, sheets: Sequence[Sheet]) -> Iterator[PageBox]:
    marks = [(sheet, line, i) for sheet in sheets for line in sheet.lines for i in _solid(line.text)]
    written = "".join(line.text[i].lower() for _, line, i in marks)
    letters = "".join(text[i].lower() for i in _solid(text))
    at = written.find(letters) if letters else -1
    if at < 0:
        return
    taken = marks[at : at + len(letters)]
    for (_, line), some in groupby(taken, key=lambda mark: (id(mark[1]), mark[1])):
        chosen = list(some)
        places = [line.boxes[i] for _, _, i in chosen]
        height = chosen[0][0].height
        yield (
            line.page + 1,
            round(min(box[0] for box in places), 1),
            round(height - max(box[3] for box in places), 1),
            round(max(box[2] for box in places), 1),
            round(height - min(box[1] for box in places), 1),
        )


def _solid(text: str) -> list[int]:
    """Where letters and digits stand that lower case leaves one character each."""
    return [i for i, letter in enumerate(text) if letter.isalnum() and len(letter.lower()) == 1]


class _Text:
    """The text of a PDF, put together."""

    def __init__(self, data: bytes) -> None:
        self.builder = DocumentBuilder()
        document = _opened(data)
        try:
            if len(document) > MAX_PAGES:
                raise Unreadable(f"more than {MAX_PAGES:,} pages; split it into smaller files")
            sheets = []
            for number, page in enumerate(_pages(document)):
                sheets.append(read_page(page, number))
                for line in sheets[-1].lines:
                    line.forget()
            outline = _outline(document)
            title = str(document.get_metadata_dict().get("Title", ""))
        finally:
            document.close()
        if sum(len(line.text) for sheet in sheets for line in sheet.lines) < _LEAST_CHARACTERS:
            raise Unreadable("no text in it: scanned, or pictures alone")
        self._page, self._pages = -1, len(sheets)
        lines = body_lines(sheets)
        found = list(paragraphs(lines))
        body = body_size(lines)
        first = _largest(found, body)
        self.builder.title = title.strip() if _is_title(title) else first.text if first else ""
        _mark(found, outline, body, first)
        self._write(found)

    def _write(self, found: Sequence[Paragraph]) -> None:
        for some in _gathered(found):
            one = some[0]
            if len(some) > 1:
                self._turn_to(one.pages[0])
                self.builder.block("\n".join(each.text for each in some), BlockKind.TABLE)
                continue
            for start, end in _by_page(one):
                self._turn_to(one.pages[start])
                mark = _BULLET.match(one.text, start, end)
                begin = mark.end() if mark else start
                self._add(one, one.text[begin:end], is_item=mark is not None)
        self._turn_to(self._pages - 1)

    def _turn_to(self, page: int) -> None:
        self.builder.page(max(0, page - self._page))
        self._page = max(page, self._page)

    def _add(self, one: Paragraph, text: str, *, is_item: bool) -> None:
        if one.level:
            self.builder.heading(one.level, text)
        else:
            self.builder.block(text, BlockKind.ITEM if is_item else BlockKind.PARAGRAPH)


def _opened(data: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locked = getattr(error, "err_code", None) in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        raise Unreadable("encrypted" if locked else "damaged or cut short: it cannot be opened as a PDF") from error


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
    first = [one for one in first if not is_table_head(one)]
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


def _gathered(found: Sequence[Paragraph]) -> Iterator[list[Paragraph]]:
    """Each paragraph by itself, and what stands in a figure or a ragged table together, as long as a page lasts."""
    for (scrap, _), group in groupby(found, key=lambda one: (_is_scrap(one), one.pages[0])):
        some = list(group)
        if scrap and len(some) >= _LEAST_SCRAPS:
            yield some
        else:
            yield from ([one] for one in some)


def _is_scrap(one: Paragraph) -> bool:
    return not one.level and one.lines == 1 and len(one.text) <= _SCRAP and not _BULLET.match(one.text)


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
