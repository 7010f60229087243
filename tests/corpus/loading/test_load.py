"""Reading one file, whatever it is."""

from __future__ import annotations

import errno
import os
import socket
import time
from pathlib import Path

import pytest

from corpus.discovery.safe_read import read_bytes
from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES, MAX_LINES
from corpus.loading import load
from corpus.loading.load import digest, parse
from corpus.text.encodings import decode
from corpus.types import Block, BlockKind, Document

TEXT = "# Title\n\nBody, naïve.\n"


def reason(file: Path) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        read_bytes(file.parent, file.name)
    assert str(caught.value) == caught.value.reason
    return caught.value


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


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


def test_the_digest_is_sha_256() -> None:
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_a_byte_order_mark_stays_in_the_text() -> None:
    """So that offsets count in the file; nothing is made of it."""
    one = parse("a.txt", b"\xef\xbb\xbfWords here.\n")
    assert one.text == "\ufeffWords here.\n"
    assert one.blocks == (Block(BlockKind.PARAGRAPH, 1, 12),)
    assert parse("a.md", b"\xef\xbb\xbf").blocks == ()


def test_newlines_are_untouched() -> None:
    assert parse("a.txt", b"one\r\ntwo\rthree\n").text == "one\r\ntwo\rthree\n"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x7fELF\0\0", "binary, not text"),
        (b"a" * 7999 + b"\0", "binary, not text"),
        (b"\xff\xfea", "not valid UTF-16-LE, which its first bytes announce (byte 2)"),
        ("naïve".encode("utf-16-be"), "binary, not text"),
    ],
)
def test_what_is_no_text_says_so(data: bytes, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(data)
    assert (caught.value.reason, caught.value.gone, caught.value.unknown) == (why, False, False)


def test_a_nul_far_into_a_text_is_a_character() -> None:
    assert decode(b"a" * 8000 + b"\0") == ("a" * 8000 + "\0", "")


def test_a_format_without_a_reader(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    with pytest.raises(Unreadable, match=r"^format not supported$"):
        load.load(tmp_path, "a.png")


def test_a_file_that_vanished(tmp_path: Path) -> None:
    """Or whose folder became a file."""
    (tmp_path / "file").touch()
    for path in (tmp_path / "gone.md", tmp_path / "file" / "a.md"):
        found = reason(path)
        assert (found.reason, found.gone, found.unknown) == ("vanished while being read", True, False)


def test_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    """Nobody writes to it; a plain open would wait for ever."""
    os.mkfifo(tmp_path / "a.md")
    begun = time.perf_counter()
    assert reason(tmp_path / "a.md").reason == "not a regular file"
    assert time.perf_counter() - begun < 1


def test_special_files_are_refused_and_nothing_stays_open(tmp_path: Path) -> None:
    before = descriptors()
    assert reason(tmp_path).reason == "not a regular file"
    assert reason(Path("/dev/zero")).reason == "not a regular file"
    assert reason(tmp_path / "no" / "a.md").gone
    assert descriptors() == before


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("a.md")
        found = reason(Path("a.md"))
    assert (found.reason, found.gone, found.unknown) == ("not a regular file", False, False)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Even one put there after the walk."""
    (tmp_path / "real.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "link.md").symlink_to("real.md")
    found = reason(tmp_path / "link.md")
    assert (found.reason, found.gone, found.unknown) == ("symbolic link, not followed", False, False)


def test_a_folder_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    """Nothing outside the root is read, though the walk saw a folder there."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text(TEXT, encoding="utf-8")
    root = tmp_path / "root"
    root.mkdir()
    (root / "sub").symlink_to("../outside")
    (root / "self").symlink_to(".")
    for path in ("sub/a.md", "self/sub/a.md"):
        with pytest.raises(Unreadable) as caught:
            load.load(root, path)
        assert caught.value.gone
    (tmp_path / "way").symlink_to("outside")
    assert load.load(tmp_path / "way", "a.md").text == TEXT


@pytest.mark.parametrize("path", ["../a.md", "sub/../../a.md", "/etc/hostname", "a//b", ".", "", "sub/"])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "a.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "root" / "sub").mkdir(parents=True)
    with pytest.raises(Unreadable, match=r"^not a path inside the folder$"):
        read_bytes(tmp_path / "root", path)


def test_a_path_longer_than_the_system_takes_is_read(tmp_path: Path) -> None:
    """It is opened folder by folder."""
    names = ["n" * 250] * 20
    at = os.open(tmp_path, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    with open(os.open("a.md", os.O_WRONLY | os.O_CREAT, dir_fd=at), "wb") as stream:  # noqa: PTH123 - a descriptor
        stream.write(b"deep")
    os.close(at)
    assert read_bytes(tmp_path, "/".join([*names, "a.md"])) == b"deep"


def test_what_the_system_refuses_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known about the file, so what is indexed of it still counts."""

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    found = reason(tmp_path / "a.md")
    assert (found.reason, found.gone, found.unknown) == ("cannot be read: Permission denied", False, True)


def test_the_cap_holds_for_a_file_that_grew(tmp_path: Path) -> None:
    """One byte more than the cap is read, never the whole."""
    with (tmp_path / "sparse.txt").open("wb") as stream:
        stream.truncate(MAX_BYTES)
    assert len(read_bytes(tmp_path, "sparse.txt")) == MAX_BYTES
    os.truncate(tmp_path / "sparse.txt", 10 * 1024**3)
    assert reason(tmp_path / "sparse.txt").reason == "larger than 8 MiB"
    with pytest.raises(Unreadable, match=r"^larger than 8 MiB$"):
        parse("a.txt", b"x" * (MAX_BYTES + 1))


def test_lines_are_capped() -> None:
    """Each costs a kilobyte while it is read."""
    assert len(parse("a.txt", b"\n" * MAX_LINES).text) == MAX_LINES
    with pytest.raises(Unreadable, match=r"^more than 200,000 lines; split it into smaller files$"):
        parse("a.txt", b"\n" * (MAX_LINES + 1))
