"""`qa check`: which damage it finds, and how `--repair` repairs it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from corpus.errors import DamagedIndexError, StorageError
from index import write_derived
from qa.collection.check import CheckReport, RepairKind, check, repair


@pytest.fixture
def database(talks: Path) -> Iterator[sqlite3.Connection]:
    """A connection for damaging the index."""
    with closing(sqlite3.connect(talks / ".qa" / "index.db", isolation_level=None)) as connection:
        yield connection


def test_an_intact_index(talks: Path) -> None:
    assert check(talks) == repair(talks) == CheckReport(str(talks / ".qa"), 1, 2, kind=RepairKind.NONE)


def test_a_passage_without_a_document(talks: Path, database: sqlite3.Connection) -> None:
    """That is damage even if the text is intact; further problems are counted."""
    database.execute("UPDATE passages SET document = 77 WHERE id = 1")
    with pytest.raises(DamagedIndexError, match=r"the number of passages of a document .* \(1 more problem\)$"):
        check(talks)


def test_changed_tables(talks: Path, database: sqlite3.Connection) -> None:
    """The definitions of the tables are checked before anything is read."""
    database.execute("PRAGMA writable_schema = ON")
    database.execute("UPDATE sqlite_master SET sql = replace(sql, 'page INTEGER', 'page INTEGER NOT NULL')")
    database.execute("PRAGMA writable_schema = RESET")
    with pytest.raises(DamagedIndexError, match=r"index\.db is damaged: checksum mismatch in the list of tables"):
        check(talks)


def test_damage_to_the_internal_structure_of_sqlite(talks: Path, database: sqlite3.Connection) -> None:
    """It is reported in SQLite's words, and repaired without reading a document."""
    (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'passages_document'").fetchone()
    (size,) = database.execute("PRAGMA page_size").fetchone()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file = talks / ".qa" / "index.db"
    data = bytearray(file.read_bytes())
    data[page * size - 2] ^= 1  # the document or the row number of the index's first entry
    file.write_bytes(data)
    with pytest.raises(DamagedIndexError, match=r"index\.db is damaged: (row|wrong)"):
        check(talks)
    report = repair(talks)
    assert (report.kind, report.rebuilt) == (RepairKind.DERIVED, None)


def test_damaged_topics(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are derived data: a repair removes them, to be computed again later, and rebuilds nothing else."""
    file = talks / ".qa" / "topics.bin"
    write_derived(file, b"topics")
    check(talks)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DamagedIndexError, match=r"topics\.bin is damaged: checksum mismatch"):
        check(talks)
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        with pytest.raises(StorageError, match=r"cannot read .*topics\.bin: Permission denied"):
            check(talks)
    report = repair(talks)
    assert (report.kind, len(report.problems), report.rebuilt) == (RepairKind.DERIVED, 1, None)
    assert repair(talks).kind is RepairKind.NONE


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM vector_refs WHERE vector = 1",
        "UPDATE vector_refs SET refcount = 7",
        "DELETE FROM posting_lists",
        "UPDATE blocks SET lengths = x'0000'",
        "INSERT INTO free_ids (passage) VALUES (1)",
        "INSERT INTO duplicates (text_digest, passages, checksum) VALUES (x'00', 2, 3)",
        "UPDATE posting_lists SET data = x'00' WHERE id = (SELECT min(id) FROM posting_lists)",
    ],
)
def test_derived_data_is_rebuilt_without_files_or_model(talks: Path, database: sqlite3.Connection, damage: str) -> None:
    intact = check(talks)
    database.execute(damage)
    for file in talks.glob("*.md"):
        file.unlink()
    with pytest.raises(DamagedIndexError):
        check(talks)
    report = repair(talks)
    assert (report.kind, report.rebuilt, report.passages) == (RepairKind.DERIVED, None, intact.passages)
    assert check(talks) == intact
