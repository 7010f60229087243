"""Tables assembled from all passages of their documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.tables.whole_table import WholeTable, whole_tables
from tests.qa.indexes import built


def tables_of(root: Path, path: str, text: str) -> list[WholeTable]:
    """The tables of a file, found from its last passage."""
    with built(root, {path: text}) as snapshot:
        return list(whole_tables(snapshot, snapshot.passages_of(path)[-1:]))


def test_a_table_that_spans_several_passages(tmp_path: Path) -> None:
    rows = "".join(f"| boat {number} | {number} kg |\n" for number in range(90))
    (table,) = tables_of(tmp_path, "fleet.md", f"# Fleet\n\n| Boat | Weight |\n|---|---|\n{rows}")
    assert table.columns == ("Boat", "Weight")
    assert table.column(0) == [f"boat {number}" for number in range(90)]
    assert len({row.passage.id for row in table.rows}) > 2
    assert all(row.passage.text[slice(*row.span)] == f"{row.cells[0]} | {row.cells[1]}" for row in table.rows)
    assert (table.file_name, table.about.split()) == ("fleet", ["Fleet", "Fleet"])


@pytest.mark.parametrize(
    ("path", "rule", "bar"), [("fleet.rst", "+------+------+", "|"), ("fleet.txt", "├──────┼──────┤", "│")]
)
def test_a_table_with_rules_cites_its_rows(tmp_path: Path, path: str, rule: str, bar: str) -> None:
    rows = "".join(f"{bar} boat {number} {bar} {number} kg {bar}\n{rule}\n" for number in range(30))
    text = f"Fleet\n=====\n\n{rule}\n{bar} Boat {bar} Weight {bar}\n{rule}\n{rows}"
    (table,) = tables_of(tmp_path, path, text)
    assert (table.columns, table.column(1)) == (("Boat", "Weight"), [f"{number} kg" for number in range(30)])
    assert all(row.passage.text[slice(*row.span)] == f" {bar} ".join(row.cells) for row in table.rows)


def test_the_folder_belongs_to_the_name_of_the_file(tmp_path: Path) -> None:
    (table,) = tables_of(tmp_path, "harbour/open_boats/list-2031.csv", "no,name\n1,Teal\n2,Loon\n")
    assert table.file_name == "open boats list-2031"


def test_records_with_different_fields(tmp_path: Path) -> None:
    records = '[{"name": "Ada", "town": "Oslo"}, {"name": "Bo", "phone": "17"}]'
    (table,) = tables_of(tmp_path, "staff.json", records)
    assert table.columns == ("name", "town", "phone")
    assert [row.cells for row in table.rows] == [("Ada", "Oslo", ""), ("Bo", "", "17")]


def test_names_in_camel_case_are_divided(tmp_path: Path) -> None:
    """Units and proper names are not."""
    records = "unitPrice,amountEUR,powerKwh,kWh,LinkedIn\n1,2,3,4,5\n6,7,8,9,0\n"
    (table,) = tables_of(tmp_path, "orders.csv", records)
    assert table.columns == ("unit Price", "amount EUR", "power Kwh", "kWh", "LinkedIn")


def test_blocks_of_fields_in_a_text(tmp_path: Path) -> None:
    text = "Log\n\nRun: 1\nNote: it\nwent well\n\nRun: 2\nNote: bad\n\nNot: a row\n"
    (table,) = tables_of(tmp_path, "log.txt", text)
    assert [row.cells for row in table.rows] == [("1", "it\nwent well"), ("2", "bad")]


def test_headings_that_divide_a_table_are_a_column(tmp_path: Path) -> None:
    parts = (
        f"## {name}\n\n| Park | Trails |\n|---|---|\n| {name} A | 1 |\n| {name} B | 2 |\n" for name in ("Fens", "Woods")
    )
    (table,) = tables_of(tmp_path, "parks.md", "# Parks\n\n" + "\n".join(parts))
    assert table.columns == ("Park", "Trails", "")
    assert table.column(2) == ["Fens", "Fens", "Woods", "Woods"]
    assert "Fens" not in table.about


def test_rows_may_lack_their_last_cells(tmp_path: Path) -> None:
    (table,) = tables_of(tmp_path, "pay.md", "| name | pay | note |\n|---|---|---|\n| Ann | 40 | x |\n| Bob | 90\n")
    assert [row.cells for row in table.rows] == [("Ann", "40", "x"), ("Bob", "90", "")]
    assert [row.passage.text[slice(*row.span)] for row in table.rows] == ["Ann | 40 | x", "Bob | 90"]


def test_other_text_has_no_table(tmp_path: Path) -> None:
    assert tables_of(tmp_path, "a.md", "# A\n\nNothing: here.\n\n`a | b` is code.\n") == []


def test_struck_out_text_is_not_a_value(tmp_path: Path) -> None:
    rows = "| 5 July | Ida Moe |\n| 12 July | Hugh Tarn ~~Len Croy~~ |\n| 19 July | ~~Len Croy~~ |\n"
    (table,) = tables_of(tmp_path, "rota.md", f"| date | duty |\n|---|---|\n{rows}")
    assert table.column(1) == ["Ida Moe", "Hugh Tarn", ""]
