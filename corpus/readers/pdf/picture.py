"""Render a page of a PDF as a picture."""

from __future__ import annotations

import struct
import zlib

import pypdfium2

from corpus.errors import Unreadable
from corpus.readers.pdf.ocr import pixel_rows
from corpus.readers.pdf.pdf import open_document
from corpus.types import PagePicture

# Pixels per point: sharp on high-density (2x) screens.
_SCALE = 2.0
# The most pixels of the longer side; larger pages are scaled down.
_MAX_PIXELS = 2400
_BITS, _RGB = 8, 2


def draw(data: bytes, page: int) -> PagePicture:
    """Draw a page, numbered from 1; raise `Unreadable` if it is missing or damaged."""
    document = open_document(data)
    try:
        if not 1 <= page <= len(document):
            raise Unreadable(f"has no page {page}")
        pdf_page = document[page - 1]
        width, height = pdf_page.get_size()
        bitmap = pdf_page.render(scale=min(_SCALE, _MAX_PIXELS / max(width, height, 1)), rev_byteorder=True)
        return PagePicture(width, height, len(document), _png(bitmap))
    except pypdfium2.PdfiumError as error:
        raise Unreadable(f"damaged: page {page} cannot be drawn") from error
    finally:
        document.close()


def _png(bitmap: pypdfium2.PdfBitmap) -> bytes:
    """Encode a bitmap with three bytes per pixel as PNG (https://www.w3.org/TR/png-3/)."""
    header = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, _BITS, _RGB, 0, 0, 0)
    # The byte before each row is its filter type: none.
    rows = b"".join(b"\0" + row for row in pixel_rows(bitmap))
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
