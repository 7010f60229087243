"""Merged cells of workbooks: rows of names are joined, and texts are repeated in the rows that they span."""

from __future__ import annotations

import pytest

from corpus.readers.office import detect
from corpus.readers.records.merged_cells import Merged, fill_merged
from tests.corpus.readers.samples import archives
from tests.growth import check_growth

Rows = list[list[str | float]]


def text_of(rows: Rows, merged: str) -> str:
    """The text of a sheet without its name."""
    document = detect.read("a.xlsx", archives.xlsx({"Sheet": rows}, merged=merged.split()))
    return document.text.removeprefix("Sheet\n\n")


LEVELS: dict[str, tuple[Rows, str, str]] = {
    "a label beside both": (
        [["Quarter", "Income", "", "Costs", ""], ["", "Plan", "Actual", "Plan", "Actual"], ["Q1", 5, 4, 3, 2]],
        "B1:C1 D1:E1 A1:A2",
        "Quarter: Q1\nIncome Plan: 5\nIncome Actual: 4\nCosts Plan: 3\nCosts Actual: 2",
    ),
    "a label in the second": (
        [["", "Income", "", "Costs", ""], ["Quarter", "Plan", "Actual", "Plan", "Actual"], ["Q1", 5, 4, 3, 2]],
        "B1:C1 D1:E1",
        "Quarter: Q1\nIncome Plan: 5\nIncome Actual: 4\nCosts Plan: 3\nCosts Actual: 2",
    ),
    "one above some columns": (
        [["", "Income", ""], ["Quarter", "Plan", "Actual"], ["Q1", 5, 4]],
        "B1:C1",
        "Quarter: Q1\nIncome Plan: 5\nIncome Actual: 4",
    ),
    "years": (
        [["Region", "Sales", ""], ["", 2024, 2025], ["North", 5, 4]],
        "A1:A2 B1:C1",
        "Region: North\nSales 2024: 5\nSales 2025: 4",
    ),
    "all columns": (
        [["Person", "", "Home", ""], ["First", "Last", "Street", "Town"], ["Ann", "Lee", "Quay 7", "Kiel"]],
        "A1:B1 C1:D1",
        "Person First: Ann\nPerson Last: Lee\nHome Street: Quay 7\nHome Town: Kiel",
    ),
    "three levels below a title": (
        [
            ["Budget", "", "", "", ""],
            ["Unit", "2025", "", "", ""],
            ["", "Income", "", "Costs", ""],
            ["", "Plan", "Actual", "Plan", "Actual"],
            ["Port", 5, 4, 3, 2],
        ],
        "A1:E1 A2:A4 B2:E2 B3:C3 D3:E3",
        "Budget\n\nUnit: Port\n2025 Income Plan: 5\n2025 Income Actual: 4\n2025 Costs Plan: 3\n2025 Costs Actual: 2",
    ),
    "a value below another name": (
        [["Quarter", "Income", "", "Rate"], ["", "Plan", "Actual", 8], ["Q1", 5, 4, 7]],
        "A1:A2 B1:C1",
        "Rate: 8\n\nQuarter: Q1\nIncome Plan: 5\nIncome Actual: 4\nRate: 7",
    ),
}


@pytest.mark.parametrize("name", LEVELS)
def test_names_of_columns_in_several_rows_are_joined(name: str) -> None:
    rows, merged, shown = LEVELS[name]
    assert text_of(rows, merged) == shown


UNCHANGED: dict[str, tuple[Rows, str, str]] = {
    "a title": (
        [["Fleet", "", ""], ["Boat", "Wood", "Crew"], ["Ida", "ash", "Bo"]],
        "A1:C1",
        "Fleet\n\nBoat: Ida\nWood: ash\nCrew: Bo",
    ),
    "a form": (
        [["Owner:", "", "Ann Lee", ""], ["Berth:", "", "Quay 7", ""]],
        "A1:B1 C1:D1 A2:B2 C2:D2",
        "Owner:\nAnn Lee\n\nBerth:\nQuay 7",
    ),
    "a cell among values": (
        [["Day", "From", "To"], ["Mon", "closed", ""], ["Tue", "noon", "night"]],
        "B2:C2",
        "Day: Mon\nFrom: closed\n\nDay: Tue\nFrom: noon\nTo: night",
    ),
    "a total": (
        [["Kind", "Boat", "Oars"], ["Punt", "Ida", 2], ["Total", "", 2]],
        "A3:B3",
        "Kind: Punt\nBoat: Ida\nOars: 2\n\nKind: Total\nOars: 2",
    ),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_other_cells_that_span_columns_are_read_once(name: str) -> None:
    rows, merged, shown = UNCHANGED[name]
    assert text_of(rows, merged) == shown


def test_text_that_spans_rows_is_in_each_of_them() -> None:
    """Blank rows stay blank, and long texts are not repeated."""
    note = "Oil it. " * 20
    rows: Rows = [
        ["Kind", "Item", "Note"],
        ["Rope", "hemp", note],
        ["", "nylon", ""],
        ["", "", ""],
        ["Paint", "red", ""],
    ]
    assert text_of(rows, "A2:A4 C2:C3") == (
        f"Kind: Rope\nItem: hemp\nNote: {note.strip()}\n\nKind: Rope\nItem: nylon\n\nKind: Paint\nItem: red"
    )


def test_very_many_merged_cells_take_linear_time() -> None:
    rows: Rows = [["Rope", number] for number in range(3000)]
    assert text_of(rows, "A1:XFD999999999 A0:B0 B9:A1 A:B A1:A3000 A1:XFD1 A2:A3000").endswith("Rope\n2999")

    def fill(count: int) -> None:
        merged = [Merged(1, 0, 1, 999), Merged(2, 0, 3000, 0)] * count
        fill_merged([(number, ["Rope", str(number)]) for number in range(1, 3001)], merged)

    check_growth(fill, 5_000, 20_000)
