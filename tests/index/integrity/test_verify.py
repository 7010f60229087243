"""Any damage ends in the right answer or in one typed error that names the fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import DamagedIndexError, IncompatibleError, NoIndexError, QAError
from index.commit.store import Store
from index.dense.search import Candidate
from index.snapshot import Snapshot
from index.storage.database import FORMAT_VERSION, NewerFormatError
from index.update.report import Request
from index.update.update import rebuild_index, update_index
from tests.encoders import BagEncoder
from tests.index.conftest import build, run_sql


@pytest.fixture
def folder(root: Path) -> Path:
    build(root)
    return root / ".qa"


def search_nearest(folder: Path) -> list[Candidate]:
    with Snapshot(folder) as snapshot:
        return snapshot.dense(BagEncoder().encode_query("cat on a mat"), 3)


def read_all(folder: Path) -> list[str]:
    with Snapshot(folder) as snapshot:
        search_nearest(folder)
        snapshot.keyword("cats dogs birds fish", 5)
        return [passage.text for document in snapshot.documents() for passage in snapshot.passages_of(document.path)]


@pytest.mark.parametrize("column", ["key", "text", "vector"])
def test_a_changed_passage_row_is_never_shown(root: Path, folder: Path, column: str) -> None:
    run_sql(folder, f"UPDATE passages SET {column} = 77 WHERE id = 1")  # noqa: S608
    with pytest.raises(DamagedIndexError, match=r"(passage 1|of vector \d+)\b.*qa check --repair.*qa index --full"):
        read_all(folder)
    report = rebuild_index(Request(root, BagEncoder()))
    assert report.embedded == 0
    assert len(read_all(folder)) == 4


def test_a_changed_vector_is_never_scored_and_a_rebuild_embeds_it_again(root: Path, folder: Path) -> None:
    expected = search_nearest(folder)
    run_sql(folder, "UPDATE vectors SET vector = zeroblob(256) WHERE id = 1")
    assert search_nearest(folder) == expected  # the segment has it too
    (folder / "vectors-1-1.faiss").unlink()
    with pytest.raises(DamagedIndexError, match="vector 1"):
        search_nearest(folder)
    assert rebuild_index(Request(root, BagEncoder())).embedded == 1
    assert len(search_nearest(folder)) == 3


@pytest.mark.parametrize("junk", [b"", b"x", b"not a database" * 1000, b"SQLite format 3\0" + bytes(90_000)])
def test_a_file_that_is_not_a_database_is_an_error_until_a_rebuild_replaces_it(
    root: Path, folder: Path, junk: bytes
) -> None:
    (folder / "index.db").write_bytes(junk)
    with pytest.raises(QAError) as caught:
        read_all(folder)
    assert isinstance(caught.value, DamagedIndexError | NoIndexError | IncompatibleError)
    rebuild_index(Request(root, BagEncoder()))
    assert len(read_all(folder)) == 4
    assert not list(folder.glob("*damaged*"))


@pytest.mark.parametrize("action", [update_index, rebuild_index])
def test_a_newer_format_is_left_untouched(root: Path, folder: Path, action: type[update_index]) -> None:  # type: ignore[valid-type]
    run_sql(folder, f"PRAGMA user_version = {FORMAT_VERSION + 1}")
    before = (folder / "index.db").read_bytes()
    with pytest.raises(NewerFormatError, match="Upgrade the tool"):
        Snapshot(folder)
    with pytest.raises(NewerFormatError):
        action(Request(root, BagEncoder()))  # type: ignore[misc]
    assert (folder / "index.db").read_bytes() == before


@pytest.mark.parametrize("pragma", ["user_version = 0", "application_id = 5"])
def test_foreign_or_older_file_requires_a_rebuild(root: Path, folder: Path, pragma: str) -> None:
    run_sql(folder, f"PRAGMA {pragma}")
    with pytest.raises(IncompatibleError, match="qa index --full"):
        Snapshot(folder)
    rebuild_index(Request(root, BagEncoder()))
    assert len(read_all(folder)) == 4


def test_build_killed_before_creating_tables_leaves_no_index(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_bytes(b"")
    with pytest.raises(NoIndexError, match="never finished"):
        Snapshot(tmp_path)
    with Store(tmp_path):
        pass
    with pytest.raises(NoIndexError, match="never finished"):
        Snapshot(tmp_path)
