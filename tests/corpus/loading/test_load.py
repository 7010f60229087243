"""Files are loaded as documents."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from corpus.discovery.walk import walk
from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES, MAX_LINES
from corpus.loading import load
from corpus.loading.load import parse
from corpus.types import Block, BlockKind, Document, Extracted

TEXT = "# Title\n\nBody, naïve.\n"


def test_a_file_becomes_a_document(tmp_path: Path) -> None:
    """Its digest and its text are from the same read."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_bytes(TEXT.encode())
    assert load.load(tmp_path, "notes/a.md") == Document(
        path="notes/a.md",
        text=TEXT,
        sha256="193a16fbe5823cdbe86792d044ec4c106994fe283b27f9cd4546049835c569fc",
        media_type="text/markdown",
        title="Title",
        blocks=(Block(BlockKind.HEADING, 0, 7, ("Title",)), Block(BlockKind.PARAGRAPH, 9, 21, ("Title",))),
    )


def test_a_byte_order_mark_stays_in_the_text() -> None:
    """Offsets are those in the file; no block contains the mark."""
    document = parse("a.txt", b"\xef\xbb\xbfWords here.\n")
    assert document.text == "\ufeffWords here.\n"
    assert document.blocks == (Block(BlockKind.PARAGRAPH, 1, 12),)
    assert parse("a.md", b"\xef\xbb\xbf").blocks == ()


def test_an_error_in_a_reader_refuses_only_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not end the build, even outside the sandbox; but exhausted memory is not the fault of the file."""

    def fail(path: str, data: bytes) -> Extracted:
        raise MemoryError if data == b"huge" else IndexError(path)

    monkeypatch.setattr(load, "reader_for", lambda name: fail)
    with pytest.raises(Unreadable, match=r"^damaged \(IndexError\)$"):
        parse("a.md", b"# Herons\n")
    with pytest.raises(MemoryError):
        parse("a.md", b"huge")


def test_newlines_are_unchanged() -> None:
    assert parse("a.txt", b"one\r\ntwo\rthree\n").text == "one\r\ntwo\rthree\n"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.png", b"\x89PNG", "format not supported"),
        ("a.MSG", b"\xd0\xcf\x11\xe0", "Outlook messages (.msg) cannot be read; save it as .eml"),
        ("a.docx", b"", "empty"),
        ("a.pdf", b"", "empty"),
    ],
)
def test_unreadable_formats_are_refused_with_a_reason(name: str, data: bytes, reason: str, tmp_path: Path) -> None:
    """If the name is enough to refuse a file, the walk gives the same reason."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Unreadable) as caught:
        load.load(tmp_path, name)
    assert caught.value.reason == reason
    assert [skip.reason for skip in walk(tmp_path).skipped] == ([] if reason == "empty" else [reason])


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (b"Herons stand still.\n", "Herons stand still.\n"),
        (b"\xff\xfe" + "Größe".encode("utf-16-le"), "Größe"),
        (b"", ""),
        (b"Herons stand\0still.\n", "format not supported"),
        ("Größe".encode("latin-1"), "format not supported"),
        (b"\x01\x02 words \x03\x04", "format not supported"),
        (b"1.5 2.25 -3e4\n" * 9, "data rather than text; to read it, name its format in qa.toml"),
        (b"words " * 200_000, "larger than 1 MiB"),
    ],
)
def test_a_file_whose_content_is_text_is_read_whatever_its_name(tmp_path: Path, data: bytes, outcome: str) -> None:
    (tmp_path / "a.nfo").write_bytes(data)
    try:
        result = load.load(tmp_path, "a.nfo").text
    except Unreadable as error:
        result = error.reason
    assert result == outcome


@pytest.mark.parametrize(
    ("path", "media_type", "kind"),
    [("a.YAML", "text/plain", BlockKind.CODE), ("a.Rmd", "text/markdown", BlockKind.HEADING)],
)
def test_comments_of_scripts_and_settings_are_not_headings(path: str, media_type: str, kind: BlockKind) -> None:
    """Files of Markdown dialects have headings."""
    document = parse(path, b"# Herons\n\nstand: still\n")
    assert (document.media_type, document.blocks[0].kind) == (media_type, kind)


def test_a_compressed_text_is_read_in_its_own_format(tmp_path: Path) -> None:
    """It may have several gzip members; the digest is that of the compressed file."""
    data = gzip.compress(b"# Herons\n\n", mtime=0) + gzip.compress(b"They stand still.\n", mtime=0)
    document = parse("a.md.gz", data)
    assert (document.text, document.title, document.path) == ("# Herons\n\nThey stand still.\n", "Herons", "a.md.gz")
    assert document.sha256 == load.digest(data)


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.md.gz", b"# Herons\n", "damaged: cannot be unpacked"),
        ("a.md.gz", gzip.compress(b"# Herons\n" * 99, mtime=0)[:-9], "damaged: cannot be unpacked"),
        ("a.md.gz", gzip.compress(bytes(MAX_BYTES + 1), mtime=0), "larger than 8 MiB unpacked"),
        ("a.nfo.gz", gzip.compress(b"words " * 200_000, mtime=0), "larger than 1 MiB unpacked"),
        ("a.txt.gz", gzip.compress(b"\0" * 99, mtime=0), "binary, not text"),
        ("a.tar.gz", gzip.compress(b"words", mtime=0), "format not supported"),
    ],
)
def test_a_compressed_file_is_read_within_limits(path: str, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=f"^{reason}$"):
        parse(path, data)


@pytest.mark.parametrize(
    ("path", "formats", "media_type", "title"),
    [
        ("a.foo", [".foo=markdown"], "text/markdown", "Herons"),
        ("a.FOO.gz", [".foo=markdown"], "text/markdown", "Herons"),
        ("a.svg", [".foo=text", ".svg=text"], "text/plain", "Herons"),
        ("Jenkinsfile", ["Jenkinsfile=code"], "text/plain", "Jenkinsfile"),
        ("a.txt", [".foo=markdown"], "text/plain", "Herons"),
    ],
)
def test_settings_can_choose_the_format_of_files(
    tmp_path: Path, path: str, formats: list[str], media_type: str, title: str
) -> None:
    """They name a suffix or a file, and override the usual format."""
    data = b"# Herons\n\nThey stand still.\n"
    (tmp_path / path).write_bytes(gzip.compress(data, mtime=0) if path.endswith(".gz") else data)
    assert [file.path for file in walk(tmp_path, formats=formats).files] == [path]
    document = load.load(tmp_path, path, formats=formats)
    assert (document.media_type, document.title, document.path) == (media_type, title, path)


def test_bytes_and_lines_are_capped() -> None:
    """Lines are capped too, as each takes a kilobyte of memory while the file is read."""
    with pytest.raises(Unreadable, match=r"^larger than 8 MiB$"):
        parse("a.txt", b"x" * (MAX_BYTES + 1))
    assert len(parse("a.txt", b"\n" * MAX_LINES).text) == MAX_LINES
    with pytest.raises(Unreadable, match=r"^more than 200,000 lines; split it into smaller files$"):
        parse("a.txt", b"\n" * (MAX_LINES + 1))
