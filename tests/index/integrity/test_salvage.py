"""What is saved of a database that cannot be used: every embedding that can be read and holds, in bounded time."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from corpus.errors import NoIndexError, StorageError
from index.integrity import salvage
from index.snapshot import Snapshot
from index.storage import disk
from index.storage.vectors import vector_checksum
from index.update.report import Request
from index.update.update import rebuild_index, update_index
from qa.collection.build import model_of
from tests.encoders import BagEncoder
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
    update_index(Request(root, BagEncoder()))
    return root


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(built, tmp_path / "corpus")


@pytest.fixture
def folder(root: Path) -> Path:
    """Its index."""
    return root / ".qa"


def pages_of(folder: Path, table: str) -> list[int]:
    """The leaves of a table, by their place in the file."""
    data = (folder / "index.db").read_bytes()

    def leaves(number: int) -> list[int]:
        page = data[(number - 1) * PAGE : number * PAGE]
        if page[0] == 0x0D:
            return [number]
        cells = int.from_bytes(page[3:5], "big")
        pointers = [int.from_bytes(page[12 + 2 * i : 14 + 2 * i], "big") for i in range(cells)]
        children = [int.from_bytes(page[at : at + 4], "big") for at in pointers]
        return [leaf for child in (*children, int.from_bytes(page[8:12], "big")) for leaf in leaves(child)]

    return leaves(root_of(folder, table))


def root_of(folder: Path, table: str) -> int:
    """The page that a table begins on."""
    return run(folder, "SELECT rootpage FROM sqlite_master WHERE name = ?", table)


def run(folder: Path, statement: str, *values: object) -> int:
    """The number that a statement returns, or 0."""
    with closing(sqlite3.connect(folder / "index.db")) as connection, connection:
        (number,) = connection.execute(statement, values).fetchone() or (0,)
    return int(number)


def overwrite(folder: Path, numbers: list[int], what: bytes) -> None:
    data = bytearray((folder / "index.db").read_bytes())
    for number in numbers:
        data[(number - 1) * PAGE : number * PAGE] = what
    (folder / "index.db").write_bytes(data)


def saved(folder: Path) -> int:
    salvage.set_aside(folder)
    return len(dict(salvage.salvaged_vectors(folder)))


def stored(folder: Path) -> int:
    return run(folder, "SELECT count(*) FROM vectors")


def test_a_sound_database_gives_all_and_is_left_as_it_is(folder: Path) -> None:
    held, data = stored(folder), (folder / "index.db").read_bytes()
    assert saved(folder) == held == TEXTS
    assert (folder / "index.db.damaged").read_bytes() == data


def test_a_row_number_that_was_damaged_hides_no_row_but_its_own(folder: Path) -> None:
    """A search over a range would end there."""
    held = stored(folder)
    data = bytearray((folder / "index.db").read_bytes())
    start = (pages_of(folder, "vectors")[10] - 1) * PAGE
    second = start + int.from_bytes(data[start + 10 : start + 12], "big")
    # A cell: bytes of the row, then its number, both in seven bits a byte.
    while data[second] & 0x80:
        second += 1
    data[second + 1] ^= 0x08
    (folder / "index.db").write_bytes(data)
    assert saved(folder) == held


@pytest.mark.parametrize("what", [b"\xff" * PAGE, bytes(PAGE)], ids=["ones", "zeros"])
@pytest.mark.parametrize("place", ["first", "middle", "last", "several"])
def test_what_lies_beside_unreadable_pages_is_saved(folder: Path, what: bytes, place: str) -> None:
    """Of each page only its own rows are lost."""
    leaves = pages_of(folder, "vectors")
    assert len(leaves) > 10
    middle = len(leaves) // 2
    chosen = {"first": [0], "middle": [middle], "last": [-1], "several": [0, 3, 4, middle, -2, -1]}[place]
    held = stored(folder)
    overwrite(folder, [leaves[i] for i in chosen], what)
    most_on_a_page = PAGE // (2 * BagEncoder().dimension)
    assert held - saved(folder) <= len(chosen) * most_on_a_page
    assert held - len(dict(salvage.salvaged_vectors(folder))) > 0


def test_a_pointer_that_leads_beyond_its_page_leads_into_it(folder: Path) -> None:
    """So SQLite reads it, and gives out the row."""
    held = stored(folder)
    data = bytearray((folder / "index.db").read_bytes())
    data[(pages_of(folder, "vectors")[10] - 1) * PAGE + 10] ^= 0x80
    (folder / "index.db").write_bytes(data)
    assert saved(folder) == held


@pytest.mark.parametrize("what", ["header", "list of tables", "root"])
def test_what_leads_to_the_vectors_is_not_needed(folder: Path, what: str) -> None:
    held = stored(folder)
    data = bytearray((folder / "index.db").read_bytes())
    root_page = root_of(folder, "vectors")
    spans = {"header": (0, 100), "list of tables": (100, PAGE), "root": ((root_page - 1) * PAGE, root_page * PAGE)}
    start, end = spans[what]
    data[start:end] = bytes(end - start)
    (folder / "index.db").write_bytes(data)
    assert saved(folder) == held


@pytest.mark.parametrize("size", [512, 8192, 65536])
def test_vectors_of_any_length_are_saved(tmp_path: Path, size: int) -> None:
    """Long ones run over several pages; numbers are stored in as few bytes as they need."""
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


def test_vectors_in_a_log_are_saved_though_its_database_is_gone_to_pieces(root: Path, folder: Path) -> None:
    reader = Snapshot(folder)  # keeps the log from being folded in
    (root / "new.md").write_text("# New\n\nNobody has read this.\n", encoding="utf-8")
    update_index(Request(root, BagEncoder()))
    held = stored(folder)
    data = (folder / "index.db").read_bytes()
    (folder / "index.db").write_bytes(bytes(PAGE) + data[PAGE:])
    assert saved(folder) == held
    reader.close()


@pytest.mark.parametrize("zeroed", [0, 100, PAGE])
def test_the_model_is_told_whatever_leads_to_its_name(folder: Path, zeroed: int) -> None:
    """Otherwise a rebuild would take the default, and embed everything anew."""
    data = (folder / "index.db").read_bytes()
    (folder / "index.db").write_bytes(bytes(zeroed) + data[zeroed:])
    assert salvage.salvaged_model(folder) == "bag"


def test_a_rebuild_embeds_only_what_was_lost(root: Path, folder: Path) -> None:
    leaves = pages_of(folder, "vectors")
    overwrite(folder, [leaves[len(leaves) // 2]], b"\xff" * PAGE)
    encoder = BagEncoder()
    report = rebuild_index(Request(root, encoder))
    assert 0 < report.embedded == len(encoder.embedded) <= PAGE // 128
    assert report.embedded + report.reused == report.passages
    assert not list(folder.glob("*damaged*"))


@pytest.mark.parametrize("junk", [b"", b"x", b"not a database" * 1000, b"SQLite format 3\0" + bytes(90_000)])
def test_junk_gives_nothing(folder: Path, junk: bytes) -> None:
    (folder / "index.db").write_bytes(junk)
    assert saved(folder) == 0


def test_changed_vectors_are_not_taken_over(folder: Path) -> None:
    held = stored(folder)
    run(folder, "UPDATE vectors SET vector = zeroblob(128) WHERE id IN (5, 6)")
    run(folder, "UPDATE vectors SET digest = 'text' WHERE id = 7")
    assert saved(folder) == held - 3


def test_a_log_follows_its_database_when_a_process_was_killed_between_them(root: Path, folder: Path) -> None:
    """Its newest vectors stand in the log only."""
    reader = Snapshot(folder)  # keeps the log from being folded in
    (root / "new.md").write_text("# New\n\nNobody has read this.\n", encoding="utf-8")
    update_index(Request(root, BagEncoder()))

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
    update_index(Request(root, encoder))
    assert encoder.embedded == []
    assert not list(folder.glob("*damaged*"))


class Killing:
    """Ends its process at the nth step on files after the damaged database was renamed, counted from 0."""

    def __init__(self, place: int | None = None) -> None:
        self.steps: list[tuple[str, str]] = []
        self._place = place

    def __call__(self, step: str, path: Path) -> None:
        begun = self.steps or (step, path.name) == ("rename", "index.db.damaged")
        if begun and len(self.steps) - 1 == self._place:
            os._exit(9)
        if begun:
            self.steps.append((step, path.name))

    def over(self, root: Path) -> list[tuple[str, str]]:
        """Rebuild; the steps."""
        with disk.watched(self):
            rebuild_index(Request(root, BagEncoder()))
        return self.steps[1:]


@needs_fork
def test_a_kill_at_any_step_of_a_rebuild_loses_neither_patterns_nor_model(tmp_path: Path) -> None:
    """They stand in the damaged database alone until the new one has a generation."""
    root = tmp_path / "corpus"
    root.mkdir()
    for name in ("in.md", "out.md", "other.txt"):
        (root / name).write_text(f"# Title\n\nThe text of {name}.\n", encoding="utf-8")
    update_index(Request(root, BagEncoder(), include=("*.md",), exclude=("out.md",)))
    overwrite(root / ".qa", [root_of(root / ".qa", "documents")], b"\xff" * PAGE)
    steps = Killing().over(shutil.copytree(root, tmp_path / "counted"))
    assert steps.count(("delete", "index.db.damaged")) == 1
    assert steps.index(("delete", "index.db.damaged")) > steps.index(("commit", "index.db"))
    for place, step in enumerate(steps):
        copy = shutil.copytree(root, tmp_path / f"copy-{place}")
        assert in_fork(partial(Killing(place).over, copy)).status == 9
        assert model_of(copy) == "bag"
        encoder = BagEncoder()
        report = (update_index if place % 2 else rebuild_index)(Request(copy, encoder))
        with Snapshot(copy / ".qa") as snapshot:
            assert [one.path for one in snapshot.documents()] == ["in.md"], step
            assert (snapshot.info.include, snapshot.info.exclude) == (("*.md",), ("out.md",))
        assert (report.documents, encoder.embedded) == (1, [])
        assert not list((copy / ".qa").glob("*damaged*"))


def test_what_cannot_be_deleted_is_in_nobodys_way(root: Path, folder: Path) -> None:
    salvage.set_aside(folder)

    def refuse(step: str, path: Path) -> None:
        if step == "delete" and "damaged" in path.name:
            raise PermissionError(13, "Permission denied", str(path))

    with disk.watched(refuse):
        assert update_index(Request(root, BagEncoder())).embedded == 0
    assert (folder / "index.db.damaged").exists()
    assert update_index(Request(root, BagEncoder())).embedded == 0
    assert not list(folder.glob("*damaged*"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root may read anything")
def test_a_database_that_may_not_be_read_is_not_given_up(root: Path, folder: Path) -> None:
    salvage.set_aside(folder)
    aside = folder / "index.db.damaged"
    aside.chmod(0)
    with pytest.raises(StorageError, match=r"cannot read .*index\.db\.damaged"):
        update_index(Request(root, BagEncoder()))
    aside.chmod(0o600)
    assert update_index(Request(root, BagEncoder())).embedded == 0
