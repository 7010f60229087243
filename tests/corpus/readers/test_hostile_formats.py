"""Hostile, damaged, empty and misnamed files of every format are read, or refused with a reason, within limits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from corpus.errors import Unreadable
from corpus.formats import SUFFIXES, detect_format, format_of
from corpus.loading.load import parse
from corpus.loading.sandbox import Sandbox
from corpus.readers import reader_for
from corpus.readers.office.zip_archive import MAX_PART
from tests.corpus.readers import fuzz
from tests.corpus.readers.outcome import attempt, is_bad, outcome
from tests.corpus.readers.samples import archives
from tests.corpus.readers.samples.archives import MAIN, replace_part, unpack
from tests.corpus.readers.samples.files import FILES
from tests.corpus.readers.samples.texts import PROGRAMS
from tests.documents import check_passages, count_words
from tests.growth import check_growth

# One suffix for each media type.
KINDS = sorted({kind.media_type: suffix for suffix in SUFFIXES if (kind := format_of(f"a{suffix}"))}.values())
NEVER_EMPTY = {
    *(".pdf", ".ipynb", ".eml", ".mbox", ".docx", ".pptx", ".xlsx", ".odt", ".ods", ".odp", ".epub"),
    *(".doc", ".xls", ".ppt", ".rtf"),
}


def nested(opening: str, closing: str = "", *, count: int = 50_000, head: str = "", inner: str = "deep") -> bytes:
    return (head + opening * count + inner + closing * count).encode()


def nested_mail(depth: int) -> bytes:
    """A message with parts in parts."""
    heads = [f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(depth)]
    return ("From: a@b.org\nSubject: Deep\n" + "".join(heads) + "Content-Type: text/plain\n\ndeep words\n").encode()


DEEP = {
    "a.html": nested("<div><ul><li><b>", count=25_000),
    "a.xhtml": nested("<table><tr><td>", "</td></tr></table>"),
    "a.json": nested("[", "]", inner='"deep"'),
    "b.json": nested('{"a":', "}", inner='"deep"'),
    "a.jsonl": nested('{"a":[', "]}", inner='"deep"'),
    "a.ipynb": nested("[", "]", head='{"cells": ', inner="{}"),
    "b.ipynb": nested("> - ", head='{"cells": [{"cell_type": "markdown", "source": "') + b'"}]}',
    "a.md": nested("> "),
    "a.rst": b"T\n=\n\n" + b"".join(b" " * n + b"- deep\n\n" for n in range(1000)),
    "a.tex": nested(r"\begin{itemize}\item {", "}", head="\\begin{document}\n"),
    "a.bib": nested("{", "}", head="@book{a, title = "),
    "a.eml": nested_mail(1200),
    "a.mbox": b"From a Fri Nov 21 10:00:00 2025\n" + nested_mail(1200),
    "a.csv": nested('"a","', '"'),
    "a.org": b"".join(b"*" * n + b" deep\n" for n in range(1000)),
    **{f"brackets-{path}": nested("(", ")", count=20_000) for path in PROGRAMS},
    **{f"braces-{path}": nested("{ ", " }", count=20_000) for path in PROGRAMS},
    "a.py": nested("(", ")", head="x = "),
    "b.py": b"".join(b" " * n + b"if x:\n" for n in range(2000)),
    **{
        path: replace_part(
            FILES[path], part, unpack(FILES[path])[part].replace(b"</", b"<x>" * 30_000 + b"</x>" * 30_000 + b"</", 1)
        )
        for path, part in MAIN.items()
    },
}


@pytest.mark.parametrize("path", DEEP)
def test_deep_nesting_is_read_or_refused(path: str, sandbox: Sandbox) -> None:
    """It may only be refused as nested too deeply."""
    document, reason = attempt(sandbox, path, DEEP[path])
    assert document is not None or reason == "nested too deeply"


def repeated(piece: str, *, head: str = "") -> Callable[[int], bytes]:
    return lambda size: (head + piece * (size // len(piece))).encode()


# Each once took quadratic time, or might with a careless reader.
LINES = {
    "formulas.tex": repeated(r"\("),
    "dollars.tex": repeated("$a"),
    "citations.tex": repeated(r"\cite["),
    "labels.tex": repeated(r"\label["),
    "environments.tex": repeated(r"\begin{a}["),
    "titles.tex": repeated(r"\title["),
    "notes.tex": repeated(r"\footnote{"),
    "quantities.tex": repeated(r"\SI{5}{\a} "),
    "authors.tex": lambda size: rb"\author{" * (size // 8) + rb"\begin{document}\maketitle",
    "accents.tex": repeated(r"\'"),
    "commas.bib": repeated(",", head="@book{a, "),
    "fields.bib": repeated("a=b,", head="@book{a, "),
    "titles.bib": repeated("title ", head="@book{a, "),
    "quotes.html": repeated("<a b='"),
    "comments.html": repeated("<!--"),
    "paragraphs.html": repeated("<p>"),
    "tables.html": repeated("<table>"),
    "cells.html": repeated("<table><tr><td>a<td>b<tr><td>"),
    "layout.html": repeated("<p>a", head="<table><tr><td>a<td>b<tr><td>" * 50),
    "lists.html": repeated("<ul><li>"),
    "a.csv": repeated('"a,'),
    "a.tsv": repeated("\t"),
    "objects.json": lambda size: b"[" + b'{"a":1},' * (size // 8) + b"1]",
    "names.eml": repeated('"a ', head="From: "),
    "words.eml": repeated("=?utf-8?q?a?= ", head="From: a@b.org\nSubject: "),
    "addresses.eml": repeated("a@b, ", head="To: "),
    "parts.eml": repeated("--b\n\n", head="From: a@b.org\nContent-Type: multipart/mixed; boundary=b\n\n"),
    "froms.mbox": repeated("From ", head="From a Fri Nov 21 10:00:00 2025\nFrom: a@b.org\n\n"),
    "definitions.py": repeated("def a(:\n"),
    "brackets.py": repeated("("),
    "blanks.py": repeated(" "),
    "strings.js": repeated('"'),
    "comments.js": repeated("/*"),
    "heads.kt": repeated("fun a("),
    "blocks.cpp": repeated("{\n", head="void f() "),
    "comments.cpp": repeated("// x\n"),
    "functions.cpp": repeated("int f(int a)\n{\n  return 1;\n}\n"),
    "classes.cpp": repeated("class A {\n"),
    "garbage.cpp": repeated("<>{}()[]\"'\n"),
    "fields.rst": repeated(":a", head="T\n=\n\n"),
    "references.rst": repeated("`a <", head="T\n=\n\n"),
    "tags.vtt": repeated("<v ", head="WEBVTT\n\n00:01.000 --> 00:02.000\n"),
    "speakers.vtt": repeated(" ", head="WEBVTT\n\n00:01.000 --> 00:02.000\n<v"),
    "cues.vtt": repeated("00:01.000 --> 00:02.000\na\n\n"),
    "parameters.ics": repeated(";a=", head="BEGIN:VEVENT\nSUMMARY"),
    "quotes.ics": repeated('";', head="BEGIN:VEVENT\nSUMMARY;a="),
    "folds.ics": repeated(" a\n", head="BEGIN:VEVENT\nSUMMARY:a\n"),
    "begins.ics": repeated("BEGIN:VEVENT\n"),
    "parts.vcf": repeated("\\;;", head="BEGIN:VCARD\nN:"),
    "soft-ends.vcf": repeated("=\n", head="BEGIN:VCARD\nNOTE;ENCODING=QUOTED-PRINTABLE:"),
    "names.7": repeated(r"\[abc", head=".TH A 7\n"),
    "motions.7": repeated(r"\h'abc", head=".TH A 7\n"),
    "arguments.7": repeated('"a', head=".TH A 7\n.SH "),
    "rows.rst": repeated("+-", head="T\n=\n\n"),
}


@pytest.mark.parametrize("path", LINES)
def test_parsing_time_is_linear_in_size(path: str) -> None:
    """Most of the file is one line."""
    kind = detect_format(path, LINES[path](1000))

    def read(data: bytes) -> None:
        with contextlib.suppress(Unreadable):
            reader_for(kind.reader)(path, data)

    # The grammar of Kotlin is quadratic: .15 s for this file.
    check_growth(read, LINES[path](25_000), LINES[path](100_000))


@pytest.mark.parametrize("suffix", KINDS)
def test_one_long_line_is_read_or_refused_with_a_reason(suffix: str, sandbox: Sandbox) -> None:
    """The line has 120 kB; the length of passages is limited."""
    document, reason = attempt(sandbox, f"a{suffix}", b"water " * 20_000)
    if document is None:
        assert reason.startswith(("content does not match its name", "damaged"))
    else:
        check_passages(document, count_tokens=count_words, max_tokens=254)


@pytest.mark.parametrize("suffix", KINDS)
def test_blank_files_are_accepted_unless_the_format_forbids_them(suffix: str, sandbox: Sandbox) -> None:
    """They are empty, or have only a byte order mark or white space."""
    for data in (b"", b"\xef\xbb\xbf", b" \t\r\n\x0c\n", b"\xff\xfe", b"\xef\xbb\xbf \n"):
        document, reason = attempt(sandbox, f"a{suffix}", data)
        if document is None:
            assert reason.startswith(("content does not match its name", "damaged", "empty"))
            assert suffix in NEVER_EMPTY
        else:
            assert document.blocks == ()


@pytest.mark.parametrize("suffix", KINDS)
def test_any_content_under_any_name_is_read_or_refused(suffix: str, sandbox: Sandbox) -> None:
    """The content is that of the samples of all formats."""
    for data in FILES.values():
        outcome(sandbox, f"a{suffix}", data)


@pytest.mark.parametrize("path", FILES)
def test_damaged_files_never_hang_or_crash_a_reader(path: str, sandbox: Sandbox) -> None:
    """The short form of `python -m tests.corpus.readers.fuzz`."""
    assert [reason for reason in fuzz.run(path, 20, seed=1, sandbox=sandbox) if is_bad(reason)] == []


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
        ("letter.xls", "rafts.doc", "application/msword"),
        ("letter.txt", "winch.rtf", "application/rtf"),
    ],
)
def test_content_takes_precedence_over_the_file_name(name: str, sample: str, media_type: str, sandbox: Sandbox) -> None:
    misnamed, original = parse(name, FILES[sample], sandbox=sandbox), parse(sample, FILES[sample], sandbox=sandbox)
    assert (misnamed.text, misnamed.title, misnamed.blocks) == (original.text, original.title, original.blocks)
    assert (misnamed.pages, misnamed.media_type) == (original.pages, media_type)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.pdf", b"just words", "content does not match its name: not a PDF file"),
        ("a.docx", b"just words", "content does not match its name: not a DOCX file"),
        ("a.docx", FILES["swans.docx"][:200], "damaged: cannot be opened as a ZIP archive"),
        ("a.docx", archives.docx(" " * MAX_PART), "unpacked size exceeds the limit"),
        ("a.xlsx", archives.pack({"a.txt": "words"}), "archive is not a supported document"),
        ("a.ipynb", b'{"cells": 3}', "content does not match its name: not a notebook"),
        ("a.eml", b"just words", "content does not match its name: not a message"),
        ("a.mbox", b"just words", "content does not match its name: not a mailbox"),
    ],
)
def test_misnamed_damaged_and_oversized_files_are_refused(
    name: str, data: bytes, reason: str, sandbox: Sandbox
) -> None:
    assert outcome(sandbox, name, data) == reason
