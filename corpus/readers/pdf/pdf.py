"""PDF by PDFium: text by page in reading order, headings by the outline or else by large type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from operator import itemgetter

import pypdfium2
import pypdfium2.raw as pdfium

from corpus.errors import Unreadable
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.pdf.headings import heading_levels
from corpus.readers.pdf.ocr import find_languages, note_on, read_page_of_scan, read_scans, scanned_pages
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.paragraphs import (
    BULLETS,
    TABLE_GAPS,
    Paragraph,
    body_lines,
    body_size,
    paragraphs,
)
from corpus.readers.pdf.reading_order import PageLines, read_page
from corpus.text.headings import MAX_HEADING, could_be_heading, heading_title
from corpus.text.sentences import sentence_spans
from corpus.types import BlockKind, Extracted

MAX_PAGES = 5000
# Fewer on all pages are a number or a stamp.
_MIN_CHARACTERS = 16
_NO_TITLE = re.compile(
    r"untitled|microsoft word|document\d*$|.*\.(?:docx?|dvi|tex|pdf|indd|qxd|pptx?|rtf|odt)$|[\W\d_]*$|title$",
    re.IGNORECASE,
)
# What may follow the title; anything else in a heading's type names the authors.
_OPENING = re.compile(
    r"abstract|summary|introduction|contents|zusammenfassung|r[ée]sum[ée]|[\dIA]\.?\d*\s", re.IGNORECASE
)
# Marks of notes behind a title.
_NOTE_MARKS = re.compile(r"[\s*∗⋆†‡§,]+$")
# The first paragraphs of a page; how much larger than the text, and than all else, a short title is.
_TOP, _LARGE, _LARGER = 4, 1.5, 1.25
# Parts of a title, and how much they differ in size.
_MAX_PARTS, _SAME = 3, 0.05
# So many lines in a row, each so short, are the labels of a figure or a ragged table.
_MIN_SCRAPS, _SCRAP = 3, 40
_BULLET = re.compile(rf"[{BULLETS}]\s*(?=\S)")
# Level from 1, page from 0, title.
_Outline = list[tuple[int, int, str]]


def read(path: str, data: bytes) -> Extracted:
    """Read a PDF; see `corpus.readers`."""
    document = open_document(data)
    try:
        pages = list(_read_pages(document))
        if sum(len(line.text) for page in pages for line in page.lines) < _MIN_CHARACTERS:
            return read_scans(document)
        outline = _read_outline(document)
        title = str(document.get_metadata_dict().get("Title", "")).strip()
        lines = body_lines(pages)
        body = body_size(lines)
        note = _add_scans(document, pages, lines, body)
    finally:
        document.close()
    found = list(paragraphs(lines))
    largest = _largest(found, body)
    _set_levels(found, outline, body, largest)
    builder = DocumentBuilder()
    _write(builder, found, len(pages))
    title = title if _is_plausible(title, found) else _printed_title(found, largest)
    return builder.build("application/pdf", note=note, title=title)


def open_document(data: bytes) -> pypdfium2.PdfDocument:
    """Open a PDF; one that is encrypted or damaged raises `Unreadable`."""
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locked = getattr(error, "err_code", None) in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        raise Unreadable("encrypted" if locked else "damaged or truncated: cannot be opened as a PDF") from error


def _read_pages(document: pypdfium2.PdfDocument) -> Iterator[PageLines]:
    if len(document) > MAX_PAGES:
        raise Unreadable(f"more than {MAX_PAGES:,} pages; split it into smaller files")
    for number in range(len(document)):
        try:
            page = document[number]
        except pypdfium2.PdfiumError as error:
            raise Unreadable(f"damaged: page {number + 1} cannot be opened") from error
        try:
            found = read_page(page, number)
        finally:
            page.close()
        for line in found.lines:
            line.boxes.clear()  # a book has millions
        yield found


def _add_scans(
    document: pypdfium2.PdfDocument, pages: Sequence[PageLines], lines: list[list[Line]], size: float
) -> str:
    """Read the pages that are pictures, where Tesseract is installed; return what is to be said about them."""
    scans = scanned_pages(document, [number for number, page in enumerate(pages) if not page.lines])
    languages = find_languages() if scans else ""
    for number in scans if languages else ():
        for place, text in enumerate(read_page_of_scan(document, number, languages)):
            # Far enough apart that each is a paragraph.
            bottom = -10 * size * place
            boxes = [(0.0, bottom, size, bottom + size)] * len(text)
            lines[number].append(Line(text, boxes, size, bold=False, page=number))
    return note_on(scans, len(pages), languages)


def _read_outline(document: pypdfium2.PdfDocument) -> _Outline:
    found = []
    for entry in document.get_toc(max_depth=6):
        target = entry.get_dest()
        page = None if target is None else target.get_index()
        if page is not None:
            found.append((entry.level + 1, page, entry.get_title()))
    return found


def _largest(found: Sequence[Paragraph], body: float) -> Paragraph | None:
    """The first page's largest type, where it is larger than the text."""
    first = [one for one in found if one.pages[0] == 0 and 4 <= len(one.text) <= 300 and one.size > 1.15 * body]
    first = [one for one in first if one.gaps < TABLE_GAPS and any(map(str.isalpha, one.text))]
    # A large word or two are more likely part of a figure or a letterhead, but at the top the title of a manual.
    few = [one for one in first if len(one.text.split()) <= 2]
    first = [one for one in first if one not in few]
    top = _first_of_largest([one for one in few if one in found[:_TOP]])
    largest = _first_of_largest(first)
    if top is not None and top.size > max(_LARGE * body, _LARGER * (largest.size if largest else 0)):
        return top
    return largest or next((one for one in few if one.text.isalpha()), None)


def _first_of_largest(some: Sequence[Paragraph]) -> Paragraph | None:
    """The first in the largest type, whose size differs a little from one paragraph to the next."""
    least = (1 - _SAME) * max((one.size for one in some), default=0.0)
    return next((one for one in some if one.size >= least), None)


def _is_plausible(title: str, found: Sequence[Paragraph]) -> bool:
    """Whether a title in the metadata is one: no name of a file or program, and of one word only if it is on page 1."""
    if not 4 <= len(title) <= 300 or _NO_TITLE.match(title):
        return False
    return len(title.split()) > 1 or any(_letters(title) in _letters(one.text) for one in found if one.pages[0] == 0)


def _printed_title(found: Sequence[Paragraph], largest: Paragraph | None) -> str:
    """The largest type with its neighbours in the same type, else a bold line at the top, else ""."""
    if largest is None:
        bold = (one for one in found[:_TOP] if one.bold and one.pages[0] == 0 and could_be_heading(one.text))
        text = next((one.text for one in bold if len(one.text.split()) > 2), "")
        return _NOTE_MARKS.sub("", text)
    at = next(i for i, one in enumerate(found) if one is largest)
    near = [one for one in found[: at + _MAX_PARTS] if one.pages[0] == 0]
    alike = [abs(one.size - largest.size) < _SAME * largest.size for one in near]
    first = at
    while first and alike[first - 1]:
        first -= 1
    parts = takewhile(itemgetter(1), zip(near[first:], alike[first:], strict=True))
    text = " ".join(one.text for one, _ in parts)
    return _NOTE_MARKS.sub("", text if len(text) <= MAX_HEADING else largest.text)


def _set_levels(found: Sequence[Paragraph], outline: _Outline, body: float, title: Paragraph | None) -> None:
    """Mark as headings the paragraphs that the outline names, else those that look like headings."""
    named = {(page, _letters(text)): level for level, page, text in outline}
    levels = [named.get((one.pages[0], _letters(one.text)), 0) or _without_number(named, one) for one in found]
    if sum(map(bool, levels)) < max(2, len(outline) // 3):
        levels = heading_levels(found, body)
    above: Paragraph | None = None
    for one, level in zip(found, levels, strict=True):
        if above is not None and above is title and level and not _OPENING.match(one.text):
            continue
        one.level = 1 if one is title else level + 1 if level and title is not None else level
        above = one


def _without_number(named: dict[tuple[int, str], int], one: Paragraph) -> int:
    if len(one.text) > 200 or not one.text[0].isalnum():
        return 0
    return named.get((one.pages[0], _letters(re.sub(r"^[\dA-Z.]+\s+", "", one.text))), 0)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, heading_title(text).lower()))[:60]


def _write(builder: DocumentBuilder, found: Sequence[Paragraph], pages: int) -> None:
    current = -1

    def turn_to(page: int) -> None:
        nonlocal current
        builder.page(max(0, page - current))
        current = max(page, current)

    for group in _grouped(found):
        first = group[0]
        if len(group) > 1:
            turn_to(first.pages[0])
            builder.block("\n".join(one.text for one in group), BlockKind.TABLE)
            continue
        if first.table:
            for page, part in groupby(zip(first.pages, first.text, strict=True), key=itemgetter(0)):
                turn_to(page)
                builder.table_part("".join(letter for _, letter in part), first=page == first.pages[0])
            continue
        for start, end in _by_page(first):
            turn_to(first.pages[start])
            mark = _BULLET.match(first.text, start, end)
            text = first.text[mark.end() if mark else start : end]
            if first.level:
                builder.heading(first.level, text)
            else:
                builder.block(text, BlockKind.ITEM if mark else BlockKind.PARAGRAPH)
    turn_to(pages - 1)


def _grouped(found: Sequence[Paragraph]) -> Iterator[list[Paragraph]]:
    """Each paragraph by itself, but the scraps of a figure or a ragged table on a page together."""
    for (scrap, _), group in groupby(found, key=lambda one: (_is_scrap(one), one.pages[0])):
        some = list(group)
        if scrap and len(some) >= _MIN_SCRAPS:
            yield some
        else:
            yield from ([one] for one in some)


def _is_scrap(one: Paragraph) -> bool:
    return (
        not one.level and not one.table and one.lines == 1 and len(one.text) <= _SCRAP and not _BULLET.match(one.text)
    )


def _by_page(one: Paragraph) -> Iterator[tuple[int, int]]:
    """The spans of a paragraph on each page, cut behind the sentence in which a page ends."""
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
