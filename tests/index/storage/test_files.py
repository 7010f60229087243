"""Atomic writes, and the folders of the index and the cache."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from corpus.errors import StorageError
from index.storage import disk
from index.storage.files import make_folder, write_atomically, write_to_cache
from tests.index.conftest import build


def failing(which: str) -> disk.Watcher:
    """Make every step of this kind fail."""

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


def test_folder_sync_failure_is_reported_with_the_new_file_in_place(tmp_path: Path) -> None:
    """It might not survive a power failure, so it is not reported as written."""
    path = tmp_path / "a"
    with disk.watched(failing("sync folder")), pytest.raises(StorageError, match="cannot write"):
        write_atomically(path, b"new")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("a", b"new")]


def test_a_file_is_synced_before_it_is_renamed_and_its_folder_afterwards(tmp_path: Path) -> None:
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


def test_folder_creation_failure_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot create"):
        make_folder(tmp_path / "missing" / ".qa")


def test_left_over_files_are_swept(root: Path) -> None:
    """Half-written files, and segments that no generation names, even if there is nothing to write."""
    make_folder(root / ".qa")
    (root / ".qa" / ".vectors-1.faiss.abc.tmp").write_bytes(b"half")
    build(root)
    (root / ".qa" / "vectors-0-9.faiss").write_bytes(b"of a process killed after its commit")
    build(root)
    assert {path.name for path in (root / ".qa").iterdir()} == {".gitignore", "index.db", "lock", "vectors-1-1.faiss"}


def test_only_old_temporary_files_are_swept_from_a_cache(tmp_path: Path) -> None:
    """A cache has no lock, so another process may be writing there."""
    fresh, old, folder = (tmp_path / f".{name}.12345678.tmp" for name in ("fresh", "old", "folder"))
    folder.mkdir()
    for file in (fresh, old, folder / "weights"):
        file.write_bytes(b"half")
    for path in (old, folder):
        os.utime(path, (1, 1))
    write_to_cache(tmp_path / "a", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == [fresh.name, "a"]


def test_an_index_has_a_gitignore_file_which_is_not_restored_if_a_user_deletes_it(root: Path) -> None:
    """Even if the process that made the folder was killed."""
    make_folder(root / ".qa")
    build(root)
    assert (root / ".qa" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    (root / ".qa" / ".gitignore").unlink()
    build(root)
    assert not (root / ".qa" / ".gitignore").exists()
