"""Any kind of file is read safely."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from corpus.discovery.safe_read import read_bytes
from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES


def refusal(file: Path) -> tuple[str, bool, bool]:
    """Return why a file is refused, whether it is gone, and whether its state is unknown."""
    with pytest.raises(Unreadable) as caught:
        read_bytes(file.parent, file.name)
    assert str(caught.value) == caught.value.reason
    return caught.value.reason, caught.value.gone, caught.value.unknown


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_vanished_file_is_reported(tmp_path: Path) -> None:
    """So is a file whose folder became a file."""
    (tmp_path / "file").touch()
    for path in (tmp_path / "gone.md", tmp_path / "file" / "a.md"):
        assert refusal(path) == ("vanished while being read", True, False)


def test_special_files_are_refused_and_nothing_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A normal open would wait forever for a writer of the pipe."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo.md")
    before = open_descriptors()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        for path in (Path("socket.md"), Path("fifo.md"), tmp_path, Path("/dev/zero")):
            assert refusal(path) == ("not a regular file", False, False)
    assert open_descriptors() == before


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Not even a link created after the walk."""
    (tmp_path / "real.md").write_bytes(b"words")
    (tmp_path / "link.md").symlink_to("real.md")
    assert refusal(tmp_path / "link.md") == ("symbolic link, not followed", False, False)


def test_a_folder_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    """Nothing outside the root is read, even if the walk still found a folder."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_bytes(b"words")
    root = tmp_path / "root"
    root.mkdir()
    (root / "sub").symlink_to("../outside")
    (root / "self").symlink_to(".")
    for path in ("sub/a.md", "self/sub/a.md"):
        with pytest.raises(Unreadable) as caught:
            read_bytes(root, path)
        assert caught.value.gone
    (tmp_path / "way").symlink_to("outside")
    assert read_bytes(tmp_path / "way", "a.md") == b"words"


@pytest.mark.parametrize("path", ["../a.md", "sub/../../a.md", "/etc/hostname", "a//b", ".", "", "sub/"])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "a.md").write_bytes(b"words")
    (tmp_path / "root" / "sub").mkdir(parents=True)
    with pytest.raises(Unreadable, match=r"^not a path inside the folder$"):
        read_bytes(tmp_path / "root", path)


def test_a_path_longer_than_the_system_takes_is_read(tmp_path: Path) -> None:
    """The folders are opened one by one."""
    names = ["n" * 250] * 20
    folder_fd = os.open(tmp_path, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=folder_fd)
        inner_fd = os.open(name, os.O_RDONLY, dir_fd=folder_fd)
        os.close(folder_fd)
        folder_fd = inner_fd
    with open(os.open("a.md", os.O_WRONLY | os.O_CREAT, dir_fd=folder_fd), "wb") as stream:  # noqa: PTH123 - a descriptor
        stream.write(b"deep")
    os.close(folder_fd)
    assert read_bytes(tmp_path, "/".join([*names, "a.md"])) == b"deep"


def test_permission_error_leaves_file_state_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known about the file, so its passages stay in the index."""

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert refusal(tmp_path / "a.md") == ("cannot be read: Permission denied", False, True)


def test_size_cap_applies_to_a_file_that_grew(tmp_path: Path) -> None:
    """At most one byte more than the cap is read."""
    with (tmp_path / "sparse.txt").open("wb") as stream:
        stream.truncate(MAX_BYTES)
    assert len(read_bytes(tmp_path, "sparse.txt")) == MAX_BYTES
    os.truncate(tmp_path / "sparse.txt", 10 * 1024**3)
    assert refusal(tmp_path / "sparse.txt")[0] == "larger than 8 MiB"
