"""Cases 40 to 46 and 65 to 68 of the list for every format there is: read or left out with a reason, within limits.

No file may take more than 10 s of processor time or 512 MiB to read.
"""

from __future__ import annotations

import contextlib
import io
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpus.chunking.splitter import split
from corpus.errors import Unreadable
from corpus.formats import ARCHIVE, SUFFIXES, format_of
from corpus.loading.load import parse
from corpus.loading.sandbox import Limits, Sandbox
from corpus.readers import reader_for
from corpus.readers.office.zip_archive import MAX_PART
from corpus.types import Document
from qa import Retriever, build_index
from tests.corpus.readers.fuzz import is_bad
from tests.corpus.readers.samples import archives
from tests.corpus.readers.samples.files import SAMPLES
from tests.corpus.readers.samples.texts import PROGRAMS
from tests.documents import check_passages, count_words
from tests.encoders import BagEncoder

MOST = Limits(seconds=10, memory=512 * 1024 * 1024)
FILES = {sample.path: sample.data for sample in SAMPLES}
# A suffix of each kind.
KINDS = sorted({kind.media_type: suffix for suffix in SUFFIXES if (kind := format_of(f"a{suffix}"))}.values())
# The part of each archive in which its text is.
MAIN = {
    "swans.docx": "word/document.xml",
    "talk.pptx": "ppt/slides/slide1.xml",
    "boats.xlsx": "xl/worksheets/sheet1.xml",
    "ice.odt": "content.xml",
    "ferry.epub": "OEBPS/text/chapter 1.xhtml",
}
LAUGHS = b'<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/hostname">]>'
REFUSED = "declares entities of its own, which are not expanded"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(MOST) as one:
        yield one


def outcome(sandbox: Sandbox, path: str, data: bytes) -> str:
    """The text of a file, or why it has none; what is read is cut too."""
    found, reason = attempt(sandbox, path, data)
    assert found is not None or (reason and not is_bad(reason)), (path, reason)
    return reason if found is None else found.text


def attempt(sandbox: Sandbox, path: str, data: bytes) -> tuple[Document | None, str]:
    try:
        found = parse(path, data, sandbox=sandbox)
        split(found, count_tokens=count_words, max_tokens=254)
    except Unreadable as error:
        return None, error.reason
    return found, ""


def parts_of(path: str) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(FILES[path])) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(path: str, part: str, content: bytes) -> bytes:
    """The sample with another content of one part."""
    return archives.pack(parts_of(path) | {part: content})


def test_every_archive_is_among_these() -> None:
    kinds = [(sample.path, format_of(sample.path)) for sample in SAMPLES]
    assert {path for path, kind in kinds if kind and kind.magic == ARCHIVE.magic} == set(MAIN)


@pytest.mark.parametrize("path", MAIN)
def test_a_bomb_in_any_archive_is_refused(path: str, sandbox: Sandbox) -> None:
    """A few kilobytes of zip for more megabytes of text than a part may have."""
    data = changed(path, MAIN[path], b" " * (MAX_PART + 1))
    assert len(data) < 100_000
    assert outcome(sandbox, path, data) == "unpacks to more than may be read"


@pytest.mark.parametrize("path", MAIN)
def test_entities_are_expanded_in_no_part_of_any_archive(path: str, sandbox: Sandbox) -> None:
    """A part that declares some is refused where it is read; chapters of books are HTML, which knows none."""
    whole = outcome(sandbox, path, FILES[path])
    found = {}
    for name, content in parts_of(path).items():
        if content.startswith(b"<"):
            declared = LAUGHS + content.replace(b"</", b"&b;&c;</", 1)
            found[name] = outcome(sandbox, path, changed(path, name, declared))
    assert set(found.values()) <= {REFUSED, whole} or path == "ferry.epub"
    assert not any("haha" in text for text in found.values())
    assert found[MAIN[path]] == REFUSED or path == "ferry.epub"
    assert REFUSED in found.values()


@pytest.mark.parametrize("path", MAIN)
def test_a_lock_on_any_archive_is_named(path: str, sandbox: Sandbox) -> None:
    """By the sign that each of its parts has, and by what OpenDocument and EPUB write beside them."""
    data = bytearray(FILES[path])
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + place] |= 1
            at = data.find(mark, at + 1)
    assert outcome(sandbox, path, bytes(data)) == "encrypted"
    beside = {
        "ice.odt": ("META-INF/manifest.xml", b"<m><file-entry><encryption-data/></file-entry></m>"),
        "ferry.epub": (
            "META-INF/encryption.xml",
            b'<e><CipherReference URI="OEBPS/text/chapter 1.xhtml"/></e>',
        ),
    }
    if path in beside:
        assert outcome(sandbox, path, changed(path, *beside[path])) == "encrypted"


def test_a_part_with_a_long_name_is_named_in_short(sandbox: Sandbox) -> None:
    container = f'<c><rootfile full-path="{"a" * 1_000_000}"/></c>'.encode()
    found = outcome(sandbox, "ferry.epub", changed("ferry.epub", "META-INF/container.xml", container))
    assert found == f"damaged: {'a' * 100}… is missing in it"


def nested(opening: str, closing: str = "", *, count: int = 100_000, head: str = "", inner: str = "deep") -> bytes:
    return (head + opening * count + inner + closing * count).encode()


def nested_mail(depth: int) -> bytes:
    """Messages with parts that are messages."""
    heads = [f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(depth)]
    return ("From: a@b.org\nSubject: Deep\n" + "".join(heads) + "Content-Type: text/plain\n\ndeep words\n").encode()


DEEP = {
    "a.html": nested("<div><ul><li><b>"),
    "a.xhtml": nested("<table><tr><td>", "</td></tr></table>"),
    "a.json": nested("[", "]", inner='"deep"'),
    "b.json": nested('{"a":', "}", inner='"deep"'),
    "a.jsonl": nested('{"a":[', "]}", inner='"deep"'),
    "a.ipynb": nested("[", "]", head='{"cells": ', inner="{}"),
    "b.ipynb": nested("> - ", head='{"cells": [{"cell_type": "markdown", "source": "') + b'"}]}',
    "a.md": nested("> ", count=50_000),
    "a.rst": b"T\n=\n\n" + b"".join(b" " * n + b"- deep\n\n" for n in range(1000)),
    "a.tex": nested(r"\begin{itemize}\item {", "}", head="\\begin{document}\n"),
    "a.bib": nested("{", "}", head="@book{a, title = "),
    "a.eml": nested_mail(2000),
    "a.mbox": b"From a Fri Nov 21 10:00:00 2025\n" + nested_mail(2000),
    "a.csv": nested('"a","', '"'),
    "a.org": b"".join(b"*" * n + b" deep\n" for n in range(1000)),
    **{f"brackets-{path}": nested("(", ")") for path, *_ in PROGRAMS},
    **{f"braces-{path}": nested("{ ", " }") for path, *_ in PROGRAMS},
    "a.py": nested("(", ")", head="x = "),
    "b.py": b"".join(b" " * n + b"if x:\n" for n in range(2000)),
    **{
        path: changed(path, part, parts_of(path)[part].replace(b"</", b"<x>" * 50_000 + b"</x>" * 50_000 + b"</", 1))
        for path, part in MAIN.items()
    },
}


@pytest.mark.parametrize("path", DEEP)
def test_what_is_nested_deeply_is_no_harm(path: str, sandbox: Sandbox) -> None:
    """Read, or refused as such."""
    found = outcome(sandbox, path, DEEP[path])
    assert found == "nested too deeply" or len(found) > 2 or path == "a.json"


def again(piece: str, *, head: str = "") -> Callable[[int], bytes]:
    return lambda size: (head + piece * (size // len(piece))).encode()


# Each took quadratic time before it was looked at, or might in a reader that is written carelessly.
LINES = {
    "formulas.tex": again(r"\("),
    "other-formulas.tex": again(r"\["),
    "dollars.tex": again("$a"),
    "citations.tex": again(r"\cite["),
    "labels.tex": again(r"\label["),
    "environments.tex": again(r"\begin{a}["),
    "titles.tex": again(r"\title["),
    "accents.tex": again(r"\'"),
    "formulas.bib": again(r"\(", head="@book{a, title = "),
    "citations.bib": again(r"\cite[", head="@book{a, title = "),
    "commas.bib": again(",", head="@book{a, "),
    "fields.bib": again("a=b,", head="@book{a, "),
    "titles.bib": again("title ", head="@book{a, "),
    "elements.html": again("<a"),
    "attributes.html": again("<a "),
    "quotes.html": again("<a b='"),
    "quotes-that-end.html": again("<a b='>"),
    "comments.html": again("<!--"),
    "comments-that-do-not-end.html": again("<!-- >"),
    "sections.html": again("<![CDATA["),
    "sections-that-do-not-end.html": again("<![if >"),
    "instructions.html": again("<?"),
    "ends.html": again("</"),
    "entities.html": again("&a"),
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
    "tabs.js": again("\t"),
    "strings.js": again('"'),
    "comments.js": again("/*"),
    "heads.kt": again("fun a("),
    "fields.rst": again(":a", head="T\n=\n\n"),
    "references.rst": again("`a <", head="T\n=\n\n"),
    "rows.rst": again("+-", head="T\n=\n\n"),
}


@pytest.mark.parametrize("path", LINES)
def test_time_grows_with_size_alone(path: str) -> None:
    """A file of 200 KB, most of it one line, takes no more than two seconds of processor time."""
    data = LINES[path](200_000)
    kind = format_of(path)
    assert kind is not None
    begun = time.process_time()
    with contextlib.suppress(Unreadable):
        reader_for(kind.reader)(path, data)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("suffix", KINDS)
def test_one_long_line_is_read_or_has_a_reason(suffix: str, sandbox: Sandbox) -> None:
    """A megabyte without a line end, in each format; passages are bounded."""
    found, reason = attempt(sandbox, f"a{suffix}", b"water " * 170_000)
    if found is None:
        assert reason.startswith(("content does not match its name", "damaged"))
    else:
        check_passages(found, count_tokens=count_words, max_tokens=254)


@pytest.mark.parametrize("suffix", KINDS)
def test_nothing_to_read_is_no_error_that_anybody_notices(suffix: str, sandbox: Sandbox) -> None:
    """Empty, a byte order mark, blanks."""
    for data in (b"", b"\xef\xbb\xbf", b" \t\r\n\x0c\n", b"\xff\xfe", b"\xef\xbb\xbf \n"):
        found = outcome(sandbox, f"a{suffix}", data)
        assert not found.replace("\ufeff", "").strip() or found.startswith(
            ("content does not match its name", "damaged")
        )


@pytest.mark.parametrize("suffix", KINDS)
def test_any_file_under_any_name_is_read_or_has_a_reason(suffix: str, sandbox: Sandbox) -> None:
    """The samples of all other formats, and the half of each of the same."""
    for sample in SAMPLES:
        whole = outcome(sandbox, f"a{suffix}", sample.data)
        assert whole is not None
        if sample.path.endswith(suffix):
            for share in (1, 2, 3):
                outcome(sandbox, sample.path, sample.data[: len(sample.data) * share // 4])


def test_the_build_goes_on(tmp_path: Path) -> None:
    """All that is refused above in one folder: each has its reason, and what is healthy is found."""
    (tmp_path / "healthy.md").write_text("# Otters\n\nThe otter sleeps in a burrow.\n", encoding="utf-8")
    for path, part in MAIN.items():
        (tmp_path / f"bomb-{path}").write_bytes(changed(path, part, b" " * (MAX_PART + 1)))
        (tmp_path / f"cut-{path}").write_bytes(FILES[path][:200])
    for path in ("a.json", "a.jsonl", "a.ipynb"):
        (tmp_path / f"deep-{path}").write_bytes(DEEP[path])
    encoder = BagEncoder()
    report = build_index(tmp_path, encoder=encoder)
    assert report.documents == 1
    reasons = {skip.path: skip.reason for skip in report.skipped}
    assert {reasons.pop(f"bomb-{path}") for path in MAIN} == {"unpacks to more than may be read"}
    assert {reasons.pop(f"cut-{path}") for path in MAIN} == {"damaged: no archive that can be opened"}
    assert set(reasons.values()) == {"nested too deeply"}
    with Retriever.open(tmp_path, encoder=encoder) as retriever:
        assert retriever.search("Where does the otter sleep?", k=1)[0].citation == "healthy.md:1-3"
