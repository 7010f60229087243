"""Bombs, loops, locks and wrong names: cases 46 and 65 to 68 of the list, for every format that they can befall."""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES
from corpus.loading.load import parse
from corpus.loading.sandbox import Sandbox
from corpus.readers.office.zip_archive import MAX_PART
from corpus.types import Document
from tests.corpus.readers.samples import archives, pdf
from tests.corpus.readers.samples.files import SAMPLES

FILES = {sample.path: sample.data for sample in SAMPLES}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as one:
        yield one


def reason(sandbox: Sandbox, path: str, data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        parse(path, data, sandbox=sandbox)
    return caught.value.reason


def book(**chapters: str | bytes) -> bytes:
    return archives.pack({"mimetype": "application/epub+zip", **chapters})


def test_a_part_that_unpacks_to_too_much_is_refused(sandbox: Sandbox) -> None:
    """A hundred kilobytes of zip for a hundred megabytes of XML."""
    data = archives.docx(" " * (3 * MAX_PART))
    assert len(data) < 200_000
    assert reason(sandbox, "bomb.docx", data) == "unpacks to more than may be read"


def test_the_size_that_an_archive_claims_is_not_believed(sandbox: Sandbox) -> None:
    """It says that the part has ten bytes."""
    data = bytearray(archives.docx(" " * (2 * MAX_PART)))
    for at in _places(data, b"PK\x01\x02"):
        if data[at + 46 :].startswith(b"word/document.xml"):
            data[at + 24 : at + 28] = struct.pack("<I", 10)
    assert reason(sandbox, "liar.docx", bytes(data)) in (
        "unpacks to more than may be read",
        "damaged: word/document.xml in it cannot be unpacked",
    )


def _places(data: bytes | bytearray, what: bytes) -> Iterator[int]:
    at = data.find(what)
    while at >= 0:
        yield at
        at = data.find(what, at + 1)


def test_parts_that_overlap_are_counted_each_time(sandbox: Sandbox) -> None:
    """Ninety chapters that are one and the same compressed megabytes."""
    chapter = b"<p>" + b"a " * (1024 * 1024) + b"</p>"
    names = [f"c{n}.xhtml" for n in range(90)]
    items = "".join(f'<item id="{n}" href="{n}" media-type="application/xhtml+xml"/>' for n in names)
    spine = "".join(f'<itemref idref="{n}"/>' for n in names)
    small = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": b'<c><rootfile full-path="b.opf"/></c>',
        "b.opf": f"<p><manifest>{items}</manifest><spine>{spine}</spine></p>".encode(),
    }
    assert reason(sandbox, "overlap.epub", overlapping(small, names, chapter)) in (
        "unpacks to more than may be read",
        f"more than {MAX_BYTES // 1024 // 1024} Mi characters of text",
        "damaged: c1.xhtml in it cannot be unpacked",
    )


def overlapping(small: dict[str, bytes], names: list[str], content: bytes) -> bytes:
    """An archive whose directory points many times at the same bytes."""
    squeezed = zlib.compress(content, 9)[2:-4]
    found = bytearray()
    directory = bytearray()

    def entry(name: str, at: int, data: bytes, raw: bytes, how: int) -> bytes:
        crc = zlib.crc32(raw)
        return (
            struct.pack(
                "<IHHHHHHIIIHHHHHII",
                0x02014B50,
                20,
                20,
                0,
                how,
                0,
                0,
                crc,
                len(data),
                len(raw),
                len(name),
                0,
                0,
                0,
                0,
                0,
                at,
            )
            + name.encode()
        )

    def local(name: str, data: bytes, raw: bytes, how: int) -> bytes:
        head = struct.pack(
            "<IHHHHHIIIHH", 0x04034B50, 20, 0, how, 0, 0, zlib.crc32(raw), len(data), len(raw), len(name), 0
        )
        return head + name.encode() + data

    for name, raw in small.items():
        directory += entry(name, len(found), raw, raw, 0)
        found += local(name, raw, raw, 0)
    at = len(found)
    found += local(names[0], squeezed, content, 8)
    for name in names:
        directory += entry(name, at, squeezed, content, 8)
    count = len(small) + len(names)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory), len(found), 0)
    return bytes(found + directory + end)


def test_a_locked_archive_is_named_as_such(sandbox: Sandbox) -> None:
    data = bytearray(FILES["swans.docx"])
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for at in _places(data, mark):
            data[at + place] |= 1
    assert reason(sandbox, "locked.docx", bytes(data)) == "encrypted"


def test_office_encrypts_into_another_container(sandbox: Sandbox) -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    assert reason(sandbox, "locked.docx", data).startswith("encrypted or in a format of Office before 2007")


NEVER_EMPTY = [f"empty.{suffix}" for suffix in ["pdf", "ipynb", "eml", "mbox", "docx", "pptx", "xlsx", "odt", "epub"]]
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefgh", "bcdefghi", strict=True))
    + "]><w:document xmlns:w='w'><w:body><w:p><w:r><w:t>&i;</w:t></w:r></w:p></w:body></w:document>"
)
OUTSIDE = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    "<w:document xmlns:w='w'><w:body><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:body></w:document>"
)


@pytest.mark.parametrize("content", [LAUGHS, OUTSIDE], ids=["billion laughs", "external entity"])
def test_entities_of_a_file_are_never_expanded(content: str, sandbox: Sandbox) -> None:
    parts = {
        "_rels/.rels": archives.links(("officeDocument", "word/document.xml")),
        "word/document.xml": content,
    }
    assert (
        reason(sandbox, "laughs.docx", archives.pack(parts)) == "declares entities of its own, which are not expanded"
    )


def test_deep_nesting_is_no_harm(sandbox: Sandbox) -> None:
    """HTML, XML, JSON and Python, 100,000 deep: read or refused within seconds."""
    begun = time.monotonic()
    page = parse("deep.html", b"<div>" * 200_000 + b"The otter sleeps.", sandbox=sandbox)
    assert "The otter sleeps." in page.text
    deep = "<w:x>" * 100_000 + archives.word_paragraph("Deep words.") + "</w:x>" * 100_000
    assert outcome(sandbox, "deep.docx", archives.docx(deep)) in ("Deep words.", "nested too deeply")
    assert outcome(sandbox, "deep.json", b"[" * 100_000 + b"]" * 100_000) in ("", "nested too deeply")
    assert outcome(sandbox, "deep.py", b"x = " + b"(" * 100_000 + b")" * 100_000).startswith("x = (")
    assert time.monotonic() - begun < 20


def outcome(sandbox: Sandbox, path: str, data: bytes) -> str:
    """The text of a file, or why it has none."""
    try:
        return parse(path, data, sandbox=sandbox).text
    except Unreadable as error:
        return error.reason


def test_pdf_that_is_locked_scanned_or_cut(sandbox: Sandbox) -> None:
    page = [pdf.Words(60, 700, "Words on a page that is long enough.")]
    assert parse("fine.pdf", pdf.make([page]), sandbox=sandbox).text == "Words on a page that is long enough."
    assert reason(sandbox, "locked.pdf", pdf.make([page], locked=True)) == "encrypted"
    assert reason(sandbox, "scan.pdf", pdf.make([[], []])) == "no text in it: scanned, or pictures alone"
    assert reason(sandbox, "cut.pdf", pdf.make([page])[:120]) == "damaged or cut short: it cannot be opened as a PDF"


def test_pdf_whose_pages_go_in_a_circle(sandbox: Sandbox) -> None:
    """The list of pages has itself among them."""
    data = pdf.make([[pdf.Words(60, 700, "Words on a page that is long enough.")]])
    circle = data.replace(b"/Kids [10 0 R]", b"/Kids [2 0 R ]")
    assert circle != data
    begun = time.monotonic()
    assert reason(sandbox, "circle.pdf", circle)
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    ("name", "sample", "media_type"),
    [
        ("paper.txt", "paper.pdf", "application/pdf"),
        ("page.md", "page.html", "text/html"),
        ("page", "page.html", "text/html"),
        ("letter.txt", "swans.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("letter.docx", "ice.odt", "application/vnd.oasis.opendocument.text"),
        ("saved.pdf", "page.html", "text/html"),
        ("novel.docx", "ferry.epub", "application/epub+zip"),
    ],
)
def test_what_is_in_a_file_counts_for_more_than_its_name(
    name: str, sample: str, media_type: str, sandbox: Sandbox
) -> None:
    found = parse(name, FILES[sample], sandbox=sandbox)
    assert content(found) == content(parse(sample, FILES[sample], sandbox=sandbox))
    assert found.media_type == media_type


def content(document: Document) -> tuple[object, ...]:
    return document.text, document.title, document.blocks, document.pages


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.pdf", b"just words", "content does not match its name: not a PDF file"),
        ("a.docx", b"just words", "content does not match its name: not a DOCX file"),
        ("a.xlsx", archives.pack({"a.txt": "words"}), "an archive, but no document that can be read"),
        ("a.ipynb", b'{"cells": 3}', "content does not match its name: not a notebook"),
        ("a.json", b'{"cells": ', "damaged: no JSON"),
        ("a.jsonl", b'{"a": 1}\nno\n', "damaged: no JSON in line 2"),
        ("a.eml", b"just words", "content does not match its name: not a message"),
        ("a.mbox", b"just words", "content does not match its name: not a mailbox"),
    ],
)
def test_what_is_not_what_its_name_says(name: str, data: bytes, why: str, sandbox: Sandbox) -> None:
    assert reason(sandbox, name, data) == why


@pytest.mark.parametrize("path", sorted({f"empty{Path(path).suffix}" for path in FILES}))
def test_empty_files_are_no_error_but_for_formats_that_cannot_be_empty(path: str, sandbox: Sandbox) -> None:
    assert outcome(sandbox, path, b"").startswith(
        ("content does not match its name", "damaged") if path in NEVER_EMPTY else ""
    )
    assert path in NEVER_EMPTY or parse(path, b"", sandbox=sandbox).blocks == ()


def test_a_table_of_very_many_rows_is_put_into_few_passages(sandbox: Sandbox) -> None:
    """Each row still says its number."""
    rows = "".join(f"{n},{n * n}\n" for n in range(2, 20_002))
    found = parse("squares.csv", f"root,square\n{rows}".encode(), sandbox=sandbox)
    assert found.text.startswith("Row 2: root: 2; square: 4\nRow 3: root: 3; square: 9\n")
    assert len(found.blocks) == 1
    assert found.pages == ()
