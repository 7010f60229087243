"""With any value in any column and a valid checksum, every action succeeds or raises a typed error."""

# ruff: noqa: S608 - names of tables and columns

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.errors import QAError
from index.integrity.verify import verify
from index.snapshot import Snapshot
from index.storage.database import open_for_writing
from index.update.report import Request
from index.update.update import rebuild_derived, rebuild_index
from tests.encoders import BagEncoder
from tests.index.conftest import build
from tests.robustness.reseal import edit

with closing(open_for_writing(Path(":memory:"))) as _connection:
    TABLES = {
        table: [column for _, column, *_ in _connection.execute(f"PRAGMA table_info({table})")]
        for (table,) in _connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        if not table.startswith("sqlite_")
    }
values = (
    st.none()
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
    | st.binary(max_size=9)
    | st.floats(allow_nan=False)
    | st.integers(-(2**63), 2**63 - 1)
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index in which every table has a row: duplicates, free ids, unused vectors, a skipped file."""
    root = tmp_path_factory.mktemp("built")
    for name in ("a.txt", "b.txt", "c.txt"):
        (root / name).write_text("Birds sing in the morning.\n", encoding="utf-8")
    (root / "d.txt").write_text("# Dogs\n\nDogs bark.\n\n# Owls\n\nOwls hunt.\n", encoding="utf-8")
    (root / "skipped.txt").write_bytes(b"\0\1")
    build(root)
    (root / "a.txt").unlink()
    build(root)
    with closing(sqlite3.connect(root / ".qa" / "index.db")) as connection:
        assert all(connection.execute(f"SELECT count(*) FROM {table}").fetchone() > (0,) for table in TABLES)
    return root


def search_everything(root: Path) -> None:
    with Snapshot(root / ".qa") as snapshot:
        for documents in (None, snapshot.match_paths("*.txt")):
            candidates = [
                *snapshot.dense(BagEncoder().encode_query("dogs bark"), 9, documents=documents),
                *snapshot.keyword("birds dogs", 9, documents=documents),
            ]
            snapshot.duplicates(snapshot.passages([candidate.passage for candidate in candidates]))
        snapshot.passages_of("d.txt")
        snapshot.find("0" * 16)
        snapshot.skipped()


def update(root: Path) -> None:
    (root / "b.txt").write_text("Fish swim.\n", encoding="utf-8")
    build(root)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_stored_value_causes_only_typed_errors(built: Path, tmp_path: Path, data: st.DataObject) -> None:
    table = data.draw(st.sampled_from(sorted(TABLES)))
    column, value = data.draw(st.sampled_from(TABLES[table])), data.draw(values)
    root = tmp_path / "copy"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(built, root)
    key = TABLES[table][0]
    row = f"{key} = (SELECT {key} FROM {table} ORDER BY random() LIMIT 1)"
    with suppress(sqlite3.IntegrityError, TypeError):  # the column refuses the value, or no checksum can fit
        edit(root / ".qa" / "index.db", (f"UPDATE {table} SET {column} = ? WHERE {row}", (value,)))
    for action in (search_everything, lambda root: verify(root / ".qa"), update, rebuild_derived):
        with suppress(QAError):
            action(root)
    rebuild_index(Request(root, BagEncoder()))
    assert verify(root / ".qa").problems == ()
    search_everything(root)
