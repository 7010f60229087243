"""PDF by PDFium: text by page in reading order, headings by the outline or else by number and font."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, takewhile
from operator import itemgetter

import pypdfium2
import pypdfium2.raw as pdfium

from corpus.errors import Unreadable
from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.pdf.headings import heading_levels
from corpus.readers.pdf.ocr import read_scans
from corpus.readers.pdf.page.line import Line
from corpus.readers.pdf.paragraphs import BULLETS, MAX_SCRAP, NUMBERED, TABLE_GAPS, Paragraph, join_paragraphs
from corpus.readers.pdf.reading_order import PageLines, read_page
from corpus.readers.pdf.running_heads import body_size, split_running_heads
from corpus.text.headings import MAX_HEADING, could_be_heading, heading_title
from corpus.text.sentences import iter_sentences
from corpus.types import BlockKind, Extracted

MAX_PAGES = 5000
# Fewer characters in a whole document are a page number or a stamp.
_MIN_CHARACTERS = 16
# Fewer characters on a page may be stamped on a scan.
_MIN_ON_PAGE = 40
_BAD_TITLE = re.compile(
    r"untitled|microsoft word|document\d*$|.*\.(?:docx?|dvi|tex|pdf|indd|qxd|pptx?|rtf|odt)$|[\W\d_]*$|title$",
    re.IGNORECASE,
)
# Headings that may directly follow the title; others there, in a heading's type, are the authors.
_FIRST_HEADINGS = re.compile(
    r"abstract|summary|introduction|contents|zusammenfassung|r[ée]sum[ée]|[\dIA]\.?\d*\s", re.IGNORECASE
)
# A page number in a running head, with the separators around it.
_PAGE_NUMBER = re.compile(r"[\s|,·–—-]*\bpage\s+\d{1,4}(?:\s*(?:/|of)\s*\d{1,4})?\b[\s|,·–—-]*", re.IGNORECASE)
# Footnote marks after a title.
_NOTE_MARKS = re.compile(r"[\s*∗⋆†‡§,]+$")
# How many paragraphs are the top of a page; how many times larger a short title is than the text, and than others.
_TOP, _LARGE, _LARGER = 4, 1.5, 1.25
# The most paragraphs of a title, and the largest relative difference in their sizes.
_MAX_PARTS, _SAME = 3, 0.05
# At least this many short lines in a row are the labels of a figure or a ragged table.
_MIN_SCRAPS = 3
_BULLET = re.compile(rf"[{BULLETS}]\s*(?=\S)")
# In characters: the longest list of authors or keywords.
_MAX_FIELD = 1000
# Level from 1, page from 0, title.
_Outline = list[tuple[int, int, str]]


def read(path: str, data: bytes) -> Extracted:
    """Read a PDF; see `corpus.readers`."""
    document = open_document(data)
    try:
        pages = list(_read_pages(document))
        is_scan = sum(len(line.text) for page in pages for line in page.lines) < _MIN_CHARACTERS
        if is_scan:
            pages = [replace(page, lines=()) for page in pages]
        outline = _read_outline(document)
        info = {name.lower(): one_line(str(value)) for name, value in document.get_metadata_dict().items()}
        lines, heads = split_running_heads(pages)
        body = body_size(lines)
        lengths = [sum(len(line.text) for line in page.lines) for page in pages]
        bare = [number for number, length in enumerate(lengths) if length < _MIN_ON_PAGE]
        scans, note = read_scans(document, bare, is_scan=is_scan)
    finally:
        document.close()
    for number, texts in scans.items():
        lines[number] += _scan_lines(texts, number, body)
    paras = list(join_paragraphs(lines))
    largest = _find_largest(paras, body)
    _set_levels(paras, outline, body, largest)
    builder = DocumentBuilder()
    _write_paragraphs(builder, _insert_heads(paras, heads, largest), len(pages))
    builder.metadata = tuple((name, info[name][:_MAX_FIELD]) for name in ("author", "keywords") if info.get(name))
    title = "" if is_scan else info.get("title", "")
    title = title if _is_plausible_title(title, paras) else _printed_title(paras, largest)
    return builder.build("application/pdf", note=note, title=title)


def open_document(data: bytes) -> pypdfium2.PdfDocument:
    """Open a PDF; raise `Unreadable` if it is encrypted or damaged."""
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        is_encrypted = getattr(error, "err_code", None) in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        raise Unreadable("encrypted" if is_encrypted else "damaged or truncated: cannot be opened as a PDF") from error


def open_page(document: pypdfium2.PdfDocument, number: int) -> pypdfium2.PdfPage:
    """Return a page, numbered from 0, whose text includes the entries in a form and the notes typed on it."""
    page = document[number]
    if any(_has_text(page, at) for at in range(pdfium.FPDFPage_GetAnnotCount(page.raw))):
        pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY)
        page.close()
        page = document[number]
    return page


def _has_text(page: pypdfium2.PdfPage, at: int) -> bool:
    annotation = pdfium.FPDFPage_GetAnnot(page.raw, at)
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    pdfium.FPDFPage_CloseAnnot(annotation)
    return kind in (pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT)


def _read_pages(document: pypdfium2.PdfDocument) -> Iterator[PageLines]:
    if len(document) > MAX_PAGES:
        raise Unreadable(f"more than {MAX_PAGES:,} pages; split it into smaller files")
    for number in range(len(document)):
        try:
            page = open_page(document, number)
        except pypdfium2.PdfiumError as error:
            raise Unreadable(f"damaged: page {number + 1} cannot be opened") from error
        try:
            page_lines = read_page(page, number)
        finally:
            page.close()
        for line in page_lines.lines:
            line.boxes.clear()  # a book has millions
        yield page_lines


def _scan_lines(texts: Sequence[str], page: int, size: float) -> Iterator[Line]:
    """Yield each recognised paragraph as a line, far enough apart that they stay separate paragraphs."""
    for place, text in enumerate(texts):
        bottom = -10 * size * place
        yield Line(text, [(0.0, bottom, size, bottom + size)] * len(text), size, bold=False, page=page)


def _read_outline(document: pypdfium2.PdfDocument) -> _Outline:
    outline = []
    for entry in document.get_toc(max_depth=6):
        target = entry.get_dest()
        page = None if target is None else target.get_index()
        if page is not None:
            outline.append((entry.level + 1, page, entry.get_title()))
    return outline


def _find_largest(paras: Sequence[Paragraph], body: float) -> Paragraph | None:
    """Return the first page's paragraph in the largest type, if that is larger than the body text."""
    large = [para for para in paras if para.pages[0] == 0 and 4 <= len(para.text) <= 300 and para.size > 1.15 * body]
    large = [para for para in large if para.gaps < TABLE_GAPS and any(map(str.isalpha, para.text))]
    # Headings such as "1 Introduction" and "2 Method" are not titles.
    sections = Counter(para.type for para in paras if NUMBERED.match(para.text))
    large = [para for para in large if not NUMBERED.match(para.text) or sections[para.type] < 2]
    # One or two large words are likely part of a figure or letterhead, but at the top the title of a manual.
    short = [para for para in large if len(para.text.split()) <= 2]
    largest = _first_of_largest([para for para in large if para not in short])
    top = _first_of_largest([para for para in short if para in paras[:_TOP]])
    if top is not None and top.size > max(_LARGE * body, _LARGER * (largest.size if largest else 0)):
        return top
    is_alone = largest is None and short and short[0] is paras[0] and short[0].text.replace(" ", "").isalpha()
    return short[0] if is_alone else largest


def _first_of_largest(paras: Sequence[Paragraph]) -> Paragraph | None:
    """Return the first paragraph in the largest type, whose measured size varies a little."""
    min_size = (1 - _SAME) * max((para.size for para in paras), default=0.0)
    return next((para for para in paras if para.size >= min_size), None)


def _is_plausible_title(title: str, paras: Sequence[Paragraph]) -> bool:
    """Whether this is a real title rather than a file or program name; a single word must also be on page 1."""
    if not 4 <= len(title) <= 300 or _BAD_TITLE.match(title):
        return False
    return len(title.split()) > 1 or any(_key(title) in _key(para.text) for para in paras if para.pages[0] == 0)


def _printed_title(paras: Sequence[Paragraph], largest: Paragraph | None) -> str:
    """Return the text in the largest type, over several paragraphs, else a bold line at the top, else ""."""
    if largest is None:
        bold = (para for para in paras[:_TOP] if para.bold and para.pages[0] == 0 and could_be_heading(para.text))
        bold = (para for para in bold if not para.text[0].isdigit())
        text = next((para.text for para in bold if len(para.text.split()) > 2), "")
        return _NOTE_MARKS.sub("", text)
    at = next(i for i, para in enumerate(paras) if para is largest)
    candidates = [para for para in paras[: at + _MAX_PARTS] if para.pages[0] == 0]
    same_size = [
        abs(para.size - largest.size) < _SAME * largest.size and (para is largest or not para.text[0].isdigit())
        for para in candidates
    ]
    first = at
    while first and same_size[first - 1]:
        first -= 1
    parts = takewhile(itemgetter(1), zip(candidates[first:], same_size[first:], strict=True))
    text = " ".join(para.text for para, _ in parts)
    return _NOTE_MARKS.sub("", text if len(text) <= MAX_HEADING else largest.text)


def _set_levels(paras: Sequence[Paragraph], outline: _Outline, body: float, title: Paragraph | None) -> None:
    """Mark as headings the paragraphs that the outline names, else those that look like headings."""
    named = {(page, _key(text)): level for level, page, text in outline}
    levels = [named.get((para.pages[0], _key(para.text)), 0) or _unnumbered_level(named, para) for para in paras]
    if sum(map(bool, levels)) < max(2, len(outline) // 3):
        levels = heading_levels(paras, body)
    previous: Paragraph | None = None
    for para, level in zip(paras, levels, strict=True):
        if previous is not None and previous is title and level and not _FIRST_HEADINGS.match(para.text):
            continue
        para.level = 1 if para is title else level + 1 if level and title is not None else level
        previous = para


def _unnumbered_level(named: dict[tuple[int, str], int], para: Paragraph) -> int:
    if len(para.text) > 200 or not para.text[0].isalnum():
        return 0
    return named.get((para.pages[0], _key(re.sub(r"^[\dA-Z.]+\s+", "", para.text))), 0)


def _key(text: str) -> str:
    return "".join(filter(str.isalnum, heading_title(text).lower()))[:60]


def _insert_heads(paras: Sequence[Paragraph], heads: Sequence[Line], title: Paragraph | None) -> list[Paragraph]:
    """Return the paragraphs with running heads inserted, without page numbers.

    Heads of the first page come after the title, if there is one. Others come after the paragraphs that end on their
    page, but not directly below a heading.
    """
    items = list(paras)
    at_title = next((i for i, para in enumerate(items) if para is title), 0)
    # The title may have several paragraphs.
    below_title = at_title + sum(1 for _ in takewhile(lambda para: title and para.type == title.type, items[at_title:]))
    for head in chain.from_iterable(join_paragraphs([[line]]) for line in heads):
        head.text = _PAGE_NUMBER.sub("", head.text)
        head.pages = head.pages[: len(head.text)]
        if not head.text:
            continue
        if title is not None and head.pages[0] == 0:
            items.insert(below_title, head)
            below_title += 1
            continue
        at = next((i for i, para in enumerate(items) if para.pages[-1] > head.pages[0]), len(items))
        while at and items[at - 1].level:
            at -= 1
        if at < len(items) and items[at].pages[0] < head.pages[0]:
            head.pages = [items[at].pages[0]] * len(head.pages)  # pages are in order
        items.insert(at, head)
    return items


def _write_paragraphs(builder: DocumentBuilder, paras: Sequence[Paragraph], pages: int) -> None:
    current = -1

    def turn_to(page: int) -> None:
        nonlocal current
        builder.page(max(0, page - current))
        current = max(page, current)

    for group in _group_scraps(paras):
        first = group[0]
        if len(group) > 1:
            turn_to(first.pages[0])
            builder.block("\n".join(para.text for para in group), BlockKind.TABLE)
            continue
        if first.table:
            for page, part in groupby(zip(first.pages, first.text, strict=True), key=itemgetter(0)):
                turn_to(page)
                builder.table_part("".join(letter for _, letter in part), first=page == first.pages[0])
            continue
        for start, end in _page_spans(first):
            turn_to(first.pages[start])
            mark = _BULLET.match(first.text, start, end)
            text = first.text[mark.end() if mark else start : end]
            if first.level:
                builder.heading(first.level, text)
            else:
                builder.block(text, BlockKind.ITEM if mark else BlockKind.PARAGRAPH)
    turn_to(pages - 1)


def _group_scraps(paras: Sequence[Paragraph]) -> Iterator[list[Paragraph]]:
    """Yield the scraps of a figure or ragged table on a page as one group, and each other paragraph alone."""
    for (are_scraps, _), neighbours in groupby(paras, key=lambda para: (_is_scrap(para), para.pages[0])):
        run = list(neighbours)
        if are_scraps and len(run) >= _MIN_SCRAPS:
            yield run
        else:
            yield from ([para] for para in run)


def _is_scrap(para: Paragraph) -> bool:
    is_plain_line = not para.level and not para.table and para.lines == 1
    return is_plain_line and len(para.text) <= MAX_SCRAP and not _BULLET.match(para.text)


def _page_spans(para: Paragraph) -> Iterator[tuple[int, int]]:
    """Yield the span of a paragraph on each page, cut after the sentence in which a page ends."""
    start = 0
    if para.pages[0] != para.pages[-1]:
        page_starts = [i for i in range(1, len(para.pages)) if para.pages[i] != para.pages[i - 1]]
        sentence_starts = [begin for begin, _ in iter_sentences(para.text)]
        for page_start in page_starts:
            cut = next((begin for begin in sentence_starts if begin >= page_start), None)
            if cut is not None and cut > start:
                yield start, cut
                start = cut
    yield start, len(para.text)
