"""Readers that spare a library work give what the library would."""

from __future__ import annotations

import ctypes
from email import message_from_bytes, policy

import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from corpus.readers.assemble.document_builder import one_line
from corpus.readers.pdf.characters import HYPHEN, characters
from corpus.readers.plaintext.markdown import read_markdown
from corpus.readers.records.mail import read
from tests.corpus.readers.samples.files import paper

SENDERS = [
    "ida@example.org",
    "Ida Gray <ida@example.org>",
    "Ida  Gray  <ida@example.org>",
    '"Voss, Jürgen" <voss@example.org>, P. Lang <lang@example.org>',
    "=?utf-8?q?Ida_Gr=C3=BCn?= <ida@example.org>",
    "ida@example.org (of the ferry), x-y+z@a.b",
    "Undisclosed recipients:;",
    "Ida <ida@[1.2.3.4]>",
    "<<<@>,",
]


@pytest.mark.parametrize("value", SENDERS)
def test_a_sender_is_written_as_the_library_writes_it(value: str) -> None:
    data = f"Subject: Oars\nFrom: {value}\n\nWords.\n".encode()
    expected = one_line(str(message_from_bytes(data, policy=policy.default)["From"]))
    assert read("a.eml", data).text == f"Oars\n\nFrom: {expected}\n\nWords."


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Fri, 21 Nov 2025 10:00:00 +0100", "2025-11-21 10:00:00+01:00"),
        ("21 Nov 2025 10:00 -0000", "2025-11-21 10:00:00"),
        ("Fri, 21 Nov\n 2025 10:00:00 GMT (noon)", "2025-11-21 10:00:00+00:00"),
    ],
)
def test_a_date_is_written_as_one(value: str, expected: str) -> None:
    assert (
        read("a.eml", f"Subject: Oars\nDate: {value}\n\nWords.\n".encode()).text.split("\n")[2] == f"Date: {expected}"
    )


def test_characters_of_a_page_are_those_that_the_library_gives_one_by_one() -> None:
    """With broken words and Hebrew among them; so are their boxes."""
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


def test_one_text_of_markdown_leaves_nothing_to_the_next() -> None:
    """Their parser is the same; a link that one names is unknown to the other."""
    first = "# A [b]\n\n[b]: c\n"
    before = read_markdown("# D [b]\n\ne\n")
    assert read_markdown(first) == read_markdown(first)
    assert read_markdown("# D [b]\n\ne\n") == before
