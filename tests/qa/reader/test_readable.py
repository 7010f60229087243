"""Tables as the reader gets them, with the column's name before each cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.reader.readable import original_spans, readable
from qa.reader.reader import shared_reader
from qa.reader.reading import Reading
from qa.structure.tables import tables

FEES = (
    "Per month.\n\n| Boat | Summer | Winter |\n|---|--:|---|\n| 6 \\| 8 m | 70 | 38 |\n| dinghy |  | 5 |\n\nAll in EUR."
)


@pytest.mark.parametrize(
    ("text", "context", "read"),
    [
        (FEES, "", "Per month.\n\nBoat: 6 \\| 8 m; Summer: 70; Winter: 38.\nBoat: dinghy; Winter: 5.\n\n\nAll in EUR."),
        ("Boat | Fee\nYacht | 120", "", "Boat: Yacht; Fee: 120.\n"),
        ("| Yacht | 120 |\n| Kayak | 5 |", "", "Yacht; 120.\nKayak; 5.\n"),
        ("| Yacht | 120 |\n| Kayak | 5 |", "Fees › Boat | Fee", "Boat: Yacht; Fee: 120.\nBoat: Kayak; Fee: 5.\n"),
        ("| Yacht | 120 |\n\nAll in EUR.", "Fees › Boat | Fee", "Boat: Yacht; Fee: 120.\n\n\nAll in EUR."),
        ("| Yacht | 120 | x |", "Fees › Boat | Fee", "| Yacht | 120 | x |"),
        ("Yacht | 120 | x\nKayak", "", "Yacht | 120 | x\nKayak"),
        ("a || b, in code", "", "a || b, in code"),
        (
            "Fees:\n           Summer   Winter\nYacht      120      70\nKayak               5\n",
            "",
            "Fees:\nYacht; Summer: 120; Winter: 70.\nKayak; Winter: 5.\n\n",
        ),
        ("Yacht   120   cash", "Fees › Boat | Fee | How", "Boat: Yacht; Fee: 120; How: cash.\n"),
        ("x|y|\n z | ", "", "x: z.\n"),
        ("|------+-----|\n| Boat | Fee |\n|------+-----|\n| Yacht | 9 |", "", "Boat: Yacht; Fee: 9.\n"),
        (
            "+---+---+\n| B | F |\n+===+===+\n| Y | 9 |\n+---+---+\n| K | 5 |\n+---+---+",
            "",
            "B: Y; F: 9.\nB: K; F: 5.\n",
        ),
        ("+---+---+\n| B | F |\n+---+---+\n| Y | 9 |\n| K | 5 |\n+---+---+", "", "B: Y; F: 9.\nB: K; F: 5.\n"),
        (" B | F\n---+---\n Y | 9\n K | 5", "", "B: Y; F: 9.\nB: K; F: 5.\n"),
        ("┌───┬───┐\n│ B │ F │\n├───┼───┤\n│ Y │ 9 │\n└───┴───┘", "", "B: Y; F: 9.\n"),
        ("║ Y ║ 9 ║\n╚═══╩═══╝", "Fees › B | F", "B: Y; F: 9.\n"),
        ("+---+---+\n| Y | 9 |\n+---+---+", "Fees › B | F", "B: Y; F: 9.\n"),
        ("====  ===  ==\nBoat  Fee  In\n====  ===  ==\nTeal  9    PT\n", "", "Boat: Teal; Fee: 9; In: PT.\n\n"),
        # Without its first lines, or with cells of several lines, a grid tells no column names.
        ("| Y | 9 |\n+---+---+\n| K | 5 |", "", "Y; 9.\nK; 5.\n"),
        ("+---+---+\n| B | F |\n+---+---+\n| Y | 9 |\n|   | h |\n+---+---+", "", "B; F.\nY; 9.\nh.\n"),
        (
            "+---+---+\n| B | F |\n+---+---+\n| Y | a |\n| z | b |\n+---+---+\n| K | 5 |\n+---+---+",
            "",
            "B; F.\nY; a.\nz; b.\nK; 5.\n",
        ),
        ("+----+\n| No |\n| go |\n+----+", "", "No.\ngo.\n"),
        ("qa\n│   ├── cli\n│   │   └── main.py\n└── tests", "", "qa\n│   ├── cli\n│   │   └── main.py\n└── tests"),
        ("┌────┐\n│ No │\n│ go │\n└──┬─┘", "", "┌────┐\n│ No │\n│ go │\n└──┬─┘"),
    ],
)
def test_each_cell_follows_the_name_of_its_column(text: str, context: str, read: str) -> None:
    assert readable(text, context).text == read


@given(text=st.text(alphabet="ab |-:+=─│┼\n\\", max_size=60), context=st.sampled_from(["", "T › a | b"]))
def test_every_character_equals_the_one_at_its_origin(text: str, context: str) -> None:
    read = readable(text, context)
    assert len(read.text) == len(read.origin)
    kept = [(letter, int(at)) for letter, at in zip(read.text, read.origin, strict=True) if at >= 0]
    assert [letter for letter, _ in kept] == [text[at] for _, at in kept]
    assert [at for _, at in kept] == sorted({at for _, at in kept})
    for table in tables(text, context):
        for cells in table.rows:
            assert all(
                not set(text[start:end]) & {"\n"} and text[start:end].strip() == text[start:end] for start, end in cells
            )


def test_tokens_cover_characters_of_the_original() -> None:
    read = readable("| a | b |\n|---|---|\n| xy | z |", "")
    assert read.text == "a: xy; b: z.\n"
    spans = original_spans(np.array([(0, 1), (3, 5), (5, 6), (7, 8), (10, 11)], np.int32), read.origin)
    assert spans.tolist() == [[-1, -1], [22, 24], [-1, -1], [-1, -1], [27, 28]]


def test_an_answer_contains_no_repeated_column_name() -> None:
    """The tokens are `Fee 5 Fee 7`, and only the numbers are in the text."""
    spans = np.array([(-1, -1), (4, 5), (-1, -1), (8, 9)], np.int32)
    start, end = np.array([9, 5, 9, 1], np.float32), np.array([9, 1, 9, 5], np.float32)
    result = Reading(0, 0, start, end, 0, spans)
    assert result.best(0, 9) == (4, 5), "not (4, 9), which has the higher logits"
    assert result.best(6, 9) == (8, 9)
    assert result.margin == 3
    assert result.share(0, 9) == pytest.approx(1)


@pytest.mark.parametrize(
    ("question", "answer"), [("When does it close on Friday?", "19:30"), ("When does it open on Monday?", "08:00")]
)
def test_a_cell_is_the_answer(question: str, answer: str) -> None:
    text = "| Day | Opens | Closes |\n|---|---|---|\n| Monday | 08:00 | 17:00 |\n| Friday | 09:00 | 19:30 |"
    (result,) = shared_reader().read([(question, "Slipway", text)])
    start, end = result.best(0, len(text)) or (0, 0)
    assert text[start:end] == answer
    assert result.answered > 0
