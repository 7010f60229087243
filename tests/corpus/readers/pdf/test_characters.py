"""The characters of a page, got from PDFium in few calls."""

from __future__ import annotations

import ctypes

import pypdfium2
import pypdfium2.raw as pdfium

from corpus.readers.pdf.page.characters import HYPHEN, characters
from tests.corpus.readers.samples.files import paper


def test_bulk_characters_and_boxes_match_one_by_one_calls() -> None:
    """The pages have broken words and Hebrew."""
    document = pypdfium2.PdfDocument(paper())
    broken = 0
    for number in range(len(document)):
        page = document[number].get_textpage()
        count = page.count_chars()
        text, boxes = characters(page.raw, count)
        codes = [pdfium.FPDFText_GetUnicode(page.raw, i) for i in range(count)]
        assert text == "".join(HYPHEN if code == 2 else chr(code) for code in codes)
        broken += text.count(HYPHEN)
        edges = [ctypes.c_double() for _ in range(4)]
        for i in range(count):
            pdfium.FPDFText_GetCharBox(page.raw, i, *map(ctypes.byref, edges))
            left, right, bottom, top = (edge.value for edge in edges)
            assert boxes[i] == (left, bottom, right, top)
    assert broken
