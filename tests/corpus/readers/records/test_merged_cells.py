"""Merged cells of sheets."""

from __future__ import annotations

import pytest

from corpus.readers.records.merged_cells import Merge, parse_range, spread

NAMES = [(1, ["", "Income", "", "Costs", ""]), (2, ["Quarter", "Plan", "Actual", "Plan", "Actual"])]
QUARTER = (3, ["Q1", "5", "4", "3", "2"])
OVER_TWO = [Merge(1, 1, 1, 2), Merge(1, 3, 1, 4)]


@pytest.mark.parametrize(
    ("reference", "merge"), [("B1:C1", Merge(1, 1, 1, 2)), ("A2:AB9", Merge(2, 0, 9, 27)), ("B1", None), ("", None)]
)
def test_references_are_parsed(reference: str, merge: Merge | None) -> None:
    assert parse_range(reference) == merge


def test_names_in_two_rows_are_joined() -> None:
    joined = ["Quarter", "Income Plan", "Income Actual", "Costs Plan", "Costs Actual"]
    assert spread([*NAMES, QUARTER], OVER_TWO) == [(2, joined), QUARTER]


def test_a_name_above_may_be_a_year_and_one_may_be_over_both_rows() -> None:
    rows = [(1, ["Region", "2024", ""]), (2, ["", "Units", "Revenue"]), (3, ["South", "88", "2500"])]
    merges = [Merge(1, 0, 2, 0), Merge(1, 1, 1, 2)]
    assert spread(rows, merges) == [(2, ["Region", "2024 Units", "2024 Revenue"]), rows[2]]


def test_a_category_is_in_each_of_its_rows() -> None:
    rows = [(1, ["Kind", "Item"]), (2, ["Rope", "Hemp"]), (3, ["", "Nylon"]), (5, ["", "Jute"]), (6, ["Tar", "Pine"])]
    spread_rows = spread(rows, [Merge(2, 0, 5, 0)])
    assert [cells[0] for _, cells in spread_rows] == ["Kind", "Rope", "Rope", "Rope", "Tar"]


@pytest.mark.parametrize(
    ("merge", "cells"),
    [
        (Merge(1, 0, 1, 2), ["Sales of all", "", ""]),  # a title across all columns
        (Merge(1, 1, 1, 2), ["Sales of all", "", ""]),  # an empty cell
        (Merge(9, 0, 9, 1), ["Sales of all", "", ""]),  # a row that is blank
    ],
)
def test_other_merged_cells_stay_as_they_are(merge: Merge, cells: list[str]) -> None:
    below = (2, ["North", "1", "2"])
    assert spread([(1, ["Sales of all", "", ""]), below], [merge]) == [(1, cells), below]


def test_values_over_two_columns_are_no_names() -> None:
    rows = [(1, ["Day", "Early", "Late"]), (2, ["Mon", "closed", ""]), (3, ["Tue", "9", "14"])]
    assert spread(rows, [Merge(2, 1, 2, 2)]) == [rows[0], (2, ["Mon", "closed", "closed"]), rows[2]]
    # A value above texts is taken for a name only if all cells below are texts.
    assert len(spread([*rows[:2], (3, ["Tue", "open", ""])], [Merge(2, 1, 2, 2)])) == 3


def test_a_huge_range_is_cut() -> None:
    rows = [(number, ["x"] if number == 1 else ["", "y"]) for number in range(1, 60_000)]
    filled = [cells for _, cells in spread(rows, [Merge(1, 0, 9_999_999, 17_575)]) if cells[0] == "x"]
    assert 0 < len(filled) <= 50_000
