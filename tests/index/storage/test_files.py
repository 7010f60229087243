"""Atomic writes, and the folders of the index and the cache."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from corpus.errors import StorageError
from index.storage import disk
from index.storage.files import make_folder, write_atomically, write_to_cache
from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder


def failing(which: str) -> disk.Watcher:
    """Fails every step of a kind."""

    def fail(step: str, path: Path) -> None:
        if step == which:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    return fail


@pytest.mark.parametrize("step", ["create", "write", "sync", "rename"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, step: str) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"old")
    with disk.watched(failing(step)), pytest.raises(StorageError, match=r"cannot write .*a: Input/output error"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_synced_is_said_so_with_the_new_file_in_place(tmp_path: Path) -> None:
    """Whether it would survive a power failure is not known, so it is not said to be written."""
    path = tmp_path / "a"
    with disk.watched(failing("sync folder")), pytest.raises(StorageError, match="cannot write"):
        write_atomically(path, b"new")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("a", b"new")]


def test_a_file_is_synced_before_it_has_its_name_and_its_folder_after(tmp_path: Path) -> None:
    steps: list[tuple[str, str]] = []
    with disk.watched(lambda step, path: steps.append((step, path.name))):
        write_atomically(tmp_path / "a", b"new")
    temporary = steps[0][1]
    assert temporary.startswith(".a.")
    assert temporary.endswith(".tmp")
    assert steps == [
        ("create", temporary),
        ("write", temporary),
        ("sync", temporary),
        ("rename", "a"),
        ("sync folder", tmp_path.name),
    ]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot create"):
        make_folder(tmp_path / "missing" / ".qa")


def test_left_over_files_are_swept(root: Path) -> None:
    """Half-written ones, and segments that no generation names, even where there is nothing to write."""
    make_folder(root / ".qa")
    (root / ".qa" / ".vectors-1.faiss.abc.tmp").write_bytes(b"half")
    update_index(Request(root, BagEncoder()))
    (root / ".qa" / "vectors-0-9.faiss").write_bytes(b"of a process killed behind its commit")
    update_index(Request(root, BagEncoder()))
    assert sorted(path.name for path in (root / ".qa").iterdir()) == [
        ".gitignore",
        "index.db",
        "lock",
        "vectors-1-1.faiss",
    ]


def test_in_a_cache_only_what_is_old_is_swept(tmp_path: Path) -> None:
    """There is no lock, so another process may be writing there just now."""
    fresh, old, folder = (tmp_path / f".{name}.12345678.tmp" for name in ("fresh", "old", "folder"))
    folder.mkdir()
    for file in (fresh, old, folder / "weights"):
        file.write_bytes(b"half")
    for path in (old, folder):
        os.utime(path, (1, 1))
    write_to_cache(tmp_path / "a", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == [fresh.name, "a"]


def test_an_index_is_hidden_from_git_unless_somebody_deletes_what_hides_it(root: Path) -> None:
    """Also where the process that made the folder was killed."""
    make_folder(root / ".qa")
    update_index(Request(root, BagEncoder()))
    assert (root / ".qa" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    (root / ".qa" / ".gitignore").unlink()
    update_index(Request(root, BagEncoder()))
    assert not (root / ".qa" / ".gitignore").exists()
