"""Tables in PDFs become rows with bars between the cells; text that only looks like a table does not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from corpus.readers.pdf.boxes import find_boxes
from corpus.readers.pdf.pdf import read
from corpus.types import BlockKind, Extracted
from tests.corpus.readers.outcome import block_texts
from tests.corpus.readers.samples import pdf
from tests.corpus.readers.samples.pdf import Rule, Words, column, make, width

BODY = "Gauges on the bank are read at noon, and what they show is written down with care by whoever is there. " * 3
TRIAL = [
    ("Arm", "n", "Rate (%)", "HR (95% CI)"),
    ("Placebo", "108", "17", "1"),
    ("Low dose", "214", "41", "0.62 (0.44-0.87)"),
    ("High dose", "9", "56", "0.48 (0.33-0.70)"),
]
PLACES = (60, 160, 220, 320)
EXPECTED = "\n".join(map(" | ".join, TRIAL))


def rows(table: Sequence[Sequence[str]], places: Sequence[float], top: float, *, step: float = 14) -> list[Words]:
    """A table whose numbers are right-aligned in their columns."""
    words = []
    for number, row in enumerate(table):
        for column_number, (x, text) in enumerate(zip(places, row, strict=True)):
            if text:
                is_number = table[-1][column_number].isdecimal()
                words.append(Words(x + 45 - width(text, 10) if is_number else x, top - step * number, text))
    return words


def rules(left: float, right: float, *heights: float) -> list[Rule]:
    return [Rule(left, y, right) for y in heights]


def tables(document: Extracted) -> list[str]:
    return block_texts(document, BlockKind.TABLE)


def test_a_table_without_rules_is_rows_of_cells() -> None:
    """The paragraphs around it stay whole; the line above it is not a row, although its number is set apart."""
    heading = [Words(60, 640, "3", 12, bold=True), Words(80, 640, "Outcomes", 12, bold=True)]
    page = [*column(60, 700, BODY, room=460), *heading, *rows(TRIAL, PLACES, 620), *column(60, 550, BODY, room=460)]
    document = read("a.pdf", make([page]))
    assert tables(document) == [EXPECTED]
    assert document.text.count(BODY.strip()) == 2
    assert "\n\n3 Outcomes\n\nArm |" in document.text


def test_a_row_may_have_cells_of_several_lines() -> None:
    """So may the column names; rows between rules may be as close as lines."""
    table = [
        ("Method", "Depth", "Sampled"),
        ("", "(m)", "by"),
        ("Floating chamber", "84", "Lind and"),
        ("with a hose", "", "Moser"),
        ("Net", "41", "Fraser"),
    ]
    words = rows(table, (60, 200, 280), 700, step=12)
    grid = rules(56, 340, 712, 685, 661, 649)
    document = read("a.pdf", make([[*words, *column(60, 600, BODY, room=460)]], rules=[grid]))
    expected = "Method | Depth (m) | Sampled by\nFloating chamber with a hose | 84 | Lind and Moser\nNet | 41 | Fraser"
    assert tables(document) == [expected]
    # Without rules, a line without a number continues the row if it begins with a small letter.
    assert tables(read("a.pdf", make([[*words, *column(60, 600, BODY, room=460)]]))) == [expected]


def test_rules_separate_rows_whose_cells_have_several_lines() -> None:
    """Several cells of a row may; a word that is hyphenated in a cell is rejoined."""
    table = [("Step", "Who", "When"), ("Embed", "the micro-", ""), ("", "controller", "May"), ("Send", "Ida", "")]
    words = rows([*table, ("Read", "nobody", "June")], (60, 200, 300), 700, step=12)
    document = read("a.pdf", make([words], rules=[rules(56, 360, 712, 697, 673, 661, 649)]))
    expected = "Step | Who | When\nEmbed | the microcontroller | May\nSend | Ida\nRead | nobody | June"
    assert tables(document) == [expected]


def test_empty_cell_does_not_shift_its_row() -> None:
    """An empty corner becomes a dash, as it would otherwise be lost; a line across columns is unchanged."""
    table = [("", "Dev", "Test", "Size"), ("BERT", "84", "83", "110"), ("Ours, later", "", "86", "340")]
    words = [*rows(table, (60, 160, 220, 280), 700), Words(60, 658, "Systems of others, not trained by us here")]
    words += rows([("ELMo", "71", "72", "94")] * 2, (60, 160, 220, 280), 644)
    document = read("a.pdf", make([words], rules=[rules(56, 330, 712, 697, 626)]))
    assert tables(document) == [
        "– | Dev | Test | Size\nBERT | 84 | 83 | 110\nOurs, later | | 86 | 340\n"
        "Systems of others, not trained by us here\nELMo | 71 | 72 | 94\nELMo | 71 | 72 | 94"
    ]


def test_a_table_in_one_of_two_columns() -> None:
    """The lines of the other column are not cells."""
    left = [*column(54, 700, BODY * 2, room=235), *rows(TRIAL, (54, 100, 150, 215), 400)]
    document = read("a.pdf", make([[*left, *column(318, 700, BODY * 3, room=235)]]))
    assert tables(document) == [EXPECTED]
    assert " ".join((BODY * 3).split()) in " ".join(document.text.split())


@pytest.mark.parametrize("repeated", [False, True])
def test_a_table_over_two_pages(repeated: bool) -> None:
    """It is a single table unless the column names are repeated; the second page begins with its first row."""
    more = [("Third dose", "12", "61", "0.44 (0.30-0.64)"), ("Fourth dose", "7", "66", "0.41 (0.28-0.61)")]
    second = [*([TRIAL[0]] if repeated else []), *more]
    pages = [
        [*column(60, 700, BODY, room=460), *rows(TRIAL, PLACES, 640), Words(300, 40, "1")],
        [*rows(second, PLACES, 700, step=14), *column(60, 600, BODY, room=460), Words(300, 40, "2")],
    ]
    ruled = [rules(56, 400, 652, 594), rules(56, 400, 712, 682 - 14 * repeated)]
    document = read("a.pdf", make(pages, rules=ruled))
    added = "\n".join(map(" | ".join, more))
    assert document.text[document.pages[1] :].startswith("Arm" if repeated else "Third dose | 12 | 61")
    assert tables(document) == [EXPECTED, f"{' | '.join(TRIAL[0])}\n{added}"] if repeated else [f"{EXPECTED}\n{added}"]


def test_each_cell_has_a_box() -> None:
    """A cell may have several lines; words are found in reading order."""
    table = [("Lake", "Area", "Taken"), ("Jezero", "0.9", "2019"), ("mrak", "", ""), ("Belsee", "3.8", "2018")]
    data = make([rows(table, (60, 160, 220), 700, step=12)], rules=[rules(56, 290, 712, 697, 673, 661)])
    (row,) = [line for line in tables(read("a.pdf", data))[0].splitlines() if line.startswith("Jezero")]
    assert row == "Jezero mrak | 0.9 | 2019"
    row_boxes, cell_boxes, word_boxes = find_boxes(data, [(1, row), (1, "3.8 | 2018"), (1, "mrak")])
    ((page, left, top, right, bottom),) = row_boxes
    assert page == 1
    expected = (60, pdf.HEIGHT - 688 - 7, 265, pdf.HEIGHT - 676)
    assert (left, top, right, bottom) == pytest.approx(expected, abs=3)
    assert [box[1] for box in cell_boxes] == [pytest.approx(160, abs=2)]
    assert [box[4] for box in word_boxes] == [pytest.approx(pdf.HEIGHT - 676, abs=1)]


def lines_of(*rows: Sequence[tuple[float, str]], step: float = 14, mono: bool = False) -> list[Words]:
    return [Words(x, 700 - step * n, text, mono=mono) for n, row in enumerate(rows) for x, text in row]


ADDRESSES = ("Ida Ann Jos", "Umea Oulu Lagos", "Sweden Finland Nigeria")
TITLES = ("Weirs", "Gauges and boats", "Herons", "Otters", "Swans")


@pytest.mark.parametrize(
    ("words", "drawn"),
    [
        (lines_of(*([(60, f"{i}"), (90, name), (420, str(7 * i))] for i, name in enumerate(TITLES))), []),
        (lines_of(*([(60, f"{i}"), (90, f"{name} . . . ."), (420, "7")] for i, name in enumerate(TITLES))), [712, 638]),
        (lines_of(*([(60, f"{i}."), (90, name), (260, "12 in May")] for i, name in enumerate(TITLES))), []),
        (lines_of(*(list(zip((60, 220, 380), row.split(), strict=True)) for row in ADDRESSES)), []),
        (lines_of(*([(60, f"gauge_{name[:5]}"), (180, "=  12"), (260, "# m;")] for name in TITLES), mono=True), []),
        # Some lines have a gap.
        (lines_of(*([(60, f"{i}"), (90, f"read {name}"), *([(320, "m <- 1")] * (i % 3 > 0))]
                    for i, name in enumerate(TITLES))), [712, 638]),
    ],
    ids=["contents", "contents with leaders", "list", "addresses", "code", "numbered code"],
)  # fmt: skip
def test_text_that_is_not_a_table_is_unchanged(words: list[Words], drawn: list[float]) -> None:
    document = read("a.pdf", make([[*words, *column(60, 500, BODY * 2, room=460)]], rules=[rules(56, 370, *drawn)]))
    assert "|" not in document.text


@pytest.mark.parametrize("is_ruled", [True, False])
def test_rows_may_be_numbered(is_ruled: bool) -> None:
    """A numbered row has more cells than a numbered line of code."""
    table = [(str(number), name.split()[0], f"{3 * number}.5 m") for number, name in enumerate(TITLES, 1)]
    words = [*rows(table, (60, 160, 220), 700), *column(60, 500, BODY, room=460)]
    document = read("a.pdf", make([words], rules=[rules(56, 290, 712, 640)] if is_ruled else ()))
    assert tables(document) == ["\n".join(map(" | ".join, table))]


RISKS = (
    (("Risk",), ("Owner",), ("Mitigation",)),
    (("Flood in", "the cellar"), ("Vera Kolb",), ("raise the pumps by 40 cm and", "rent a spare generator")),
    (("Theft of", "bicycles"), ("Otto Prinz",), ("install a second lock", "and a camera above", "the gate by May")),
    (("Loss of keys",), ("Ida Blom",), ("keep a copy",)),
)


def grid(alignment: float, places: Sequence[float], *, with_columns: bool = True) -> bytes:
    """A table with lines between cells, whose text is aligned at the top (0), the middle (0.5) or the bottom (1)."""
    words: list[Words] = []
    heights = [720]
    for row in RISKS:
        most = max(map(len, row))
        for x, cell in zip(places, row, strict=False):
            top = heights[-1] - 11 - 12 * alignment * (most - len(cell))
            words += [Words(x + 4, top - 12 * number, text) for number, text in enumerate(cell)]
        heights.append(heights[-1] - 12 * most - 4)
    lines = [Rule(places[0], y, places[-1]) for y in heights]
    lines += [Rule(x, heights[-1], x, heights[0]) for x in places] if with_columns else []
    return make([[*words, *column(60, 500, BODY, room=460)]], rules=[lines])


@pytest.mark.parametrize("alignment", [0, 0.5, 1])
@pytest.mark.parametrize("right", [400, 560])
def test_what_is_between_two_rules_of_a_grid_is_a_row(alignment: float, right: float) -> None:
    """However cells are aligned, and however much wider the last column is than its text."""
    expected = "\n".join(" | ".join(map(" ".join, row)) for row in RISKS)
    assert tables(read("a.pdf", grid(alignment, (60, 150, 240, right)))) == [expected]


def test_rules_without_lines_between_columns_may_be_those_of_the_page() -> None:
    """If they extend far beyond the text, it is not a table."""
    assert tables(read("a.pdf", grid(0, (60, 150, 240, 560), with_columns=False))) == []


def test_several_rows_between_two_rules_of_a_grid_are_not_joined() -> None:
    """A grid may only have rules around its column names, or around groups of rows with numbers."""
    names = [("Weir", "Keeper"), ("Pillnitz", "Ida Salo"), ("Meissen", "Bo Lind"), ("Pirna", "Vera Kolb")]
    for cells, group in ((names, 1), ([("Weir", "Level"), ("Pirna", "41"), ("Trent", "98"), ("Ems", "7")], 2)):
        heights = (712, 712 - 14 * group, 654)
        lines = [*rules(56, 240, *heights), *(Rule(x, 654, x, 712) for x in (56, 130, 240))]
        page = [*rows(cells, (60, 150), 700), *column(60, 500, BODY, room=460)]
        assert tables(read("a.pdf", make([page], rules=[lines]))) == ["\n".join(map(" | ".join, cells))]
