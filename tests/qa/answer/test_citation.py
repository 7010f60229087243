"""Whether a cited file is still what was indexed."""

from __future__ import annotations

import errno
import os
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

import pytest

from qa.answer.citation import file_state
from qa.answer.results import State, cite

DATA = b"Caf\xc3\xa9\r\n"
DIGEST = sha256(DATA).hexdigest()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_bytes(DATA)
    return tmp_path


def test_unchanged_bytes_are_verified_at_any_mtime(root: Path) -> None:
    os.utime(root / "notes" / "a.md", (1, 1))
    assert file_state(root, "notes/a.md", DIGEST) is State.VERIFIED


@pytest.mark.parametrize("data", [b"", b"Caf\xc3\xa9\n", b"Caf\xc3\xa8\r\n", b"\0\xff"])
def test_any_other_bytes_are_a_change(root: Path, data: bytes) -> None:
    """Even if only a line end or a letter differs, or the file is no longer text."""
    (root / "notes" / "a.md").write_bytes(data)
    assert file_state(root, "notes/a.md", DIGEST) is State.CHANGED


def test_missing(root: Path) -> None:
    """The file or its folder is gone, or there is a file in place of the folder."""
    (root / "notes" / "a.md").unlink()
    assert file_state(root, "notes/a.md", DIGEST) is State.MISSING
    (root / "notes").rmdir()
    assert file_state(root, "notes/a.md", DIGEST) is State.MISSING
    (root / "notes").write_bytes(DATA)
    assert file_state(root, "notes/a.md", DIGEST) is State.MISSING


def test_a_file_that_may_not_be_read(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is not called changed, and the file and the permission are named."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("os.open", refuse)
    assert file_state(root, "notes/a.md", DIGEST) is State.UNCHECKED
    assert caplog.messages == ["notes/a.md: cannot be read: Permission denied. Make it readable to have it checked."]


@pytest.mark.parametrize("kind", ["fifo", "folder", "link"])
def test_something_else_in_its_place(root: Path, kind: str) -> None:
    """Only a regular file is verified, not even a link to the same bytes; a FIFO is not waited for."""
    file = root / "notes" / "a.md"
    file.rename(root / "kept.md")
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.symlink_to(root / "kept.md")
    assert file_state(root, "notes/a.md", DIGEST) is State.CHANGED


def test_cite() -> None:
    """A citation has lines as editors open them, or the page if there is one."""
    assert cite("a.md", (9, 14), None) == "a.md:9-14"
    assert cite("a.md", (9, 9), None) == "a.md:9"
    assert cite("a b.pdf", (9, 14), 3) == "a b.pdf, p. 3"
