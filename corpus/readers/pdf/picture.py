"""A page of a PDF as a picture, for people to look at."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import pypdfium2

from corpus.errors import Unreadable
from corpus.readers.pdf.pdf import open_document
from corpus.types import PagePicture

# Dots a point: sharp on screens with two dots a pixel.
_SCALE = 2.0
# Of the longer side: larger pages are drawn smaller.
_MAX_DOTS = 2400
_BITS, _RGB = 8, 2


def draw(data: bytes, page: int) -> PagePicture:
    """Draw a page, from 1; `Unreadable` where there is no such page, or it is damaged."""
    document = open_document(data)
    try:
        if not 1 <= page <= len(document):
            raise Unreadable(f"has no page {page}")
        drawn = document[page - 1]
        width, height = drawn.get_size()
        bitmap = drawn.render(scale=min(_SCALE, _MAX_DOTS / max(width, height, 1)), rev_byteorder=True)
        return PagePicture(width, height, len(document), _png(bitmap))
    except pypdfium2.PdfiumError as error:
        raise Unreadable(f"damaged: page {page} cannot be drawn") from error
    finally:
        document.close()


def _png(bitmap: pypdfium2.PdfBitmap) -> bytes:
    """A bitmap with three bytes a dot as PNG (https://www.w3.org/TR/png-3/)."""
    head = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, _BITS, _RGB, 0, 0, 0)
    rows = memoryview(bytes(bitmap.buffer))
    packer = zlib.compressobj(6)
    packed = [packer.compress(row) for row in _rows(rows, bitmap.width * 3, bitmap.stride)]
    chunks = ((b"IHDR", head), (b"IDAT", b"".join((*packed, packer.flush()))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def _rows(dots: memoryview, width: int, stride: int) -> Iterator[bytes]:
    """Rows without a filter, as PNG has them."""
    return (b"\0" + bytes(dots[at : at + width]) for at in range(0, len(dots) - stride + 1, stride))
