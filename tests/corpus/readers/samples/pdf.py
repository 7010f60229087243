"""A builder of PDFs that places words on pages."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

WIDTH, HEIGHT = 612, 792
# Widths of letters in Helvetica, in thousandths of its size; those not listed are 556.
_WIDTHS = {" ": 278, "i": 222, "l": 222, "t": 278, "f": 278, "j": 222, "r": 333, "m": 833, "w": 722, ".": 278, ",": 278}


@dataclass(frozen=True)
class Words:
    """Words at a place, in points from the page's lower left corner; the angle is in degrees."""

    x: float
    y: float
    text: str
    size: float = 10.0
    bold: bool = False
    hebrew: bool = False
    mono: bool = False
    angle: float = 0.0


@dataclass(frozen=True)
class Rule:
    """A line drawn across a page, or up to a height `top`."""

    x: float
    y: float
    right: float
    top: float | None = None


def width(text: str, size: float) -> float:
    return sum(_WIDTHS.get(letter, 556) for letter in text) * size / 1000


def column(x: float, top: float, text: str, *, room: float, size: float = 10.0) -> list[Words]:
    """A text broken into lines of width `room`; a word with a "~" is hyphenated there."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if "~" in word:
            first, last = word.split("~")
            lines.append(f"{line} {first}-".strip())
            line = last
        elif line and width(f"{line} {word}", size) > room:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    lines.append(line)
    return [Words(x, top - 1.2 * size * i, line, size) for i, line in enumerate(lines)]


def line(x: float, y: float, *parts: str, size: float = 10.0) -> list[Words]:
    """A line of which every second part is raised, like footnote marks and exponents."""
    words_of_line: list[Words] = []
    for number, part in enumerate(parts):
        part_size = 0.7 * size if number % 2 else size
        words_of_line.append(Words(x, y + 0.36 * size * (number % 2), part, part_size))
        x += width(part, part_size)
    return [words for words in words_of_line if words.text]


def make(
    pages: Sequence[Sequence[Words]],
    *,
    title: str = "",
    author: str = "",
    outline: Sequence[tuple[str, int]] = (),
    locked: bool = False,
    rules: Sequence[Sequence[Rule]] = (),
    entries: Sequence[Words] = (),
) -> bytes:
    """A PDF.

    Args:
        pages: The words on each page.
        title: The title in the metadata.
        author: The author in the metadata.
        outline: Titles and page numbers from 0.
        locked: Whether it needs a password.
        rules: The lines drawn on each page.
        entries: The words entered in the fields of a form on the first page.
    """
    objects = [b""] * 3  # catalogue, pages, metadata

    def add(content: bytes) -> int:
        objects.append(content)
        return len(objects)

    base = b"/Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding /BaseFont"
    fonts = [add(b"<< %s /%s >>" % (base, name)) for name in (b"Helvetica", b"Helvetica-Bold", b"Courier")]
    # In this font the letters a, b, c, … are alef, bet, gimel, …, and * is the bullet of the font Symbol.
    fonts.append(add(b"<< %s /Helvetica /ToUnicode %d 0 R >>" % (base, add(_stream(_HEBREW)))))
    names = b" ".join(b"/F%d %d 0 R" % font for font in enumerate(fonts))
    page_numbers: list[int] = []
    for words, page_rules in zip_longest(pages, rules, fillvalue=()):
        lines = [_drawn(word) for word in words]
        lines += [b"%g %g m %g %g l S" % (rule.x, rule.y, rule.right, rule.top or rule.y) for rule in page_rules]
        page = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R /Resources << /Font << %s >> >>%s >>"
        )
        fields = b"".join(b"%d 0 R " % add(_field(entry, add)) for entry in entries) if not page_numbers else b""
        annotations = b" /Annots [%s]" % fields if fields else b""
        page_numbers.append(add(page % (WIDTH, HEIGHT, add(_stream(b"\n".join(lines))), names, annotations)))
    top = add(b"<< /Type /Outlines /First %d 0 R /Last %d 0 R >>" % (len(objects) + 2, len(objects) + 1 + len(outline)))
    for number, (name, page_number) in enumerate(outline, top + 1):
        siblings = b"/Prev %d 0 R " % (number - 1) if number > top + 1 else b""
        siblings += b"/Next %d 0 R " % (number + 1) if number < top + len(outline) else b""
        destination = b"/Dest [%d 0 R /Fit]" % page_numbers[page_number]
        add(b"<< /Title (%s) /Parent %d 0 R %s%s >>" % (_escaped(name), top, siblings, destination))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R%s >>" % (b" /Outlines %d 0 R" % top if outline else b"")
    kids = b" ".join(b"%d 0 R" % number for number in page_numbers)
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages))
    objects[2] = b"<< /Title (%s) /Author (%s) >>" % (_escaped(title), _escaped(author))
    lock = b"<< /Filter /Standard /V 1 /R 2 /P -44 /O <%s> /U <%s> >>" % (b"41" * 32, b"42" * 32)
    return _file(objects, trailer=b" /Encrypt %d 0 R /ID [<00> <00>]" % add(lock) if locked else b"")


def _drawn(word: Words) -> bytes:
    cosine, sine = math.cos(math.radians(word.angle)), math.sin(math.radians(word.angle))
    matrix = b"%.6f %.6f %.6f %.6f %g %g" % (cosine, sine, -sine, cosine, word.x, word.y)
    return b"BT /F%d %g Tf %s Tm (%s) Tj ET" % (_font(word), word.size, matrix, _escaped(word.text))


def _field(entry: Words, add: Callable[[bytes], int]) -> bytes:
    """A field of a form, which draws what was entered."""
    box = b"%g %g %g %g" % (entry.x, entry.y - 4, entry.x + 200, entry.y + entry.size)
    head = b"/Type /XObject /Subtype /Form /BBox [%s] /Matrix [1 0 0 1 0 0]" % box
    drawn = add(_stream(_drawn(entry), head))
    return b"<< /Type /Annot /Subtype /Widget /FT /Tx /F 4 /Rect [%s] /AP << /N %d 0 R >> >>" % (box, drawn)


def _font(word: Words) -> int:
    return 3 if word.hebrew else 2 if word.mono else int(word.bold)


def _stream(content: bytes, head: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), head, content)


def _escaped(text: str) -> bytes:
    return re.sub(rb"([\\()])", rb"\\\1", text.encode("cp1252"))


def _file(objects: Sequence[bytes], *, trailer: bytes) -> bytes:
    data = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    xref = b"0000000000 65535 f \n"
    for number, content in enumerate(objects, 1):
        xref += b"%010d 00000 n \n" % len(data)
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    xref_start, size = len(data), len(objects) + 1
    data += b"xref\n0 %d\n%strailer\n<< /Size %d /Root 1 0 R /Info 3 0 R%s >>\n" % (size, xref, size, trailer)
    return bytes(data + b"startxref\n%d\n%%%%EOF\n" % xref_start)


_HEBREW = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /H def /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange
1 beginbfrange <61> <7a> <05D0> endbfrange
2 beginbfchar <20> <0020> <2a> <f0b7> endbfchar endcmap end end"""
