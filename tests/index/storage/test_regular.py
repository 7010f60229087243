"""An index folder from a stranger: a link in it leads no write into another file, and a pipe blocks nobody."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.errors import QAError, StorageError
from index.integrity.salvage import salvaged_model
from index.postgres.address import remembered_address
from index.snapshot import Snapshot
from index.storage.database import open_for_writing
from index.storage.locking import describe_writer, wait_for_writer, writer_lock
from index.storage.sealed import read_sealed
from tests.index.conftest import build

SIDE_FILES = ("index.db-wal", "index.db-shm", "index.db-journal")


@pytest.fixture
def folder(root: Path) -> Path:
    """An index folder."""
    build(root)
    return root / ".qa"


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
@pytest.mark.parametrize("name", ["lock", *SIDE_FILES])
def test_no_file_is_written_through_a_link(
    folder: Path, tmp_path: Path, name: str, link: Callable[[Path, Path], None]
) -> None:
    """Neither when the index is locked, nor by SQLite, which readers let write beside the database."""
    (victim := tmp_path / "victim.txt").write_text("precious")
    (folder / name).unlink(missing_ok=True)
    link(folder / name, victim)
    with pytest.raises(StorageError, match=rf"{folder / name} is a .*link.*\. Delete it, then run `qa index`\.$"):
        build(folder.parent)
    if name in SIDE_FILES:
        with pytest.raises(StorageError, match=f"{folder / name} is a .*link"):
            Snapshot(folder)
    assert victim.read_text() == "precious"
    (folder / name).unlink()
    assert build(folder.parent).unchanged


def test_a_dangling_lock_creates_no_file(folder: Path, tmp_path: Path) -> None:
    """It would be a file of the stranger's choice."""
    (folder / "lock").unlink()
    (folder / "lock").symlink_to(tmp_path / "new.txt")
    with pytest.raises(StorageError, match="lock is a link"), writer_lock(folder):
        pass
    assert not (tmp_path / "new.txt").exists()


def test_a_linked_database_is_refused_and_a_hard_linked_one_only_read(folder: Path, tmp_path: Path) -> None:
    """A write would change the index of another collection; backups made of hard links may be read."""
    (other := tmp_path / "other.db").write_bytes((folder / "index.db").read_bytes())
    (folder / "index.db").unlink()
    (folder / "index.db").symlink_to(other)
    for use in (Snapshot, lambda path: open_for_writing(path / "index.db")):
        with pytest.raises(StorageError, match=rf"{folder}/index.db is a link.*\. Delete it, then run `qa index`\.$"):
            use(folder)
    (folder / "index.db").unlink()
    (folder / "index.db").hardlink_to(other)
    Snapshot(folder).close()
    with pytest.raises(StorageError, match=r"index\.db is a hard link"):
        open_for_writing(folder / "index.db")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("store.json", remembered_address),
        ("lock", lambda folder: writer_lock(folder).__enter__()),
        ("index.db", Snapshot),
        ("index.db", lambda folder: build(folder.parent)),
    ],
)
def test_a_pipe_is_refused_at_once(folder: Path, name: str, read: Callable[[Path], object]) -> None:
    """Opening it would wait for a writer that never comes."""
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(QAError, match=rf"{folder / name} is a pipe or a device, not a file\. Delete it"):
        read(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_pipes_count_as_missing_where_a_file_is_optional(folder: Path) -> None:
    """Nobody holds such a lock, nothing is salvaged from such a database, and such topics are computed again."""
    for name in ("lock", "index.db", "topics.bin"):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    assert describe_writer(folder) is None
    wait_for_writer(folder)
    assert salvaged_model(folder) is None
    assert read_sealed(folder / "topics.bin") is None


def test_a_folder_in_place_of_the_database_is_named(folder: Path) -> None:
    """SQLite itself only reports that it cannot open the file."""
    (folder / "index.db").unlink()
    (folder / "index.db").mkdir()
    with pytest.raises(StorageError, match=r"index\.db is a folder, not a file\. Delete it"):
        build(folder.parent)
