"""Tables that compare things in their columns, and the cells of them that are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.tables.table_question import select_rows
from qa.tables.transposed import select_cell, transposed
from qa.tables.whole_table import WholeTable, whole_tables
from tests.qa.indexes import built, opened
from tests.qa.tables.test_table_question import table

OVENS = table(
    "ovens.md",
    "| Ardo 60 | Brio Max | Calda",
    "Price | €740 | €1,150 | €560",
    "Weight | 38 kg | 52 kg | 31 kg",
    "Heats up in | 7 min | 5 min | 11 min",
    "Programs | 12 | 20 | 8",
    "Steam | no | yes | no",
    "Colour | steel | black | white",
)
PLANS = table(
    "plans.md", "Merkmal | Basis | Plus", "Preis (EUR) | 9 | 15", "Speicher (GB) | 20 | 80", "Anrufe | 100 | 300"
)
SPEND = table(
    "spend.md",
    "Item | 2031 | 2032 | 2033 plan",
    "Rent | 800 | 820 | 860",
    "Power | 95 | 140 | 120",
    "Gas | – | 90 | 85",
)
ALBUMS = table(
    "albums.md", "| Length | Weight", "Tide | 40 min | 180 g", "Moss | 52 min | 140 g", "Fen | 38 min | 150 g"
)
WORKS = table("works.md", "| Hart Ltd | Moll", "Tiles | €900 | €870", "Pipes | €300 | €340", "Paint | €80 | €120")
LIMITS = table(
    "water.md", "Parameter | Result | Limit", "Lead | 2 µg | 10 µg", "Nitrate | 12 mg/l | 50 mg/l", "Depth | 4 m | 9 m"
)


def turned(table: WholeTable) -> WholeTable:
    result = transposed(table)
    assert result is not None
    return result


def test_each_column_becomes_a_row() -> None:
    ovens = turned(OVENS)
    assert ovens.columns == ("item", "Price", "Weight", "Heats up in", "Programs", "Steam", "Colour")
    assert ovens.column(0) == ["Ardo 60", "Brio Max", "Calda"]
    assert ovens.rows[2].cells == ("Calda", "€560", "31 kg", "11 min", "8", "no", "white")
    assert turned(PLANS).column(0) == ["Basis", "Plus"]
    assert turned(SPEND).columns == ("year", "Rent", "Power", "Gas")


@pytest.mark.parametrize("table", [ALBUMS, WORKS, LIMITS])
def test_tables_with_a_row_for_each_thing_are_not_transposed(table: WholeTable) -> None:
    assert transposed(table) is None


@pytest.mark.parametrize(
    ("table", "question", "cells"),
    [
        (OVENS, "Which oven is the lightest?", ["Calda"]),
        (OVENS, "cheapest oven", ["Calda"]),
        (OVENS, "Which ovens cost more than €700?", ["Ardo 60", "Brio Max"]),
        (OVENS, "Which oven has steam?", ["Brio Max"]),
        (OVENS, "Which oven is white?", ["Calda"]),
        (OVENS, "What is the price of the heaviest oven?", ["€1,150"]),
        (SPEND, "In which year was power lowest?", ["2031"]),
        (SPEND, "Which year had the highest rent?", ["2033 plan"]),
    ],
)
def test_columns_that_answer(table: WholeTable, question: str, cells: list[str]) -> None:
    answer = select_rows(question, turned(table))
    assert answer is not None
    assert answer.cells == cells


@pytest.mark.parametrize(
    ("table", "question", "cell"),
    [
        (OVENS, "How heavy is the Brio Max?", "52 kg"),
        (OVENS, "How much does the Ardo 60 cost?", "€740"),
        (OVENS, "how much does the Calda oven weigh?", "31 kg"),
        (OVENS, "How many programs does the Brio have?", "20"),
        (OVENS, "What colour is the Ardo?", "steel"),
        (PLANS, "What is the Speicher of Plus?", "80"),
        (SPEND, "What was the rent in 2032?", "820"),
        (SPEND, "What was gas in 2031?", None),
        # Another item or property, or one that is not what the adjective measures.
        (OVENS, "How heavy is the Ardo 90?", None),
        (OVENS, "How heavy is the Brio Max box?", None),
        (OVENS, "What is the height of the Calda?", None),
        (OVENS, "How heavy is the steam of the Calda?", None),
        (OVENS, "How long does the Calda cost?", None),
        (OVENS, "What is the cost of the programs of the Calda?", None),
        (OVENS, "How heavy is the oven?", None),
        (OVENS, "What colour are the Ardo and the Calda?", None),
        (OVENS, "What colour is not the Calda's?", None),
        (OVENS, "Is the Calda white?", None),
    ],
)
def test_the_cell_that_is_asked_for(table: WholeTable, question: str, cell: str | None) -> None:
    answer = select_cell(question, turned(table))
    assert (answer and answer.cells) == (cell and [cell])


def test_the_line_with_the_property_is_cited(tmp_path: Path) -> None:
    """Also if it is in another passage than the names of the columns."""
    fillers = "".join(f"| Trim {number} | oak, linseed oil and wax | pine, white paint |\n" for number in range(30))
    text = f"# Doors\n\n| | Lark | Otter |\n|---|---|---|\n| Price | €90 | €70 |\n{fillers}| Weight | 9 kg | 14 kg |\n"
    with built(tmp_path, {"doors.md": text}) as snapshot:
        (whole,) = whole_tables(snapshot, snapshot.passages_of("doors.md"))
        assert whole.columns == ("", "Lark", "Otter")
    with opened(tmp_path) as retriever:
        result = retriever.ask("which door is the lightest?")
    assert result.answer is not None
    assert (result.answer.text, result.answer.sentence) == ("Lark", "Weight | 9 kg | 14 kg")
    marks = [mark for rank in result.answer.citations for mark in result.passages[rank - 1].highlights]
    assert [text[slice(*mark.chars)] for mark in marks] == ["Weight | 9 kg | 14 kg", "Lark"]
