"""Amounts in table cells, and columns that can be compared."""

from __future__ import annotations

import pytest

from qa.tables.measures import Amount, comparable_amounts, kind_of_unit, parse_amount, unit_in_name


@pytest.mark.parametrize(
    ("cell", "value", "kind"),
    [
        ("38", 38, ""),
        ("7.9 kg", 7.9, "mass"),
        ("900 g", 0.9, "mass"),
        ("2 TB", 2e12, "bytes"),
        ("€1,250", 1250, "money eur"),
        ("1.310,50 EUR", 1310.5, "money eur"),
        ("−5 °C", -5, "temperature"),
        ("-$90.50", -90.5, "money usd"),
        ("(1,500.00)", -1500, ""),
        ("4.5/5", 4.5, "/5"),
        ("–12 °C", -12, "temperature"),
        ("~ 40 %", 40, "%"),
        ("12 rowers", 12, "rower"),
        ("2 h 30 min", 9000, "time"),
        ("1:42:10", 6130, "time"),
        ("**12**", 12, ""),
    ],
)
def test_numbers_with_their_units(cell: str, value: float, kind: str) -> None:
    amount = parse_amount(cell)
    assert amount is not None
    assert amount.kind == kind
    assert amount.value == pytest.approx(value)


@pytest.mark.parametrize(
    "cell",
    [
        "Debian 12",
        "Sun 12",
        "3 to 5 or 7",
        "see below",
        "3/4/2024",
        "9 kg 5 m",
        "(see 4.20)",
        "4 June, not 5 May",
        "4 June at the harbour",
        "",
        "PX-1000",
    ],
)
def test_cells_without_a_single_amount(cell: str) -> None:
    assert parse_amount(cell) is None


def test_dates_are_ordered_however_they_are_written() -> None:
    cells = ["2018-05-30", "11/20/2019", "March 2020", "2020-04", "4 June 2020", "Fri, 5 June 2020", "2023-06-01"]
    amounts = [parse_amount(cell) for cell in cells]
    values = [hit.value for hit in amounts if hit is not None and hit.kind == "date"]
    assert len(values) == len(cells)
    assert values == sorted(values)


def test_columns_that_can_be_compared() -> None:
    assert comparable_amounts(["7 kg", "-", "900 g"]) == [Amount(7, "mass"), None, Amount(0.9, "mass")]
    assert comparable_amounts(["1", "2", "3", "4", "many"]) is not None
    assert comparable_amounts(["1", "2", "3", "many"]) is None
    assert comparable_amounts(["7 kg", "900"]) is None
    assert comparable_amounts(["$7", "€9"]) is None
    assert comparable_amounts(["4.5/5", "7/10"]) is None
    assert comparable_amounts(["7"]) is None
    assert comparable_amounts(["4 June", "2 July"]) is not None
    assert comparable_amounts(["4 June", "2 July 2024"]) is None


def test_units() -> None:
    assert kind_of_unit("Hours") == ("time", 3600)
    assert kind_of_unit("euros") == kind_of_unit("EUR") == ("money eur", 1)
    assert kind_of_unit("boats") is None
    assert unit_in_name("memory (GB)") == ("bytes", 1e9)
    assert unit_in_name("amount_eur") == ("money eur", 1)
    assert unit_in_name("price (£)") == ("money gbp", 1)
    assert unit_in_name("amount_pln") == ("money pln", 1)
    assert unit_in_name("m") is None
    assert unit_in_name("Price per month") is None
    assert unit_in_name("Weight, kg or g") is None
