"""Columns of any width are read one after the other if their paragraphs are independent; rows are read as rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from corpus.readers.pdf.pdf import read
from tests.corpus.readers.samples.pdf import Rule, Words, column, make

TASKS = (
    "The gauges on the bank are read at noon, and what they show is written down with care by whoever is there.",
    "Repairs of the weir took until Easter, according to the surveyor Rufus Tolland of the board.",
    "Old Mr Yilmaz beat the champion of the county in thirty-one moves, and the trophy stands in a window.",
)
CONTACT = (("Contact", "ida@example.org", "Mill Lane 4"), ("Languages", "Finnish", "Swedish"), ("Skills", "Splicing"))
FULL_WIDTH = "A summary goes across both of the columns below, so that it is read before them. " * 4


def text_of(*words: Words, rules: Sequence[Rule] = ()) -> str:
    """The text of a page, with single spaces."""
    return " ".join(read("a.pdf", make([words], rules=[rules])).text.split())


def paragraphs(x: float, top: float, texts: Sequence[str], *, room: float, gap: float = 6) -> list[Words]:
    """Paragraphs in a column."""
    words: list[Words] = []
    for text in texts:
        words += column(x, top, text, room=room)
        top = words[-1].y - 12 - gap
    return words


def side_column(x: float, top: float, *, step: float = 12, size: float = 9) -> list[Words]:
    """Short lines below headings."""
    words: list[Words] = []
    for head, *lines in CONTACT:
        words += [Words(x, top, head, size, bold=True)]
        words += [Words(x, top - step * number, text, size) for number, text in enumerate(lines, 1)]
        top -= step * (len(lines) + 1.5)
    return words


SIDE = " ".join(" ".join(group) for group in CONTACT)


@pytest.mark.parametrize(("step", "size", "gap"), [(11, 9, 6), (12, 10, 0), (14, 10, 6)])
def test_a_narrow_column_at_the_side_is_read_on_its_own(step: float, size: float, gap: float) -> None:
    """As in a résumé: on the left or on the right, below a title or a paragraph, and also on the same baselines."""
    main = " ".join(TASKS)
    title, narrow = Words(60, 740, "Ida Salo", 20), side_column(60, 700, step=step, size=size)
    assert text_of(title, *narrow, *paragraphs(200, 700, TASKS, room=340, gap=gap)) == f"Ida Salo {SIDE} {main}"
    narrow = side_column(440, 700, step=step, size=size)
    assert text_of(title, *narrow, *paragraphs(60, 700, TASKS, room=340, gap=gap)) == f"Ida Salo {main} {SIDE}"
    top = column(60, 760, FULL_WIDTH.strip(), room=480)
    narrow = side_column(60, 690, step=step, size=size)
    below = paragraphs(200, 690, TASKS, room=340, gap=gap)
    assert text_of(*top, *narrow, *below) == f"{FULL_WIDTH}{SIDE} {main}"


def test_a_box_beside_two_columns() -> None:
    """The three columns are read from left to right, although there is little text in the third."""
    first, second = (paragraphs(x, 700, texts, room=155) for x, texts in ((50, TASKS), (220, TASKS[::-1])))
    box = [
        Words(398, 690 - 17 * number, text, 9) for number, text in enumerate(("Office hours", "9 to 12", "Channel 12"))
    ]
    assert (
        text_of(*first, *second, *box) == f"{' '.join(TASKS)} {' '.join(TASKS[::-1])} Office hours 9 to 12 Channel 12"
    )


def test_a_narrow_column_does_not_continue_in_a_wide_one() -> None:
    """Even if its last line, which is short, is no sentence."""
    lines = ("Born in Lagos in 1988", "Ocarina", "Beekeeping", "Fencing", "Chess")
    narrow = [Words(60, 700 - 13 * number, text, 9) for number, text in enumerate(lines)]
    document = read("a.pdf", make([[*narrow, *paragraphs(200, 700, TASKS, room=340)]]))
    assert "Chess\n\nThe gauges" in document.text


@pytest.mark.parametrize("gap", [0, 6])
@pytest.mark.parametrize("labels", [("2021–2025", "2017–2021", "2014–2017"), ("Keeper", "of works", "Mate")])
def test_labels_beside_paragraphs_are_read_row_by_row(labels: Sequence[str], gap: float) -> None:
    """Each label, such as a date, is on the first line of its paragraph, or at its middle."""
    right = [paragraphs(200, 700, TASKS[:number], room=340, gap=gap) for number in range(1, 4)]
    tops = [700, *(words[-1].y - 12 - gap for words in right[:2])]
    at_top = text_of(*right[-1], *(Words(60, y, label) for y, label in zip(tops, labels, strict=True)))
    assert at_top.startswith(f"{labels[0]} The gauges")
    assert f"{labels[1]} Repairs" in at_top
    middles = [(top + words[-1].y) / 2 for top, words in zip(tops, right, strict=True)]
    at_middle = text_of(*right[-1], *(Words(60, y, label) for y, label in zip(middles, labels, strict=True)))
    assert at_middle.index(labels[0]) < at_middle.index("Repairs") < at_middle.index(labels[2])


def test_cells_between_rules_are_read_row_by_row() -> None:
    """Even if they are aligned at their last lines."""
    right = [paragraphs(200, 700, TASKS[:number], room=340, gap=12) for number in range(1, 4)]
    ends = [words[-1].y for words in right]
    labels = [Words(60, y, f"Label {number}") for number, y in enumerate(ends, 1)]
    text = text_of(*right[-1], *labels, rules=[Rule(56, y, 545) for y in (714, *(end - 9 for end in ends))])
    assert text.index("Label 1") < text.index("Repairs") < text.index("Label 3")
    assert text_of(*right[-1], *labels).startswith("Label 1 Label 2 Label 3")


def test_what_is_on_the_right_above_the_left_is_read_first() -> None:
    """Such as the totals of a bill above the terms of payment, although its head is in two columns."""
    address = paragraphs(
        60, 740, ("Brunnhilde Tools", "Schmiedgasse 11", "Bill to: Osterley Boatyard", "Falmouth"), room=200
    )
    head = paragraphs(
        340, 740, ("Invoice no. 4471 of the year 2025", "Due on 14 March of that year", "VAT ID DE812556"), room=200
    )
    items = [
        Words(x, 600 - 14 * row, text)
        for row, cells in enumerate(
            (("Bronze cleat of 200 mm from Bremen", "12", "222.00"), ("Teak plug", "6", "67.20"))
        )
        for x, text in zip((60, 280, 470), cells, strict=True)
    ]
    totals = [
        Words(x, 572 - 14 * row, text)
        for row, total in enumerate((("Subtotal", "289.20"), ("Total EUR", "344.15")))
        for x, text in zip((370, 470), total, strict=True)
    ]
    terms = Words(60, 520, "Payment within 30 days to the account")
    text = text_of(
        *address,
        *head,
        Words(60, 620, "Pos. and description of all items, and their amounts in euros with tax"),
        *items,
        *totals,
        terms,
    )
    assert text.index("Total EUR") < text.index("Payment within")
