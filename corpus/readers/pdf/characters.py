"""The characters of a page of a PDF and where they stand, as PDFium has them."""

from __future__ import annotations

import ctypes
import re
from array import array
from collections import deque
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import repeat
from typing import Any

import pypdfium2.raw as pdfium

# Left, bottom, right, top in points from the page's lower left corner.
Box = tuple[float, float, float, float]

# Stands where a word was broken at the end of a line.
HYPHEN = "\ufffe"
# What the library gives for it.
_BROKEN = 2
# One character in so many is compared with what the library gives for it alone.
_CHECKED = 16
_UNSURE = re.compile(r"[\x00\x02\ufffd]")
_DOUBLE = ctypes.sizeof(ctypes.c_double)


def characters(page: Any, count: int) -> tuple[str, list[Box]]:
    """What stands on a page and where, without a step of the interpreter for each call: there are millions."""
    places = range(count)
    edges = array("d", bytes(4 * _DOUBLE * count))
    at, _ = edges.buffer_info()
    columns = (range(at + n * _DOUBLE, at + (n + 4 * count) * _DOUBLE, 4 * _DOUBLE) for n in range(4))
    deque(map(_box_of(), repeat(ctypes.cast(page, ctypes.c_void_p).value), places, *columns), maxlen=0)
    left, right, bottom, top = (edges[n::4] for n in range(4))
    return _letters(page, count), list(zip(left, bottom, right, top, strict=True))


def _letters(page: Any, count: int) -> str:
    """The characters of a page: all at once where each is one unit of what the library gives, else one by one."""
    units = (ctypes.c_ushort * (2 * count + 2))()
    if pdfium.FPDFText_GetText(page, 0, count, units) == count + 1:
        text = bytes(units)[: 2 * count].decode("utf-16-le", "replace")
        checked = range(0, count, _CHECKED)
        same = text[::_CHECKED] == "".join(_letter(pdfium.FPDFText_GetUnicode(page, i)) for i in checked)
        if len(text) == count and same and not _UNSURE.search(text):
            return text
    return "".join(_letter(pdfium.FPDFText_GetUnicode(page, i)) for i in range(count))


@cache
def _box_of() -> Callable[..., int]:
    """The library's function for the box of a character, which takes plain addresses: left, right, bottom, top."""
    address = ctypes.cast(pdfium.FPDFText_GetCharBox, ctypes.c_void_p).value
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 4)
    found: Callable[..., int] = kind(address or 0)
    return found


@lru_cache(4096)
def _letter(code: int) -> str:
    if code == _BROKEN:
        return HYPHEN
    if code == 0 or 0xD800 <= code < 0xE000:
        return "\ufffd"
    return chr(min(code, 0x10FFFF))
