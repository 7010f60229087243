"""One file becomes a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES, MAX_LINES
from corpus.loading import load
from corpus.loading.load import parse
from corpus.types import Block, BlockKind, Document

TEXT = "# Title\n\nBody, naïve.\n"


def test_a_file_becomes_a_document(tmp_path: Path) -> None:
    """Bytes, digest and text come from one reading."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_bytes(TEXT.encode())
    assert load.load(tmp_path, "notes/a.md") == Document(
        path="notes/a.md",
        text=TEXT,
        sha256="193a16fbe5823cdbe86792d044ec4c106994fe283b27f9cd4546049835c569fc",
        media_type="text/markdown",
        title="Title",
        blocks=(
            Block(BlockKind.HEADING, 0, 7, ("Title",)),
            Block(BlockKind.PARAGRAPH, 9, 21, ("Title",)),
        ),
    )


def test_a_byte_order_mark_stays_in_the_text() -> None:
    """So that offsets count in the file; nothing is made of it."""
    one = parse("a.txt", b"\xef\xbb\xbfWords here.\n")
    assert one.text == "\ufeffWords here.\n"
    assert one.blocks == (Block(BlockKind.PARAGRAPH, 1, 12),)
    assert parse("a.md", b"\xef\xbb\xbf").blocks == ()


def test_newlines_are_untouched() -> None:
    assert parse("a.txt", b"one\r\ntwo\rthree\n").text == "one\r\ntwo\rthree\n"


def test_a_format_without_a_reader(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    with pytest.raises(Unreadable, match=r"^format not supported$"):
        load.load(tmp_path, "a.png")


def test_bytes_and_lines_are_capped() -> None:
    """Each line costs a kilobyte while it is read."""
    with pytest.raises(Unreadable, match=r"^larger than 8 MiB$"):
        parse("a.txt", b"x" * (MAX_BYTES + 1))
    assert len(parse("a.txt", b"\n" * MAX_LINES).text) == MAX_LINES
    with pytest.raises(Unreadable, match=r"^more than 200,000 lines; split it into smaller files$"):
        parse("a.txt", b"\n" * (MAX_LINES + 1))
