"""Atomic writes, and the folders of the index and the cache."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus.errors import StorageError
from index.storage import disk
from index.storage.files import make_folder, write_atomically, write_to_cache
from index.storage.sealed import write_derived
from index.update.report import Request
from index.update.update import rebuild_index
from tests.encoders import BagEncoder
from tests.index.conftest import build
from tests.marks import needs_root


def fail_at(failing_step: str) -> disk.Watcher:
    """Return a watcher that makes every such step fail."""

    def fail(step: str, path: Path) -> None:
        if step == failing_step:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    return fail


@pytest.mark.parametrize("step", ["create", "write", "sync", "rename"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, step: str) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"old")
    with disk.watched(fail_at(step)), pytest.raises(StorageError, match=r"cannot write .*a: Input/output error"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_folder_sync_failure_is_reported_with_the_new_file_in_place(tmp_path: Path) -> None:
    """The file might not survive a power failure, so it is not reported as written."""
    path = tmp_path / "a"
    with disk.watched(fail_at("sync folder")), pytest.raises(StorageError, match="cannot write"):
        write_atomically(path, b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"new")]


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


@pytest.fixture
def private_umask() -> Iterator[None]:
    """New files of this process cannot be read by other users."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("private_umask")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_new_files_of_an_index_are_shared_like_its_database(root: Path, mode: int) -> None:
    """Whatever writes them, and even if the database itself is rebuilt."""
    build(root)
    database = root / ".qa" / "index.db"
    database.chmod(mode)
    rebuild_index(Request(root, BagEncoder()))
    write_derived(root / ".qa" / "topics.bin", b"topics")
    names = ("index.db", "topics.bin", "vectors-2-1.faiss")
    assert [_mode(root / ".qa" / name) for name in names] == [mode] * 3
    database.write_bytes(database.read_bytes()[:20_000])
    rebuild_index(Request(root, BagEncoder()))
    assert [_mode(root / ".qa" / name) for name in ("index.db", "vectors-1-1.faiss")] == [mode] * 2


@needs_root
@pytest.mark.parametrize(("mode", "without_group", "with_group"), [(0o640, 0o600, 0o640), (0o664, 0o644, 0o664)])
def test_no_other_group_may_read_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, without_group: int, with_group: int
) -> None:
    """If the user is not in the database's group, the group of a new file may only do what others may."""
    (old := tmp_path / "old").write_bytes(b"")
    old.chmod(mode)
    os.chown(old, 4001, 4002)
    write_atomically(tmp_path / "a", b"", like=old)
    status = (tmp_path / "a").stat()
    assert (status.st_uid, status.st_gid, _mode(tmp_path / "a")) == (4001, 4002, with_group)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    write_atomically(tmp_path / "b", b"", like=old)
    assert _mode(tmp_path / "b") == without_group


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folder_creation_failure_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot create"):
        make_folder(tmp_path / "missing" / ".qa")


def test_left_over_files_are_swept(root: Path) -> None:
    """Half-written files, and segments that no generation has, even by an update without changes."""
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
    """It has one even if the process that created the folder was killed."""
    make_folder(root / ".qa")
    build(root)
    assert (root / ".qa" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    (root / ".qa" / ".gitignore").unlink()
    build(root)
    assert not (root / ".qa" / ".gitignore").exists()
