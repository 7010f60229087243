"""Answers from headings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qa import Retriever, build_index
from qa.answer.exact_answer import exact_answer
from qa.answer.extract import Extract
from qa.answer.heading_answer import heading_answer, lacks_expansion, prefer_expansion
from qa.answer.results import Highlight
from tests.qa.indexes import write
from tests.qa.passages import reading, stored

RELEASE = "## 1.4.2 (17 June 2023)\n\n- Fixed a crash.\n"
BODY = RELEASE.index("- ")
WHEN = "When was 1.4.2 released?"


def heading_of(question: str, answer: str, *, answered: float = 3.0, text: str = RELEASE) -> Extract | None:
    body = text.index("- ")
    return heading_answer(question, stored(text, start=90, body=body), reading(text, answer=answer, answered=answered))


def test_a_heading_answers_like_a_sentence() -> None:
    """It is highlighted at its place in the document, without its marks, and quoted in a few words."""
    result = heading_of(WHEN, "17 June 2023")
    assert result is not None
    assert result.highlights == (Highlight((93, 113), "1.4.2 (17 June 2023)"),)
    passage, read = stored(RELEASE, start=90, body=BODY), reading(RELEASE, answer="17 June 2023", answered=3.0)
    answer = exact_answer(WHEN, [passage], {1: result}, {1: read}, {})
    assert answer is not None
    assert (answer.text, answer.sentence) == ("17 June 2023", "1.4.2 (17 June 2023)")


@pytest.mark.parametrize(
    ("question", "answer", "answered"),
    [
        pytest.param("What crashed?", "Fixed a crash", 3.0, id="it is in the text"),
        pytest.param("When was it released?", "17 June 2023", -1.0, id="the reader is not sure"),
        pytest.param("Which version is 1.4.2?", "1.4.2", 3.0, id="the heading only repeats the question"),
        pytest.param("Why was 1.4.2 released?", "17 June 2023", 3.0, id="a few words do not answer"),
        pytest.param("What is a 1.4.2?", "17 June 2023", 3.0, id="a name does not say what something is"),
    ],
)
def test_heading_is_not_quoted_unless_it_answers(question: str, answer: str, answered: float) -> None:
    assert heading_of(question, answer, answered=answered) is None


@pytest.mark.parametrize(
    ("question", "is_named"),
    [
        (WHEN, True),
        ("which day did v1.4.2 come out?", True),
        ("When was Quillon 1.4.2 published?", True),
        ("When was Quillon's 1.4.2 published?", True),
        ("When was 1.4.1 released?", False),
        ("When was 1.4.2 deployed in Oslo?", False),
        ("When was it released?", False),
    ],
)
def test_a_heading_that_names_all_of_the_question_has_its_date(question: str, is_named: bool) -> None:
    """The reader sees too little in it, as the text below is about something else."""
    passage = stored(RELEASE, path="quillon/CHANGELOG.md", body=BODY)
    result = heading_answer(question, passage, reading(RELEASE, answer="Fixed a crash", answered=-5.0))
    assert (result is not None and result.is_certain and result.name == "17 June 2023") == is_named


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was order 5512 shipped?", "## Order 5512, shipped (12 May 2025)\n\n- On 15 May 2025 by rail."),
        ("When was version 4.2 released?", "## Version 4.2 (freeze of 3 May 2025)\n\n- Faster."),
    ],
)
def test_the_date_in_a_heading_may_be_that_of_something_else(question: str, text: str) -> None:
    assert heading_of(question, text[3:9], answered=-5.0, text=text) is None


@pytest.mark.parametrize("heading", ["1.4.2 (17.6.2023)", "17.6.2023: v1.4.2"])
def test_a_version_that_is_asked_for_is_no_date(heading: str) -> None:
    result = heading_of("Which version fixed the crash?", "17.6.2023", text=f"## {heading}\n\n- Fixed a crash.\n")
    assert result is not None
    assert result.name in {"1.4.2", "v1.4.2"}


@pytest.mark.parametrize(("place", "is_quoted"), [("in room 9", False), ("upstairs", True)])
def test_a_sentence_that_says_the_same_is_better_evidence(place: str, is_quoted: bool) -> None:
    """Even if the reader considers the heading more likely."""
    text = f"## Room 9\n\nIt is kept {place}."
    read, likely = reading(text, answer="Room 9", answered=3.0), reading(text, answer=place.removeprefix("in "), sure=4)
    ambiguous = replace(read, start=np.maximum(read.start, likely.start), end=np.maximum(read.end, likely.end))
    result = heading_answer("Where is it?", stored(text, body=text.index("It")), ambiguous)
    assert (result is not None) == is_quoted


@pytest.mark.parametrize(
    "heading", ["# Notes\n\n## Room 9\n\n", "Room 9\n------\n\n", "* Room 9\n", "== Room 9 ==\n", "Notes\nRoom 9\n"]
)
def test_heading_marks_of_any_format_are_left_out(heading: str) -> None:
    result = heading_of("Where?", "Room 9", text=f"{heading}- Bring a pen.")
    assert result is not None
    assert result.answer == "Room 9"


def test_a_passage_without_a_heading_in_its_text_has_no_heading_answer() -> None:
    passage = replace(stored(RELEASE), heading=("1.4.2 (17 June 2023)",))
    assert heading_answer(WHEN, passage, reading(RELEASE, answer="17 June 2023", answered=3.0)) is None


def test_the_real_reader_answers_from_headings(tmp_path: Path) -> None:
    """A question that a heading mentions but does not answer is not found."""
    files = {
        "CHANGELOG.md": "# Changelog of Quillon\n\n## 1.4.2 (17 June 2023)\n\n"
        "- Fixed a crash when a file name has a tab.\n\n"
        "## 1.4.1 (2 May 2023)\n\n- Faster start on Windows.\n- Dropped support of Python 3.7.\n",
        "garden.md": "# Garden\n\n## Sunday 14 May: planted the beans\n\n"
        "Two rows, dwarf kind, with fleece over them because of the late frost.\n\n"
        "## Meeting with Dr. Amara Osei, room 204\n\nShe suggests that we test the soil.\n",
    }
    answers = {
        "When was 1.4.1 released?": "2 May 2023",
        "When did I plant the beans?": "Sunday 14 May",
        "Who did we meet in room 204?": "Dr. Amara Osei",
    }
    write(tmp_path, files)
    build_index(tmp_path)
    with Retriever.open(tmp_path) as retriever:
        for question, expected in answers.items():
            result = retriever.ask(question)
            assert result.found
            assert result.answer is not None
            assert result.answer.text == expected
            (light,) = result.passages[0].highlights
            text = files[result.passages[0].source.path]
            assert text[slice(*light.chars)] == light.text == result.answer.sentence
        assert not retriever.ask("Who planted the beans?").found


HOLIDAYS = "## 3. Holidays\n\n- There are 26 of them.\n"


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        ("What is the number of holidays?", "3", HOLIDAYS),
        ("What are the holidays of Ada?", "4.1", HOLIDAYS.replace("3.", "4.1")),
        ("What are the holidays of Ada?", "4", HOLIDAYS.replace("3.", "§ 4")),
        ("What are the holidays?", "3", HOLIDAYS.replace("3.", "3")),
        ("What are the holidays?", "3 Holidays", HOLIDAYS.replace("3.", "3")),
        ("What was added in 1.4.2?", "17 June 2023", RELEASE),
        ("what has been fixed in 1.4.2?", "17 June 2023", RELEASE),
        ("what changed in 1.4.2?", "17 June 2023", RELEASE),
        ("What is new in 1.4.2?", "17 June 2023", RELEASE),
    ],
)
def test_neither_the_number_of_a_section_nor_the_date_of_a_change_answers(
    question: str, answer: str, text: str
) -> None:
    assert heading_of(question, answer, text=text) is None


@pytest.mark.parametrize(
    ("question", "answer", "text", "name"),
    [
        ("Which section is on holidays?", "3", HOLIDAYS, "3. Holidays"),
        ("Which section is on holidays?", "3", HOLIDAYS.replace("3.", "3"), "3 Holidays"),
        ("Which room is it?", "204", "## Room 204\n\n- It is red.\n", "Room 204"),
        ("How many bakers came?", "3", "## 3 Bakers\n\n- They came.\n", "3 Bakers"),
        ("Where is it?", "3 Long Row", "## 3 Long Row\n\n- It is red.\n", "3 Long Row"),
        ("What is it about?", "Holidays", HOLIDAYS, "Holidays"),
        ("When was it?", "3. May", "## 3. May\n\n- It rained.\n", "3. May"),
        ("In which version was the crash fixed?", "2.1", "## 2.1 Basalt\n\n- A crash is fixed.\n", "2.1 Basalt"),
    ],
)
def test_the_number_of_a_section_is_no_part_of_its_name(question: str, answer: str, text: str, name: str) -> None:
    """Unless it is asked for, or is the day of a date."""
    result = heading_of(question, answer, text=text)
    assert result is not None
    assert result.answer == name


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("What does RKB stand for?", "The Regional Kelp Board (RKB) meets in May.", "Regional Kelp Board"),
        ("what does DPO stand for", "Data on people, ask the DPO: Data Protection Officer.", "Data Protection Officer"),
        ("full form of MoRS", "MoRS (Montrose Reading Scale) has 12 items.", "Montrose Reading Scale"),
        ("What does IV stand for?", "IV, intravenously, every 8 hours", "intravenously"),
        ("What does KQT-3 stand for?", "Sleep quality was rated with the KQT-3 every week.", None),
        ("What does HERON stand for?", "HERON is a trial of helmets in Norway.", None),
    ],
)
def test_an_abbreviation_stands_for_words_with_its_letters(question: str, text: str, expected: str | None) -> None:
    passage, sentence = stored(text), Extract((Highlight((0, len(text)), text),), 0.5, (0, len(text)), text)
    assert lacks_expansion(question, passage) is (expected is None)
    result = prefer_expansion(question, passage, sentence)
    assert result.name == (expected or "")
    assert not lacks_expansion("Where does HERON stand?", passage)


@pytest.mark.parametrize(
    ("abbreviation", "text"), [("A" * 9 + "X", "a" * 150), ("A" * 12 + "X", "a " * 90), ("XaaaaaaaX", "x" + "a" * 99)]
)
def test_an_expansion_is_soon_given_up(abbreviation: str, text: str) -> None:
    """Some patterns would be tried in more ways than anybody can wait for."""
    assert lacks_expansion(f"What does {abbreviation} stand for?", stored(f"{abbreviation} {text}"))
