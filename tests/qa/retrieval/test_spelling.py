"""Correction of misspelt words in questions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.lexical.query_terms import analyse
from index.snapshot import Snapshot
from qa.answer.results import Correction
from qa.retrieval.spelling import correct_spelling
from tests.encoders import BagEncoder
from tests.qa.indexes import build, built, opened

TEXTS = {
    "a.md": "# Performance\n\nThe performances of the orchestra in Copenhagen were sold out.\n",
    "b.md": "# Lottery\n\nThe lottery paid for a lantern. The lantern burned for a year.\n",
    "c.md": "# Tickets\n\nA ticket for the lottery; Rädle bought two tickets, and Tomas a banker's cheque\n",
    "d.md": "# Bakers\n\nTwo bakers, a baker's dozen, and bakers again. Ødegård and Jabłońska must rise early.\n",
}
KNOWN = frozenset({"prize", "orchestra", "bankers"})


class WordPieces(BagEncoder):
    """A few words are one token, as common words are for a real encoder; others are two."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [1 if text in KNOWN else 2 * len(text.split()) for text in texts]


def spell(question: str, snapshot: Snapshot) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text that is searched for, and the corrections."""
    text, corrections = correct_spelling(question, analyse(question).words, snapshot, WordPieces())
    return text, tuple((correction.word, correction.searched) for correction in corrections)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    with built(tmp_path_factory.mktemp("corpus"), TEXTS) as snapshot:
        yield snapshot


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("Whose perfomance sold out?", "Whose Performance sold out?"),  # a letter left out
        ("the lotttery of the town", "the lottery of the town"),  # doubled
        ("a lantren, a Lantren", "a lantern, a lantern"),  # swapped
        ("a lamtern", "a lantern"),  # changed
        ("Radle's ticket", "Radle's ticket"),  # accents are ignored anyway
        ("the prize", "the prize"),  # a correct word that the collection happens to lack
        ("the lotery of Kopenhagen", "the lottery of Kopenhagen"),  # the first letter is never changed
        ("LOTERY numbers", "LOTERY numbers"),  # may be an abbreviation
        ("the LANTREN trial", "the lantern trial"),  # too long for one
        ("tikcet", "ticket"),
        ("tcket", "ticket"),
        ("bker", "bker"),  # too short
        ("lot3ery and lotéry", "lot3ery and lottery"),
        ("лотеря", "лотеря"),
        ("Ødegrd met Jabłńska", "Ødegård met Jabłońska"),
        ("perform-ance lanternx", "perform-ance lantern"),
        ("a lotery-ticket's price", "a lottery-ticket's price"),
        ("Copenhagn", "Copenhagen"),  # capitalised as in the collection
        ("Raedle, Radlee", "Rädle, Rädle"),
        ("", ""),
    ],
)
def test_unknown_word_becomes_a_similar_indexed_word(snapshot: Snapshot, question: str, searched: str) -> None:
    assert spell(question, snapshot)[0] == searched


def test_corrections_are_reported(snapshot: Snapshot) -> None:
    spelt = spell("Lotery or lotery: which lantrn?", snapshot)
    corrections = (("Lotery", "lottery"), ("lotery", "lottery"), ("lantrn", "lantern"))
    assert spelt == ("lottery or lottery: which lantern?", corrections)


@pytest.mark.parametrize("contraction", ["mustn't", "mustn’t", "wouldn't've", "O'Lotery"])
def test_a_part_of_a_contraction_is_not_a_word(snapshot: Snapshot, contraction: str) -> None:
    """The collection has "must", one letter away from "mustn"."""
    assert spell(f"you {contraction} ask", snapshot) == (f"you {contraction} ask", ())


def test_a_known_word_after_the_first_two_hundred_is_not_corrected(snapshot: Snapshot) -> None:
    """Terms after them are not searched for, but that does not make them unknown."""
    question = " ".join(f"w{number}" for number in range(250)) + " bakers lotery"
    assert spell(question, snapshot) == (question.replace("lotery", "lottery"), (("lotery", "lottery"),))


@pytest.mark.parametrize("quotes", ['""', "''", "“”", "„“", "‘’", "«»", "``"])
def test_quoted_words_are_left_alone(snapshot: Snapshot, quotes: str) -> None:
    quoted = f"{quotes[0]}the lotery{quotes[1]}"
    assert spell(f"who wrote {quoted} of lotery", snapshot)[0] == f"who wrote {quoted} of lottery"


def test_a_stem_is_not_a_correction(tmp_path: Path) -> None:
    """Words such as "organization" have the stem "organ", which the collection need not have as a word."""
    with built(tmp_path, {"a.txt": "The organization and its organizer.\n"}) as snapshot:
        assert snapshot.frequencies(("organ",)) == {"organ": 1}
        assert spell("orgain and oragn", snapshot) == ("orgain and oragn", ())
        assert spell("an organizatin", snapshot)[0] == "an organization"


def test_a_hyphen_may_be_missing(tmp_path: Path) -> None:
    """Such a word is preferred to one with another letter, and may be short or a single token of the encoder."""
    texts = {"a.txt": "Check-in is at 3 pm; the Wi-Fi is free.\n", "b.txt": "Checking the prizes. A pri-ze.\n"}
    with built(tmp_path, texts) as snapshot:
        assert spell("checkin, the wifi", snapshot)[0] == "check-in, the wi-fi"
        assert spell('"checkin", WIFI, the prizes', snapshot)[0] == '"checkin", WIFI, the prizes'


def test_most_frequent_similar_word_is_chosen(tmp_path: Path) -> None:
    words = ("banter", "banter", "barber", "bartender")
    with built(tmp_path, {f"{number}.txt": f"The {word}.\n" for number, word in enumerate(words)}) as snapshot:
        assert spell("barter", snapshot)[0] == "banter"


def test_a_pasted_document_is_not_corrected_word_by_word(snapshot: Snapshot) -> None:
    """At most five unknown words are looked at."""
    nonsense = " ".join(f"qqqqq{letter}" for letter in "abcde")
    assert spell(f"{nonsense} lotery", snapshot)[0] == f"{nonsense} lotery"
    assert spell(f"{nonsense[:-7]} lotery", snapshot)[0] == f"{nonsense[:-7]} lottery"


def test_corrected_question_gets_the_same_answer(tmp_path: Path) -> None:
    """The result keeps the question as it was asked, and names the corrections."""
    build(tmp_path, TEXTS)
    with opened(tmp_path, encoder=WordPieces(), reader=True) as retriever:
        wrong, right = retriever.ask("who paid for the lantrn"), retriever.ask("who paid for the lantern")
    assert wrong.question == "who paid for the lantrn"
    assert wrong.corrections == (Correction("lantrn", "lantern"),)
    assert json.loads(json.dumps(wrong.as_json()))["corrections"] == [{"word": "lantrn", "searched": "lantern"}]
    assert right.corrections == ()
    assert wrong.passages == right.passages
    assert (wrong.answer, wrong.confidence) == (right.answer, right.confidence)


@given(st.text() | st.text("lotery n's-ÄÅ\0\ud800", max_size=40))
def test_any_question_is_accepted(snapshot: Snapshot, question: str) -> None:
    """A text without corrections is unchanged, and every correction is a word of the collection."""
    text, corrections = spell(question, snapshot)
    assert corrections or text == question
    assert all(right in text and any(right in text for text in TEXTS.values()) for _, right in corrections)
