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
from tests.corpus.readers.samples.archives import MAIN, changed, parts_of
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
        path: changed(
            FILES[path], part, parts_of(FILES[path])[part].replace(b"</", b"<x>" * 30_000 + b"</x>" * 30_000 + b"</", 1)
        )
        for path, part in MAIN.items()
    },
}


@pytest.mark.parametrize("path", DEEP)
def test_deep_nesting_is_read_or_refused(path: str, sandbox: Sandbox) -> None:
    """It is read, or refused as nested too deeply."""
    found = outcome(sandbox, path, DEEP[path])
    assert found == "nested too deeply" or len(found) > 2 or path == "a.json"


def again(piece: str, *, head: str = "") -> Callable[[int], bytes]:
    return lambda size: (head + piece * (size // len(piece))).encode()


# Each once took quadratic time, or might in a carelessly written reader.
LINES = {
    "formulas.tex": again(r"\("),
    "dollars.tex": again("$a"),
    "citations.tex": again(r"\cite["),
    "labels.tex": again(r"\label["),
    "environments.tex": again(r"\begin{a}["),
    "titles.tex": again(r"\title["),
    "notes.tex": again(r"\footnote{"),
    "quantities.tex": again(r"\SI{5}{\a} "),
    "authors.tex": lambda size: rb"\author{" * (size // 8) + rb"\begin{document}\maketitle",
    "accents.tex": again(r"\'"),
    "commas.bib": again(",", head="@book{a, "),
    "fields.bib": again("a=b,", head="@book{a, "),
    "titles.bib": again("title ", head="@book{a, "),
    "quotes.html": again("<a b='"),
    "comments.html": again("<!--"),
    "paragraphs.html": again("<p>"),
    "tables.html": again("<table>"),
    "lists.html": again("<ul><li>"),
    "a.csv": again('"a,'),
    "a.tsv": again("\t"),
    "objects.json": lambda size: b"[" + b'{"a":1},' * (size // 8) + b"1]",
    "names.eml": again('"a ', head="From: "),
    "words.eml": again("=?utf-8?q?a?= ", head="From: a@b.org\nSubject: "),
    "addresses.eml": again("a@b, ", head="To: "),
    "parts.eml": again("--b\n\n", head="From: a@b.org\nContent-Type: multipart/mixed; boundary=b\n\n"),
    "froms.mbox": again("From ", head="From a Fri Nov 21 10:00:00 2025\nFrom: a@b.org\n\n"),
    "definitions.py": again("def a(:\n"),
    "brackets.py": again("("),
    "blanks.py": again(" "),
    "strings.js": again('"'),
    "comments.js": again("/*"),
    "heads.kt": again("fun a("),
    "blocks.cpp": again("{\n", head="void f() "),
    "comments.cpp": again("// x\n"),
    "functions.cpp": again("int f(int a)\n{\n  return 1;\n}\n"),
    "classes.cpp": again("class A {\n"),
    "garbage.cpp": again("<>{}()[]\"'\n"),
    "fields.rst": again(":a", head="T\n=\n\n"),
    "references.rst": again("`a <", head="T\n=\n\n"),
    "tags.vtt": again("<v ", head="WEBVTT\n\n00:01.000 --> 00:02.000\n"),
    "speakers.vtt": again(" ", head="WEBVTT\n\n00:01.000 --> 00:02.000\n<v"),
    "cues.vtt": again("00:01.000 --> 00:02.000\na\n\n"),
    "parameters.ics": again(";a=", head="BEGIN:VEVENT\nSUMMARY"),
    "quotes.ics": again('";', head="BEGIN:VEVENT\nSUMMARY;a="),
    "folds.ics": again(" a\n", head="BEGIN:VEVENT\nSUMMARY:a\n"),
    "begins.ics": again("BEGIN:VEVENT\n"),
    "parts.vcf": again("\\;;", head="BEGIN:VCARD\nN:"),
    "soft-ends.vcf": again("=\n", head="BEGIN:VCARD\nNOTE;ENCODING=QUOTED-PRINTABLE:"),
    "names.7": again(r"\[abc", head=".TH A 7\n"),
    "motions.7": again(r"\h'abc", head=".TH A 7\n"),
    "arguments.7": again('"a', head=".TH A 7\n.SH "),
    "rows.rst": again("+-", head="T\n=\n\n"),
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
    """It is 120 kB; passages are bounded."""
    found, reason = attempt(sandbox, f"a{suffix}", b"water " * 20_000)
    if found is None:
        assert reason.startswith(("content does not match its name", "damaged"))
    else:
        check_passages(found, count_tokens=count_words, max_tokens=254)


@pytest.mark.parametrize("suffix", KINDS)
def test_blank_files_are_accepted_unless_the_format_forbids_them(suffix: str, sandbox: Sandbox) -> None:
    """They are empty, or have a byte order mark or white space alone."""
    for data in (b"", b"\xef\xbb\xbf", b" \t\r\n\x0c\n", b"\xff\xfe", b"\xef\xbb\xbf \n"):
        found, reason = attempt(sandbox, f"a{suffix}", data)
        if found is None:
            assert reason.startswith(("content does not match its name", "damaged", "empty"))
            assert suffix in NEVER_EMPTY
        else:
            assert found.blocks == ()


@pytest.mark.parametrize("suffix", KINDS)
def test_any_content_under_any_name_is_read_or_refused(suffix: str, sandbox: Sandbox) -> None:
    """The samples of all formats."""
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
    found, named = parse(name, FILES[sample], sandbox=sandbox), parse(sample, FILES[sample], sandbox=sandbox)
    assert (found.text, found.title, found.blocks) == (named.text, named.title, named.blocks)
    assert (found.pages, found.media_type) == (named.pages, media_type)


@pytest.mark.parametrize(
    ("name", "data", "why"),
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
def test_misnamed_damaged_and_oversized_files_are_refused(name: str, data: bytes, why: str, sandbox: Sandbox) -> None:
    assert outcome(sandbox, name, data) == why
