"""Telephone, account and parcel numbers, however they are grouped, and what only looks like them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from index.snapshot import Snapshot
from qa.answer import confidence
from qa.questions.long_numbers import (
    long_numbers,
    owned_numbers,
    phone_number_of,
    without_marks,
    write_numbers_as_in,
)
from tests.qa.indexes import build, built, opened
from tests.qa.passages import stored

TEXTS = {
    "phones.md": "# Phones\n\nPlumber Ida: +47 22 33 44 55\nDentist: 030 2345 678\nElectrician Kay: 0151-555-0123\n",
    "rent.md": "# Rent\n\nLandlord: Petra Holm\nIBAN: NL20 INGB 0001 2345 67\n",
    "plain.csv": "name,phone\nAnn,0409123456\nBob,0409123457\n",
    "20240015.txt": "Paid in May.\n",
}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("whose is DE12500105170648489890?", ["DE12500105170648489890"]),
        ("NL20 INGB 0001 2345 67 or 20 INGB", ["NL20 INGB 0001 2345 67"]),
        ("call 030 2345 678, not 030 23", ["030 2345 678"]),
        ("+49 (0)30 2345678 please", ["49 (0)30 2345678"]),
        ("030/2345678, 555.123.4567, 0151-555-0123.", ["030/2345678", "555.123.4567", "0151-555-0123"]),
        ("parcel 1Z 999 AA1 01 2345 6784 of today", ["1Z 999 AA1 01 2345 6784"]),
        ("invoice 20240015 3 pages", ["20240015"]),
        ("rs10818488 of C5", ["rs10818488"]),
        ("ISBN 978-3-16-148410-0", ["978-3-16-148410-0"]),
        # Years, dates and times
        ("2019-2020, 2021, 2022; 2023-24/2024-25; 1620–1621 and 973–1048", []),
        ("12.05.2024 or 2024-05-12 18:02 or 12/05/2024, 18:02", []),
        ("10.30-11.30 and 12:30:45.123456", []),
        # Amounts and measures
        ("1,234,567 and 1 234 567 and 1.234.567 and 10000000", []),
        ("5 000 000-6 000 000 EUR", []),
        ("0.1234567, 7.35-7.45 and 59.9139 10.7522", []),
        ("cifar-100 8/255 or 1000 3/16; but 0151/555 0123", ["0151/555 0123"]),
        # Too short, and too long
        ("room 12, version 10.15.7 and code 12345A", []),
        ("1 2 3 4 5 6 7 8 9 " * 10, []),
    ],
)
def test_long_numbers(text: str, numbers: list[str]) -> None:
    assert [number[0] for number in long_numbers(text)] == numbers


def test_marks_between_groups_do_not_count() -> None:
    assert without_marks("49 (0)30 2345-678") == "490302345678"


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    with built(tmp_path_factory.mktemp("corpus"), TEXTS) as snapshot:
        yield snapshot


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("who has 0302345678?", "who has 030 2345 678?"),
        ("who has 030 2345 678?", "who has 030 2345 678?"),
        ("who has 030-2345678 and 4722334455?", "who has 030 2345 678 and 47 22 33 44 55?"),
        ("01515550123", "0151-555-0123"),
        ("who is +44 151 555 0123?", "who is +44 151 555 0123?"),
        ("who has 22 33 44 55?", "who has 22 33 44 55?"),
        ("whose IBAN is NL20INGB0001234567?", "whose IBAN is NL20 INGB 0001 2345 67?"),
        ("whose IBAN is nl20ingb0001234567?", "whose IBAN is NL20 INGB 0001 2345 67?"),
        ("who has 0409 123 456?", "who has 0409123456?"),
        ("when was 20240015 paid?", "when was 20240015 paid?"),
        ("when was 2024-0015 paid?", "when was 20240015 paid?"),
    ],
)
def test_numbers_are_written_as_in_the_collection(snapshot: Snapshot, question: str, written: str) -> None:
    numbered = write_numbers_as_in(snapshot, question)
    assert numbered.text == written
    assert not numbered.is_unknown
    for asked, searched in numbered.changed:
        assert asked in question
        assert searched in written
    assert bool(numbered.changed) == (question != written)


@pytest.mark.parametrize(
    "question", ["who has 0302345679?", "who has 030 2345 67?", "whose IBAN is NL20INGB0001234568?", "0409 123 45 67"]
)
def test_another_number_is_unknown(snapshot: Snapshot, question: str) -> None:
    assert write_numbers_as_in(snapshot, question) == (question, (), True)


@pytest.mark.parametrize(
    "question",
    ["who was here in 2019-2020?", 'who has "0302345679"?', "it fails " + "again and " * 9 + "says 0302345679"],
)
def test_what_need_not_be_known(snapshot: Snapshot, question: str) -> None:
    """Years, what is quoted, which lookups search for literally, and numbers in the description of a problem."""
    assert write_numbers_as_in(snapshot, question) == (question, (), False)


def test_an_answer_about_an_unknown_number_is_not_found(tmp_path: Path) -> None:
    build(tmp_path, TEXTS)
    with opened(tmp_path) as retriever:
        result = retriever.ask("Dentist: 0302345678")
        assert result.found
        assert [(it.word, it.searched) for it in result.corrections] == [("0302345678", "030 2345 678")]
        assert retriever.ask("Dentist: 0302345679").confidence <= confidence.OTHER_SUBJECT


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("Whose number is 030 2345 678?", {"0302345678"}),
        ("who has 0302345678 and 030-2345679", {"0302345678", "0302345679"}),
        ("got a missed call from 030 2345 678, whose is that?", {"0302345678"}),
        ("which company do I get if I ring 0302345678", {"0302345678"}),
        ("When did 030 2345 678 call?", set()),
        ("who paid invoice 20240015?", set()),
        ("Whose is it?", set()),
    ],
)
def test_questions_for_the_owner_of_a_number(question: str, numbers: set[str]) -> None:
    assert owned_numbers(question) == numbers


def test_the_line_with_the_number_answers_whose_it_is(tmp_path: Path) -> None:
    """Though other passages are about numbers and owners, too, and hardly anything else is said in this one."""
    noise = {f"note {at}.md": f"Whose number is 0400 55 66 {at}? Ask the owner of the number.\n" for at in range(30)}
    build(tmp_path, {**noise, "list.txt": "Zed: 02 42 83 44 94\nQuin: 02 42 83 44 95\n"})
    with opened(tmp_path) as retriever:
        result = retriever.ask("Whose number is 0242834494?")
        assert result.found
        assert result.passages[0].source.path == "list.txt"
        assert result.passages[0].highlights[0].text == "Zed: 02 42 83 44 94"


def test_a_record_with_the_number_comes_first_and_says_whose_it_is(tmp_path: Path) -> None:
    """All of the record does, not only its field with the number; so does an invoice with the number of a question."""
    rows = "".join(f"Friend {at},05550 100{at},invoice {at}0012340\n" for at in range(100, 140))
    build(tmp_path, {"friends.csv": f"name,phone,paid\n{rows}"})
    with opened(tmp_path) as retriever:
        whose = retriever.ask("got a missed call from 05550 100117, whose is that?")
        paid = retriever.ask("was invoice 1230012340 ever paid?")
    assert whose.found
    assert "name: Friend 117" in whose.passages[0].text
    assert "name: Friend 123" in paid.passages[0].text


@pytest.mark.parametrize(
    ("question", "line", "number"),
    [
        ("whats ann lees mobile", "Lee, Ann     2 Dock Street    01632 960 155", "01632 960 155"),
        ("what is Ann Lee's phone number?", "Lee, Ann     2 Dock Street    01632 960 155", "01632 960 155"),
        ("phone Ann Lee", "Ann Lee, 2 Dock Street, 01632 960 155", "01632 960 155"),
        ("number of the plumber", "Lee, Ann     -    07700 900 155   plumber", "07700 900 155"),
        ("Ann's mobile number", "Ann Lee     home 01632 960 155   mobile 07700 900 155", "07700 900 155"),
        ("Ann's number", "Lee, Ann    07700 900 155   the old one was 07700 900 110", "07700 900 155"),
        ("Ann's mobile?", "Ann + Bo    01632 960 111   Ann 07700 900 155   Bo 07700 900 156", "07700 900 155"),
        ("Ann's number", "Ann Lee: +44 7700 900 155", "+44 7700 900 155"),
        ("Ann's number", "Ann Lee: (01632) 960 155", "(01632) 960 155"),
        ("how do I reach Ann Lee?", "Ask Ann Lee (07700 900 155) for the key.", "07700 900 155"),
        # Two numbers, somebody else's, another kind of number, and another question
        ("Ann's number", "Ann Lee     home 01632 960 155   mobile 07700 900 155", None),
        ("Bo's number", "Ann Lee, 2 Dock Street, 01632 960 155", None),
        ("Bo Farr's number", "The key is no longer with Bo Farr but with Ann Lee (07700 900 155).", None),
        ("Bo's number", "Lee, Ann    07700 900 155   Bo -156", None),
        ("Ann Lee's number", "Lee, Ann    account 00447700155", None),
        ("who rang Ann Lee?", "Ann Lee, 2 Dock Street, 01632 960 155", None),
        ("how do I reach the dock of Ann Lee?", "Ann Lee, 2 Dock Street, 01632 960 155", None),
        ("what is the mobile office of Ann Lee?", "Ann Lee, 2 Dock Street, 01632 960 155", None),
        ("number of the house of Ann Lee", "Ann Lee, 2 Dock Street, 01632 960 155", None),
        ("how many phone calls did Ann Lee get?", "Ann Lee, 2 Dock Street, 01632 960 155", None),
    ],
)
def test_the_telephone_number_in_the_line_of_a_name(question: str, line: str, number: str | None) -> None:
    passage = stored(f"People\n\n{line}\nCy Marsh, 9 Dock Street, 01632 960 999\n")
    found = phone_number_of(question, [passage])
    assert (None if found is None else passage.text[slice(*found[1])]) == number
    other = stored(f"{line.replace('155', '177')}\n")
    assert phone_number_of(question, [passage, other]) is None
