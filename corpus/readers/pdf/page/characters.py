"""The characters of a PDF's page and their boxes, in few calls to PDFium."""

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

# Stands for the hyphen of a word broken at the end of a line; PDFium's code for it is 2.
HYPHEN = "\ufffe"
_PDFIUM_HYPHEN = 2
# Interval, in characters, at which the bulk text is checked against PDFium's result for a single character.
_CHECK_EVERY = 16
_UNSURE = re.compile(r"[\x00\x02\ufffd]")
_DOUBLE = ctypes.sizeof(ctypes.c_double)


def read_characters(page: Any, count: int) -> tuple[str, list[Box]]:
    """Return the characters of a text page and their boxes.

    A book has millions, so `map` makes the calls for boxes, without interpreter steps in between.
    """
    edges = array("d", bytes(4 * _DOUBLE * count))
    at, _ = edges.buffer_info()
    columns = (range(at + n * _DOUBLE, at + (n + 4 * count) * _DOUBLE, 4 * _DOUBLE) for n in range(4))
    deque(map(_get_box(), repeat(ctypes.cast(page, ctypes.c_void_p).value), range(count), *columns), maxlen=0)
    left, right, bottom, top = (edges[n::4] for n in range(4))
    return _read_letters(page, count), list(zip(left, bottom, right, top, strict=True))


def _read_letters(page: Any, count: int) -> str:
    """Read all characters at once if each is one UTF-16 unit, else one by one."""
    units = (ctypes.c_ushort * (2 * count + 2))()
    if pdfium.FPDFText_GetText(page, 0, count, units) == count + 1:
        text = bytes(units)[: 2 * count].decode("utf-16-le", "replace")
        sample = range(0, count, _CHECK_EVERY)
        is_same = text[::_CHECK_EVERY] == "".join(_letter_of(pdfium.FPDFText_GetUnicode(page, i)) for i in sample)
        if len(text) == count and is_same and not _UNSURE.search(text):
            return text
    return "".join(_letter_of(pdfium.FPDFText_GetUnicode(page, i)) for i in range(count))


@cache
def _get_box() -> Callable[..., int]:
    """`FPDFText_GetCharBox` with plain addresses for left, right, bottom, top."""
    address = ctypes.cast(pdfium.FPDFText_GetCharBox, ctypes.c_void_p).value
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 4)
    function: Callable[..., int] = prototype(address or 0)
    return function


@lru_cache(4096)
def _letter_of(code: int) -> str:
    if code == _PDFIUM_HYPHEN:
        return HYPHEN
    if code == 0 or 0xD800 <= code < 0xE000:
        return "\ufffd"
    return chr(min(code, 0x10FFFF))
