"""Tables whose columns are separated only by blanks or tabs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.text.aligned import aligned_table

SQUADS = """\
Juniors A       Renske V      8
Women's quad    Fern M        6 (2 subs)
Masters         Len Crozier   5   (new)
* from July, before that Teal
"""
PRICES = """\
item                  2023     2024   supplier
-----------------------------------------------
ethanol 96 %, 10 l    38.50   41.00   Chemstore
cable ties green          -   13.40   hardware shop
tyres                         264.0   Garage
a very long name here    1.00  2.00   Garage
"""
HOISTS = """\
                    Big hoist            Davit
Safe working load   650 kg               180 kg
Power               mains, 16 A socket   hand crank
"""
KIDNEYS = """\
Drug        eGFR 30-59   eGFR 15-29   dialysis
Metformin   1 g          none         none
Apixaban    5 mg         2.5 mg       2.5 mg
"""
# Without column names.
PLANTED = "peas     12 Mar   bed B\npotatoes 10 Apr   bed A\nbeans    26 Feb   bed C\n"


@pytest.mark.parametrize(
    ("text", "columns", "rows"),
    [
        (
            PRICES,
            ("item", "2023", "2024", "supplier"),
            [
                "ethanol 96 %, 10 l|38.50|41.00|Chemstore",
                "cable ties green|-|13.40|hardware shop",
                "tyres||264.0|Garage",
                "a very long name here|1.00|2.00|Garage",
            ],
        ),
        (
            HOISTS,
            ("", "Big hoist", "Davit"),
            ["Safe working load|650 kg|180 kg", "Power|mains, 16 A socket|hand crank"],
        ),
        ("site\tGammarus\tflow\nSK1\t4\t\nSK2\t0\t41\n", ("site", "Gammarus", "flow"), ["SK1|4|", "SK2|0|41"]),
        (
            KIDNEYS,
            ("Drug", "eGFR 30-59", "eGFR 15-29", "dialysis"),
            ["Metformin|1 g|none|none", "Apixaban|5 mg|2.5 mg|2.5 mg"],
        ),
        (
            "Dates          Caretaker  Shift\n14.04.-20.04.  Yilmaz     2\n21.04.-27.04.  Novak      1\n",
            ("Dates", "Caretaker", "Shift"),
            ["14.04.-20.04.|Yilmaz|2", "21.04.-27.04.|Novak|1"],
        ),
        (
            "====  =====  ====\nPier  Boats  Fuel\n====  =====  ====\nWest  12     yes\n====  =====  ====\n",
            ("Pier", "Boats", "Fuel"),
            ["West|12|yes"],
        ),
        (PLANTED, (), ["peas|12 Mar|bed B", "potatoes|10 Apr|bed A", "beans|26 Feb|bed C"]),
        (
            SQUADS,
            (),
            ["Juniors A|Renske V|8", "Women's quad|Fern M|6 (2 subs)", "Masters|Len Crozier|5   (new)"],
        ),
    ],
)  # fmt: skip
def test_cells_belong_to_the_column_above(text: str, columns: tuple[str, ...], rows: list[str]) -> None:
    lines = text.splitlines()
    table = aligned_table(lines)
    assert table is not None
    assert table.columns == columns
    assert ["|".join(lines[number][slice(*cell)] for cell in row) for number, row in table.rows] == rows
    assert table.end == table.rows[-1][0] + 1


@pytest.mark.parametrize(
    "text",
    [
        "It rained.  We stayed.  Cold.\nIt poured.  We hidden.  Mild.\nIt snowed.  We slid on.  Late.\n",
        "Safe load     650 kg\nReach         3.2 m\nPower         mains\n",
        "squad           coach         crew no.\n",
        "squad           coach         crew no.\n\nJuniors A       Renske V      8\n",
        "peas     12 Mar   bed B\n  only    this one line   is wide\nand then prose follows\n",
        "| peas | 12 Mar   | bed B  |\n| beans | 10 Apr | bed A |\n| kale  | 26 Feb  | bed C |\n",
        "",
    ],
    ids=["two blanks after a stop", "two columns", "one line", "a blank line", "not below", "bars", "nothing"],
)  # fmt: skip
def test_other_lines_are_not_a_table(text: str) -> None:
    assert aligned_table(text.splitlines() or [""]) is None


def test_a_continued_table_has_the_given_column_names() -> None:
    """One row is enough; a row without empty cells tells the columns of the others."""
    names = ("item", "2023", "2024", "supplier")
    lines = PRICES.splitlines()
    table = aligned_table([lines[4], lines[2]], names=names)
    assert table is not None
    assert table.columns == names
    assert [lines[4][slice(*cell)] for cell in table.rows[0][1]] == ["tyres", "", "264.0", "Garage"]
    assert aligned_table(lines[2:3], names=names) is not None
    assert aligned_table(lines[2:3], names=names[1:]) is None


def test_finding_tables_in_a_long_text_takes_linear_time() -> None:
    """A line that begins no table must not be compared with all following lines."""
    lookups = 0

    class Counted(list[str]):
        def __getitem__(self, at):  # type: ignore[no-untyped-def]
            nonlocal lookups
            lookups += 1
            return super().__getitem__(at)

    lines = Counted([f"entry {i}    and more {i}" for i in range(2000)])
    assert all(aligned_table(lines, at) is None for at in range(len(lines)))
    assert lookups < 20 * len(lines)


@given(
    text=st.text(alphabet="ab1  \t-.\n", max_size=80).flatmap(lambda unit: st.integers(1, 4).map(lambda n: unit * n)),
    names=st.sampled_from([(), ("a", "b", "c")]),
)
def test_cells_are_stripped_and_in_order(text: str, names: tuple[str, ...]) -> None:
    """This holds for any lines; each row has a cell that is not empty."""
    lines = text.split("\n")
    for at in range(len(lines)):
        table = aligned_table(lines, at, names)
        if table is None:
            continue
        for number, row in table.rows:
            cells = [lines[number][slice(*cell)] for cell in row]
            assert at <= number < len(lines)
            assert len(row) == len(table.columns) or not table.columns
            assert any(cells)
            assert cells == [cell.strip() for cell in cells]
            filled = [cell for cell in row if cell[0] < cell[1]]
            assert filled == sorted(filled)
