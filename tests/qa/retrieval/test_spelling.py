"""Misspelt words of a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.lexical.query_terms import analyse
from index.snapshot import Snapshot
from index.update.report import Request
from index.update.update import update_index
from qa.retrieval.retriever import Retriever
from qa.retrieval.spelling import correct_spelling
from tests.encoders import BagEncoder

TEXTS = {
    "a.md": "# Performance\n\nThe performances of the orchestra in Copenhagen were sold out.\n",
    "b.md": "# Lottery\n\nThe lottery paid for a lantern. The lantern burned for a year.\n",
    "c.md": "# Tickets\n\nA ticket for the lottery; Rädle bought two tickets, and Tomas a banker's cheque\n",
    "d.md": "# Bakers\n\nTwo bakers, a baker's dozen, and bakers again. Ødegård and Jabłońska must rise early.\n",
    "e.md": "# Wells\n\nKowalski dug a well; Nowicky and Nowicki drank. It was an amenity, of amenities.\n",
}
KNOWN = frozenset({"prize", "orchestra", "bankers"})


class Reader(BagEncoder):
    """Knows a few words as a whole, as a real encoder knows the common ones; others are two tokens."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [1 if text in KNOWN else 2 * len(text.split()) for text in texts]


def spell(question: str, snapshot: Snapshot) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What is searched for, and the corrections."""
    return correct_spelling(question, analyse(question).words, snapshot, Reader())


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    update_index(Request(folder, BagEncoder()))
    return folder


@pytest.fixture(scope="module")
def snapshot(root: Path) -> Iterator[Snapshot]:
    with Snapshot(root / ".qa") as snapshot:
        yield snapshot


@pytest.mark.parametrize(
    ("asked", "searched"),
    [
        ("Whose perfomance sold out?", "Whose Performance sold out?"),  # a letter left out
        ("the lotttery of the town", "the lottery of the town"),  # doubled
        ("the well of Kowalsky", "the well of Kowalski"),  # which has the same stem
        ("who is Nowicky or Nowicki", "who is Nowicky or Nowicki"),  # both are written
        ("what amenities", "what amenities"),
        ("which ameniti is it", "which amenity is it"),
        ("a lantren, a Lantren", "a lantern, a lantern"),  # swapped
        ("a lamtern", "a lantern"),  # changed
        ("Radle's ticket", "Radle's ticket"),  # accents count nothing anyway
        ("the prize", "the prize"),  # a word like any other; the collection just lacks it
        ("the lotery of Kopenhagen", "the lottery of Kopenhagen"),  # the first letter stays as it is
        ("LOTERY numbers", "LOTERY numbers"),  # an abbreviation
        ("tikcet", "ticket"),
        ("tcket", "ticket"),
        ("bker", "bker"),  # too short
        ("lot3ery and lotéry", "lot3ery and lottery"),
        ("лотеря", "лотеря"),
        ("Ødegrd met Jabłńska", "Ødegård met Jabłońska"),
        ("perform-ance lanternx", "perform-ance lantern"),
        ("a lotery-ticket's price", "a lottery-ticket's price"),
        ("Copenhagn", "Copenhagen"),  # as it is written there
        ("Raedle, Radlee", "Rädle, Rädle"),
        ("", ""),
    ],
)
def test_a_word_that_the_collection_lacks_becomes_its_neighbour(snapshot: Snapshot, asked: str, searched: str) -> None:
    assert spell(asked, snapshot)[0] == searched


def test_what_was_replaced_is_told(snapshot: Snapshot) -> None:
    found = spell("Lotery or lotery: which lantrn?", snapshot)
    corrections = (("Lotery", "lottery"), ("lotery", "lottery"), ("lantrn", "lantern"))
    assert found == ("lottery or lottery: which lantern?", corrections)


@pytest.mark.parametrize("contraction", ["mustn't", "mustn’t", "wouldn't've", "O'Lotery"])
def test_a_part_of_a_contraction_is_no_word(snapshot: Snapshot, contraction: str) -> None:
    """The collection has "must", one letter from "mustn"."""
    assert spell(f"you {contraction} ask", snapshot) == (f"you {contraction} ask", ())


def test_a_word_behind_the_first_two_hundred_is_one_of_the_collection(snapshot: Snapshot) -> None:
    """Terms behind them are not searched for; that does not make them unknown."""
    question = " ".join(f"w{number}" for number in range(250)) + " bakers lotery"
    assert spell(question, snapshot) == (question.replace("lotery", "lottery"), (("lotery", "lottery"),))


@pytest.mark.parametrize("quotes", ['""', "''", "“”", "„“", "‘’", "«»", "``"])
def test_what_is_quoted_is_left_alone(snapshot: Snapshot, quotes: str) -> None:
    quoted = f"{quotes[0]}the lotery{quotes[1]}"
    assert spell(f"who wrote {quoted} of lotery", snapshot)[0] == f"who wrote {quoted} of lottery"


def test_a_stem_is_no_correction(tmp_path: Path) -> None:
    """Only organisations are written about, and their stem is that of "organ"; `amass` became `amaes` likewise."""
    (tmp_path / "a.txt").write_text("The organization and its organizer.\n")
    update_index(Request(tmp_path, BagEncoder()))
    with Snapshot(tmp_path / ".qa") as snapshot:
        assert snapshot.frequencies(("organ",)) == {"organ": 1}
        assert spell("orgain and oragn", snapshot) == ("orgain and oragn", ())
        assert spell("an organizatin", snapshot)[0] == "an organization"


def test_the_neighbour_in_the_most_passages_is_taken(tmp_path: Path) -> None:
    for number, word in enumerate(["banter", "banter", "barber", "bartender"]):
        (tmp_path / f"{number}.txt").write_text(f"The {word}.\n")
    update_index(Request(tmp_path, BagEncoder()))
    with Snapshot(tmp_path / ".qa") as snapshot:
        assert spell("barter", snapshot)[0] == "banter"


def test_a_pasted_document_is_not_put_right_word_by_word(snapshot: Snapshot) -> None:
    """Five words are looked at."""
    nonsense = " ".join(f"qqqqq{letter}" for letter in "abcde")
    assert spell(f"{nonsense} lotery", snapshot)[0] == f"{nonsense} lotery"
    assert spell(f"{nonsense[:-7]} lotery", snapshot)[0] == f"{nonsense[:-7]} lottery"


def test_the_answer_is_that_of_the_right_word(root: Path) -> None:
    """Searched as if it had been typed rightly; the question in the answer stays as it was asked."""
    with Retriever.open(root, encoder=Reader()) as retriever:
        wrong, right = retriever.ask("who paid for the lantrn"), retriever.ask("who paid for the lantern")
    assert wrong.question == "who paid for the lantrn"
    assert wrong.corrections == (("lantrn", "lantern"),)
    assert right.corrections == ()
    assert wrong.passages == right.passages
    assert (wrong.answer, wrong.confidence) == (right.answer, right.confidence)


@given(st.text() | st.text("lotery n's-ÄÅ\0\ud800", max_size=40))
def test_any_question_is_taken(snapshot: Snapshot, question: str) -> None:
    """What is not replaced stays as it was, and what replaces it is written in the collection."""
    text, corrections = spell(question, snapshot)
    assert corrections or text == question
    assert all(right in text and any(right in one for one in TEXTS.values()) for _, right in corrections)
