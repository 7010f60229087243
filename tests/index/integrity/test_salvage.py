"""Salvage from an unusable database: every embedding that can be read and whose checksum matches."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from corpus.errors import NoIndexError, StorageError
from index.integrity import salvage
from index.snapshot import Snapshot
from index.storage import disk
from index.storage.vectors import vector_checksum
from index.update.report import Choice, Request
from index.update.update import rebuild_index, update_index
from qa.collection.build import model_of
from tests.encoders import BagEncoder
from tests.index.conftest import build, run_sql
from tests.marks import needs_fork
from tests.robustness.process import in_fork

PAGE = 8192
TEXTS = 1000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with so many passages that their vectors fill many pages."""
    root = tmp_path_factory.mktemp("built")
    text = "\n\n".join(f"# Part {number}\n\nNumber {number} of them." for number in range(TEXTS))
    (root / "many.md").write_text(text, encoding="utf-8")
    build(root)
    return root


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Path:
    """A copy of the built folder."""
    return shutil.copytree(built, tmp_path / "corpus")


@pytest.fixture
def folder(root: Path) -> Path:
    """Its index."""
    return root / ".qa"


def leaf_pages(folder: Path, table: str) -> list[int]:
    """Return the page numbers of a table's leaves."""
    query = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'"
    return [number for (number,) in run_sql(folder, query, table)]


def root_page(folder: Path, table: str) -> int:
    """Return the page number of a table's root."""
    return int(run_sql(folder, "SELECT rootpage FROM sqlite_master WHERE name = ?", table)[0][0])


@contextmanager
def edit_database(folder: Path) -> Iterator[bytearray]:
    """Change the bytes of a database in place."""
    data = bytearray((folder / "index.db").read_bytes())
    yield data
    (folder / "index.db").write_bytes(data)


def overwrite(folder: Path, page_numbers: list[int], content: bytes) -> None:
    with edit_database(folder) as data:
        for number in page_numbers:
            data[(number - 1) * PAGE : number * PAGE] = content


def salvage_count(folder: Path) -> int:
    """Set the database aside, and return how many vectors are salvaged."""
    salvage.set_aside(folder)
    return len(dict(salvage.salvaged_vectors(folder)))


def vector_count(folder: Path) -> int:
    return int(run_sql(folder, "SELECT count(*) FROM vectors")[0][0])


def test_undamaged_database_is_salvaged_completely_and_unchanged(folder: Path) -> None:
    before, data = vector_count(folder), (folder / "index.db").read_bytes()
    assert salvage_count(folder) == before == TEXTS
    assert (folder / "index.db.damaged").read_bytes() == data


def change_row_id(data: bytearray, leaf: int) -> None:
    """Change an id so that it is out of order, which would end a range query."""
    second = leaf + int.from_bytes(data[leaf + 10 : leaf + 12], "big")
    # A cell begins with the length of the row and its id, in seven bits per byte.
    while data[second] & 0x80:
        second += 1
    data[second + 1] ^= 0x08


def move_pointer_beyond_page(data: bytearray, leaf: int) -> None:
    """SQLite takes it modulo the page size too, and returns the row."""
    data[leaf + 10] ^= 0x80


def erase_first_page(data: bytearray, leaf: int) -> None:
    """It has the header and the list of tables."""
    data[:PAGE] = bytes(PAGE)


@pytest.mark.parametrize("damage", [change_row_id, move_pointer_beyond_page, erase_first_page])
def test_damage_that_changes_no_vector_loses_none(folder: Path, damage: Callable[[bytearray, int], None]) -> None:
    """The model's name is found too; without it, a rebuild would embed everything again with the default model."""
    before, root = vector_count(folder), root_page(folder, "vectors")
    leaf = (leaf_pages(folder, "vectors")[10] - 1) * PAGE
    with edit_database(folder) as data:
        damage(data, leaf)
        data[(root - 1) * PAGE : root * PAGE] = bytes(PAGE)
    assert salvage.salvaged_model(folder) == "bag"
    assert salvage_count(folder) == before


@pytest.mark.parametrize("content", [b"\xff" * PAGE, bytes(PAGE)], ids=["ones", "zeros"])
def test_unreadable_pages_lose_only_their_own_rows(folder: Path, content: bytes) -> None:
    leaves = leaf_pages(folder, "vectors")
    before = vector_count(folder)
    damaged = [leaves[i] for i in (0, 3, 4, len(leaves) // 2, -2, -1)]
    overwrite(folder, damaged, content)
    most_on_a_page = PAGE // (2 * BagEncoder().dimension)
    assert 0 < before - salvage_count(folder) <= len(damaged) * most_on_a_page


@pytest.mark.parametrize("size", [512, 8192, 65536])
def test_vectors_of_any_length_are_salvaged(tmp_path: Path, size: int) -> None:
    """Long ones take several pages; SQLite stores integers in as few bytes as possible."""
    rows = {}
    connection = sqlite3.connect(tmp_path / "index.db")
    connection.execute(f"PRAGMA page_size = {size}")
    connection.execute("CREATE TABLE vectors (id INTEGER PRIMARY KEY, digest BLOB, vector BLOB, checksum INTEGER)")
    for length in (2, 128, 400, 460, 470, 480, 490, 512, 768, 8000, 8100, 8150, 8160, 8200, 30_000, 65_536):
        digest, vector = length.to_bytes(16, "big"), bytes(length % 251 for _ in range(length))
        rows[digest] = vector
        check = vector_checksum(digest, vector)
        connection.execute("INSERT INTO vectors VALUES (NULL, ?, ?, ?)", (digest, vector, check))
    connection.commit()
    connection.close()
    salvage.set_aside(tmp_path)
    assert dict(salvage.salvaged_vectors(tmp_path)) == rows


def write_to_log(root: Path) -> Snapshot:
    """Add a passage while a reader keeps the log from being checkpointed; return the reader."""
    reader = Snapshot(root / ".qa")
    (root / "new.md").write_text("# New\n\nNobody has read this.\n", encoding="utf-8")
    build(root)
    return reader


def test_vectors_in_a_log_are_salvaged_although_the_database_is_damaged(root: Path, folder: Path) -> None:
    with write_to_log(root):
        before = vector_count(folder)
        with edit_database(folder) as data:
            data[:PAGE] = bytes(PAGE)
        assert salvage_count(folder) == before


def test_a_rebuild_embeds_only_what_was_lost(root: Path, folder: Path) -> None:
    leaves = leaf_pages(folder, "vectors")
    overwrite(folder, [leaves[len(leaves) // 2]], b"\xff" * PAGE)
    encoder = BagEncoder()
    report = rebuild_index(Request(root, encoder))
    assert 0 < report.embedded == len(encoder.embedded) <= PAGE // 128
    assert report.embedded + report.reused == report.passages
    assert not list(folder.glob("*damaged*"))


def test_changed_vectors_are_not_salvaged(folder: Path) -> None:
    before = vector_count(folder)
    run_sql(folder, "UPDATE vectors SET vector = zeroblob(128) WHERE id IN (5, 6)")
    run_sql(folder, "UPDATE vectors SET digest = 'text' WHERE id = 7")
    assert salvage_count(folder) == before - 3


def test_log_is_recovered_after_a_kill_between_renames(root: Path, folder: Path) -> None:
    """The newest vectors are only in the log."""
    reader = write_to_log(root)

    class KilledError(Exception):
        pass

    def kill(step: str, path: Path) -> None:
        if step == "rename" and path.name == "index.db.damaged-wal":
            raise KilledError

    with disk.watched(kill), pytest.raises(KilledError):
        salvage.set_aside(folder)
    reader.close()
    assert (folder / "index.db-wal").exists()
    with pytest.raises(NoIndexError):
        Snapshot(folder)
    encoder = BagEncoder()
    build(root, encoder)
    assert encoder.embedded == []
    assert not list(folder.glob("*damaged*"))


def rebuild_and_record_steps(root: Path, kill_at: int | None = None) -> list[tuple[str, str]]:
    """Rebuild, and return the steps after the renaming of the damaged database; exit before step `kill_at`."""
    steps: list[tuple[str, str]] = []

    def watch(step: str, path: Path) -> None:
        if steps or (step, path.name) == ("rename", "index.db.damaged"):
            if len(steps) - 1 == kill_at:
                os._exit(9)
            steps.append((step, path.name))

    with disk.watched(watch):
        rebuild_index(Request(root, BagEncoder()))
    return steps[1:]


@needs_fork
def test_killed_rebuild_keeps_patterns_and_model(tmp_path: Path) -> None:
    """Only the damaged database has these until the new one has a generation."""
    root = tmp_path / "corpus"
    root.mkdir()
    for name in ("in.md", "out.md", "other.txt"):
        (root / name).write_text(f"# Title\n\nThe text of {name}.\n", encoding="utf-8")
    update_index(Request(root, BagEncoder(), Choice(include=("*.md",), exclude=("out.md",))))
    overwrite(root / ".qa", [root_page(root / ".qa", "documents")], b"\xff" * PAGE)
    steps = rebuild_and_record_steps(shutil.copytree(root, tmp_path / "counted"))
    assert steps.count(("delete", "index.db.damaged")) == 1
    assert steps.index(("delete", "index.db.damaged")) > steps.index(("commit", "index.db"))
    for number, step in enumerate(steps):
        copy = shutil.copytree(root, tmp_path / f"copy-{number}")
        assert in_fork(partial(rebuild_and_record_steps, copy, number)).status == 9
        assert model_of(copy) == "bag"
        encoder = BagEncoder()
        report = (update_index if number % 2 else rebuild_index)(Request(copy, encoder))
        with Snapshot(copy / ".qa") as snapshot:
            assert [document.path for document in snapshot.documents()] == ["in.md"], step
            assert (snapshot.info.include, snapshot.info.exclude) == (("*.md",), ("out.md",))
        assert (report.documents, encoder.embedded) == (1, [])
        assert not list((copy / ".qa").glob("*damaged*"))


def test_a_damaged_database_that_cannot_be_deleted_is_ignored(root: Path, folder: Path) -> None:
    salvage.set_aside(folder)

    def refuse(step: str, path: Path) -> None:
        if step == "delete" and "damaged" in path.name:
            raise PermissionError(13, "Permission denied", str(path))

    with disk.watched(refuse):
        assert build(root).embedded == 0
    assert (folder / "index.db.damaged").exists()
    assert build(root).embedded == 0
    assert not list(folder.glob("*damaged*"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root may read anything")
def test_an_unreadable_database_is_not_discarded(root: Path, folder: Path) -> None:
    salvage.set_aside(folder)
    aside = folder / "index.db.damaged"
    aside.chmod(0)
    with pytest.raises(StorageError, match=r"cannot read .*index\.db\.damaged"):
        build(root)
    aside.chmod(0o600)
    assert build(root).embedded == 0
