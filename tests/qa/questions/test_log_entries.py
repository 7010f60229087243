"""Entries with a date: which of them answers, of which time they are, and the dates of messages."""

from __future__ import annotations

import pytest

from index import StoredPassage
from qa.language.dates import asked_time, without_time
from qa.questions.log_entries import answering_entry, is_of_other_time
from tests.qa.passages import stored

FERRY = "2024-03-02 ramp greased (Ulf)\n2024-05-11 ramp greased (Siv)\n2024-05-30 horn repaired by Torp\n"
ENDS = "Ramp greased by Ulf, 2 March 2024\nRamp greased by Siv, 11 May 2024\nHorn repaired – 30 May 2024 (Torp)\n"
ROWS = """\
| Job | Done on | By |
|---|---|---|
| ramp greased | 02.03.2024 | Ulf |
| ramp greased | 11.05.2024 | Siv |
| horn repaired | 30.05.2024 | Torp |
"""
WRAPPED = "The ferry was bought in Norway, on 3 May 1921\nand sold when its boiler had failed again.\n"
US = "3/2/2024 ramp greased (Ulf)\n5/11/2024 ramp greased (Siv)\n5/30/2024 horn repaired by Torp\n"
PLANS = "3 March: regatta moved to 12 May\n8 April: boats hired, Ulf pays\n"


def _entry(question: str, passage: StoredPassage) -> str | None:
    found = answering_entry(without_time(question), [passage], asked_time(question))
    return None if found is None else passage.text[slice(*found.entry.stamp)]


@pytest.mark.parametrize(
    ("question", "text", "date"),
    [
        # An entry of the month, day or year
        ("when was the ramp greased in May?", FERRY, "2024-05-11"),
        ("who greased the ramp in March 2024?", FERRY, "2024-03-02"),
        ("who greased the ramp on 11 May?", FERRY, "2024-05-11"),
        ("when was the horn repaired in 2024?", FERRY, "2024-05-30"),
        ("when was the ramp greased in June?", FERRY, None),
        ("when was the ramp greased in 2023?", FERRY, None),
        ("who repaired the horn in March?", FERRY, None),
        # Lines that end with a date
        ("when was the ramp last greased?", ENDS, "11 May 2024"),
        ("when was the horn repaired?", ENDS, "30 May 2024"),
        ("who greased the ramp in March?", ENDS, "2 March 2024"),
        ("when was the ferry bought?", WRAPPED, None),
        # A column of dates
        ("when was the ramp last greased?", ROWS, "11.05.2024"),
        ("who greased the ramp in March?", ROWS, "02.03.2024"),
        ("when was the ramp last greased?", ROWS.replace("Ulf", "02.04.2024"), None),
        # The month may come first, which other dates of the document show
        ("when was the ramp greased in May?", US, "5/11/2024"),
        ("when was the ramp greased in March?", US, "3/2/2024"),
        ("when was the ramp last greased?", US.replace("2024 ramp greased (Ulf)", "2025 ramp greased"), "3/2/2025"),
    ],
)
def test_the_entry_of_a_time_answers(question: str, text: str, date: str | None) -> None:
    assert _entry(question, stored(text)) == date


def test_an_entry_with_several_sentences_tells_only_when() -> None:
    """The words of the question may be about different things."""
    passage = stored("2024-05-11 ramp greased. Ulf fell into the water.\n2024-06-02 nothing\n")
    assert _entry("when was the ramp greased in May?", passage) == "2024-05-11"
    assert _entry("who greased the ramp in May?", passage) is None


def test_an_entry_without_some_words_of_the_question_tells_only_when() -> None:
    assert _entry("when was the car ramp greased in May?", stored(FERRY)) == "2024-05-11"
    assert _entry("who greased the car ramp in May?", stored(FERRY)) is None
    assert _entry("how much did greasing the ramp cost in May?", stored(FERRY)) == "2024-05-11"


@pytest.mark.parametrize(
    ("question", "text", "answer", "is_other"),
    [
        ("who greased the ramp in June?", FERRY, "Siv", True),
        ("when was the horn repaired in 2023?", FERRY, "2024-05-30", True),
        ("who greased the ramp in May?", FERRY, "Siv", False),
        ("who greased the ramp?", FERRY, "Siv", False),
        ("who has greased the ramp since March?", FERRY, "Siv", False),
        ("who greases the ramp in June? Who does?", FERRY, "Siv", False),
        # The entry of the month is about something else, and the one that has the words is of another month
        ("when was the ramp greased in May?", FERRY.replace("2024-05-11", "2024-04-11"), "2024-05-30", True),
        ("when was the siren mended in May?", FERRY, "2024-05-30", False),
        # The date of a note, but not of what it announces
        ("when was the regatta in May?", PLANS, "12 May", False),
        ("who paid for the boats in May?", PLANS, "Ulf", True),
        # Either number may be the month
        ("who greased the ramp in March?", "05/03/2024 ramp greased (Ulf)", "Ulf", False),
        ("who greased the ramp in May?", "05/03/2024 ramp greased (Ulf)", "Ulf", False),
        ("who greased the ramp in June?", "05/03/2024 ramp greased (Ulf)", "Ulf", True),
        ("who greased the ramp in June?", ENDS, "Siv", True),
        ("who greased the ramp in June?", ROWS, "Siv", True),
    ],
)
def test_an_entry_of_another_time_does_not_answer(question: str, text: str, answer: str, is_other: bool) -> None:
    at = text.index(answer)
    assert is_of_other_time(question, stored(text), (at, at + len(answer))) is is_other
