"""A builder of PDFs that places words on pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 612, 792
# Widths of letters in Helvetica, in thousandths of its size; those not listed are 556.
_WIDTHS = {" ": 278, "i": 222, "l": 222, "t": 278, "f": 278, "j": 222, "r": 333, "m": 833, "w": 722, ".": 278, ",": 278}


@dataclass(frozen=True)
class Words:
    """Words at a place: points from the page's lower left corner."""

    x: float
    y: float
    text: str
    size: float = 10.0
    bold: bool = False
    hebrew: bool = False
    typed: bool = False


@dataclass(frozen=True)
class Rule:
    """A line drawn across a page."""

    x: float
    y: float
    right: float


def width(text: str, size: float) -> float:
    return sum(_WIDTHS.get(letter, 556) for letter in text) * size / 1000


def column(x: float, top: float, text: str, *, room: float, size: float = 10.0) -> list[Words]:
    """A text broken into lines; a word with a "~" is broken there with a hyphen."""
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
    return [Words(x, top - 1.2 * size * i, one, size) for i, one in enumerate(lines)]


def line(x: float, y: float, *parts: str, size: float = 10.0) -> list[Words]:
    """One line; every second part is raised, like marks of notes and exponents."""
    found: list[Words] = []
    for number, part in enumerate(parts):
        own = 0.7 * size if number % 2 else size
        found.append(Words(x, y + 0.36 * size * (number % 2), part, own))
        x += width(part, own)
    return [one for one in found if one.text]


def make(
    pages: Sequence[Sequence[Words]],
    *,
    title: str = "",
    author: str = "",
    outline: Sequence[tuple[str, int]] = (),
    locked: bool = False,
    rules: Sequence[Sequence[Rule]] = (),
) -> bytes:
    """A PDF.

    Args:
        pages: The words on each page.
        title: The title in the metadata.
        author: The author there.
        outline: Titles and page numbers from 0.
        locked: Whether it asks for a password that nobody knows.
        rules: The lines drawn on each page.
    """
    objects: dict[int, bytes] = {}
    first_page = 10
    typed = first_page + 2 * len(pages) + len(outline)
    kids = " ".join(f"{first_page + 2 * i} 0 R" for i in range(len(pages)))
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    base = "/Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding"
    objects[3] = f"<< {base} /BaseFont /Helvetica >>".encode()
    objects[4] = f"<< {base} /BaseFont /Helvetica-Bold >>".encode()
    # In this font the letters a, b, c, … are alef, bet, gimel, …, and * is the bullet of the font Symbol.
    objects[9] = f"<< {base} /BaseFont /Helvetica /ToUnicode 5 0 R >>".encode()
    objects[typed] = f"<< {base} /BaseFont /Courier >>".encode()
    objects[5] = _stream(_HEBREW.encode())
    objects[6] = b"<< /Title (%s) /Author (%s) >>" % (_escaped(title), _escaped(author))
    first_entry = first_page + 2 * len(pages)
    entries = [first_entry + i for i in range(len(outline))]
    for i, page in enumerate(pages):
        content = b"\n".join(
            b"BT /F%d %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET" % (_font(one), one.size, one.x, one.y, _escaped(one.text))
            for one in page
        )
        content += b"".join(
            b"\n%g %g m %g %g l S" % (one.x, one.y, one.right, one.y) for one in [*rules[i : i + 1], ()][0]
        )
        objects[first_page + 2 * i] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {first_page + 2 * i + 1} 0 R "
            f"/Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 9 0 R /F4 {typed} 0 R >> >> >>"
        ).encode()
        objects[first_page + 2 * i + 1] = _stream(content)
    for place, (number, (words, page_number)) in enumerate(zip(entries, outline, strict=True)):
        following = f"/Next {entries[place + 1]} 0 R " if place + 1 < len(entries) else ""
        before = f"/Prev {entries[place - 1]} 0 R " if place else ""
        goal = f"/Dest [{first_page + 2 * page_number} 0 R /Fit]"
        objects[number] = b"<< /Title (%s) /Parent 7 0 R %s%s%s >>" % (
            _escaped(words),
            following.encode(),
            before.encode(),
            goal.encode(),
        )
    listed = "/Outlines 7 0 R" if outline else ""
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R {listed} >>".encode()
    if outline:
        ends = f"/First {entries[0]} 0 R /Last {entries[-1]} 0 R"
        objects[7] = f"<< /Type /Outlines {ends} /Count {len(entries)} >>".encode()
    if locked:
        objects[8] = b"<< /Filter /Standard /V 1 /R 2 /P -44 /O <%s> /U <%s> >>" % (b"41" * 32, b"42" * 32)
    return _file(objects, locked=locked)


def _font(one: Words) -> int:
    return 3 if one.hebrew else 4 if one.typed else 2 if one.bold else 1


def _stream(content: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


def _escaped(text: str) -> bytes:
    data = text.encode("cp1252")
    return data.replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)")


def _file(objects: dict[int, bytes], *, locked: bool) -> bytes:
    found = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places = {}
    for number in sorted(objects):
        places[number] = len(found)
        found += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    start = len(found)
    size = max(objects) + 1
    found += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        found += b"%010d 00000 %s \n" % (places.get(number, 0), b"n" if number in places else b"f")
    lock = b" /Encrypt 8 0 R /ID [<00> <00>]" if locked else b""
    found += b"trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R%s >>\nstartxref\n%d\n%%%%EOF\n" % (size, lock, start)
    return bytes(found)


_HEBREW = """/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /H def /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange
1 beginbfrange <61> <7a> <05D0> endbfrange
2 beginbfchar <20> <0020> <2a> <f0b7> endbfchar endcmap end end"""
