"""Tables put together from all passages of their documents."""

from __future__ import annotations

from pathlib import Path

from index import Snapshot
from qa import build_index
from qa.tables.whole_table import WholeTable, whole_tables
from tests.encoders import BagEncoder


def tables_of(root: Path, path: str) -> list[WholeTable]:
    """The tables of a file, found by its last passage."""
    build_index(root, encoder=BagEncoder())
    with Snapshot(root / ".qa") as snapshot:
        return list(whole_tables(snapshot, snapshot.passages_of(path)[-1:]))


def test_a_table_that_goes_on_over_passages(tmp_path: Path) -> None:
    rows = [f"| boat {number} | {number} kg |" for number in range(90)]
    (tmp_path / "fleet.md").write_text("# Fleet\n\n| Boat | Weight |\n|---|---|\n" + "\n".join(rows) + "\n")
    (table,) = tables_of(tmp_path, "fleet.md")
    assert table.columns == ("Boat", "Weight")
    assert table.column(0) == [f"boat {number}" for number in range(90)]
    assert len({row.passage.id for row in table.rows}) > 2
    assert all(row.passage.text[slice(*row.span)] == f"{row.cells[0]} | {row.cells[1]}" for row in table.rows)
    assert table.about.split() == ["fleet", "Fleet", "Fleet"]


def test_records_with_fields_that_others_lack(tmp_path: Path) -> None:
    (tmp_path / "staff.json").write_text('[{"name": "Ada", "town": "Oslo"}, {"name": "Bo", "phone": "17"}]')
    (table,) = tables_of(tmp_path, "staff.json")
    assert table.columns == ("name", "town", "phone")
    assert [row.cells for row in table.rows] == [("Ada", "Oslo", ""), ("Bo", "", "17")]


def test_blocks_of_fields_in_a_text(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("Log\n\nRun: 1\nNote: it\nwent well\n\nRun: 2\nNote: bad\n\nNot: a row\n")
    (table,) = tables_of(tmp_path, "log.txt")
    assert [row.cells for row in table.rows] == [("1", "it\nwent well"), ("2", "bad")]


def test_headings_that_part_a_table_are_a_column(tmp_path: Path) -> None:
    parts = (
        f"## {name}\n\n| Park | Trails |\n|---|---|\n| {name} A | 1 |\n| {name} B | 2 |\n" for name in ("Fens", "Woods")
    )
    (tmp_path / "parks.md").write_text("# Parks\n\n" + "\n".join(parts))
    (table,) = tables_of(tmp_path, "parks.md")
    assert table.columns == ("Park", "Trails", "")
    assert table.column(2) == ["Fens", "Fens", "Woods", "Woods"]
    assert "Fens" not in table.about


def test_other_text_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nNothing: here.\n\n`a | b` is code.\n")
    assert tables_of(tmp_path, "a.md") == []
