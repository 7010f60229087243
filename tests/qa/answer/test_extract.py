"""The sentences that answer a question, and their places."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer.extract import Extract, extract
from qa.answer.results import Highlight
from tests.qa.passages import extracted, stored


def test_the_sentence_that_answers() -> None:
    """The best sentence is given in document characters with its score; headings are not sentences."""
    document = "x" * 100 + "# Fox\n\nCats purr. The red fox runs. Dogs bark."
    result = extracted("red fox", document[100:], start=100, body=7)
    assert result.highlights == (Highlight((118, 135), "The red fox runs."),)
    assert document[118:135] == "The red fox runs."
    assert result.score == pytest.approx(1 + 0.5 / sqrt(2), abs=1e-6)


DUTIES = "- Unlock the door. Mind the dog.\n- Light the stove\n- Sweep on Sunday"


@pytest.mark.parametrize(
    ("question", "heading", "answer"),
    [
        ("Which opening duties are there?", "Opening duties", DUTIES),
        ("what are the duties when opening", "Opening duties", DUTIES),
        ("Which duties are there on Sunday?", "Opening duties", "Sweep on Sunday"),
        ("What is the first duty?", "Opening duties", "Unlock the door."),
        ("Which opening duties are there?", "Other things", "Sweep on Sunday"),
        ("What do I need to bring for opening?", "Things to bring for opening", DUTIES),
        ("which Sunday duties are there", "Sunday duties", DUTIES),
    ],
)
def test_a_list_answers_a_question_about_the_heading_above_it(question: str, heading: str, answer: str) -> None:
    """The answer has the marker of each item, or if it is one of them, none."""
    assert extracted(question, f"{DUTIES}\n\nThat is all.", context=f"Club › {heading}").answer == answer


@pytest.mark.parametrize(
    ("question", "best", "answer"),
    [
        ("who has 030 2345 678?", "Plumber: 0151 555 0123", "Dentist: 030-2345678"),
        ("who has 030 2345 679?", "Plumber: 0151 555 0123", "Plumber: 0151 555 0123"),
        ("who has 0151?", "Dentist: 030-2345678", "Dentist: 030-2345678"),
        # The line of the number itself does not say who pays.
        ("who pays into 0012345678?", "Tenant: Ann", "Tenant: Ann"),
    ],
)
def test_a_line_with_another_number_than_the_question_does_not_answer(question: str, best: str, answer: str) -> None:
    text = "Plumber: 0151 555 0123\nDentist: 030-2345678\nTenant: Ann\nAccount: 0012345678"
    assert extract(stored(text), lambda start, _: float(start == text.index(best)), question).answer == answer


def test_the_items_of_a_nested_list_look_alike() -> None:
    tools = "  - Axe\n  - Saw"
    assert extracted("Which tools are there?", tools, context="Tools").answer == tools
    result = extracted("tools", f"Cats purr.\n- The tools:\n{tools}\n- Dog")
    assert result.answer == f"- The tools:\n{tools}\n- Dog"
    # All of it is what answers.
    assert [mark.text for mark in result.highlights] == [result.answer]


OFFICERS = "Chair: Ann Lee\nTreasurer: Tom Ash\nPress: Ida Ek"


@pytest.mark.parametrize(
    ("question", "heading", "answer"),
    [
        ("members of the committee", "Committee", OFFICERS),
        ("who sat on the committee?", "Committee", OFFICERS),
        ("who are the officers", "Officers", OFFICERS),
        ("where are the officers", "Officers", OFFICERS),
        ("who is the treasurer of the committee?", "Committee", "Treasurer: Tom Ash"),
        ("who is the chair of the committee?", "Committee", "Chair: Ann Lee"),
        ("members of the press committee", "Committee", "Press: Ida Ek"),
        ("members of the committee", "Other things", "Chair: Ann Lee"),
    ],
)
def test_lines_without_marks_are_a_list(question: str, heading: str, answer: str) -> None:
    """Whether the heading is above them or is their first line; prose, two lines and other paragraphs are none."""
    assert extracted(question, f"{OFFICERS}\n\nThat is all.", context=f"Club › {heading}").answer == answer
    if answer == OFFICERS:
        assert extracted(question, f"{heading}\n{OFFICERS}\n\nThat is all.").answer == answer
        prose = f"{OFFICERS}."
        assert "\n" not in extracted(question, prose, context=heading).answer
        two = OFFICERS[: OFFICERS.index("\nPress")]
        assert "\n" not in extracted(question, two, context=heading).answer


def test_one_line_below_a_heading_answers_a_question_for_one_thing() -> None:
    text = f"Committee\n{OFFICERS}"
    result = extract(stored(text), lambda start, _: float(start == text.index("Chair")), "who chairs the committee?")
    assert result.answer == "Chair: Ann Lee"


def test_a_list_tells_where_things_are_if_it_names_each() -> None:
    """Otherwise one of its items does."""
    boats = "- painted in May\n- stored behind the barn\n- sold in June"
    assert "\n" not in extracted("where are the boats kept?", boats, context="Boats").answer
    meetings = "- 2020: Ely\n- 2021: York"
    assert extracted("where were the meetings held?", meetings, context="Meetings").answer == meetings


TRIPS = "- 12 boats\n- 2 side trips\n  - Swim at dawn\n  - Walk to Ely\n- 3 prizes"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("list the side trips", TRIPS[11:-11]),
        ("which side trips are there?", TRIPS[11:-11]),
        ("how many side trips?", "2 side trips"),
        ("list the boats", "12 boats"),
    ],
)
def test_an_item_that_names_several_things_has_the_items_below_it(question: str, answer: str) -> None:
    assert extracted(question, TRIPS, context="Fair").answer == answer


def test_of_a_long_list_its_items_are_marked_before_what_introduces_them() -> None:
    items = [f"a tool of {'long ' * 20}use {number}" for number in range(5)]
    result = extracted("which tools are there?", "The tools are:\n" + "\n".join(f"- {item}" for item in items))
    assert [mark.text for mark in result.highlights] == [*items, "The tools are:"]


def test_a_title_above_a_paragraph_does_not_answer() -> None:
    """Nor if it is looked up: the best sentence below it does, but not a line without a stop, as of a list."""
    text = "Mill Lane\n\nIt is steep. The shop has stamps.\n\nMap of Mill Lane"
    scores = {"Mill": 3.0, "It": 1.0, "The": 2.0, "Map": 2.5}
    for looked_up in (None, 0):
        score = lambda start, _: scores[text[start:].split(maxsplit=1)[0]]  # noqa: E731 - a score
        result = extract(stored(text), score, "mill lane - what is there", looked_up=looked_up)
        assert result.answer == "The shop has stamps."
    assert extracted("milk", "Milk\n\nEggs\n\nBread").answer == "Milk"


def test_a_list_below_an_item_that_is_looked_up_belongs_to_it() -> None:
    """Not to the first item of a passage, which may be indented as far."""
    result = extract(stored(TRIPS), lambda *_: 1.0, "side trips", looked_up=TRIPS.index("side"))
    assert result.answer == TRIPS[11:-11]
    rest = TRIPS[TRIPS.index("- 2 side") :]
    assert extract(stored(rest), lambda *_: 1.0, "side trips", looked_up=rest.index("side")).answer == "2 side trips"


@pytest.mark.parametrize(
    ("question", "context", "answer"),
    [
        ("how many boats were there in 2015?", "", "2015: only 31 boats."),
        ("how many boats were there in 2019?", "", "2025: 3700 boats!"),
        # The year is that of all below the heading.
        ("how many boats were there in 2015?", "Fair of 2015", "2025: 3700 boats!"),
        ("how many cars were there in 2012?", "", "2025: 3700 boats!"),
    ],
)
def test_a_sentence_of_another_year_than_the_question_does_not_answer(question: str, context: str, answer: str) -> None:
    text = "In 2012 it rained. 2015: only 31 boats. 2025: 3700 boats!"
    passage = stored(text, context=context)
    assert extract(passage, lambda start, _: float(start == text.index("2025")), question).answer == answer


@pytest.mark.parametrize(
    ("question", "best", "share", "is_whole"),
    [
        ("What went missing at the fair?", "two boats", 0.8, True),
        ("Which things were gone after the fair?", "two boats", 0.8, True),
        ("3 ways the fair went wrong", "two boats", 0.8, True),
        # The reader is sure that it answers alone
        ("What went missing at the fair?", "two boats", 0.99, False),
        ("What went missing at the fair?", "a sail", 0.8, False),
        ("Who was at the fair?", "two boats", 0.8, False),
        ("What is the fair?", "two boats", 0.8, False),
        # One thing is asked for
        ("Which loss takes the fair by surprise?", "two boats", 0.8, False),
        ("Which boat stops at the fair?", "two boats", 0.8, False),
        ("What went missing at home?", "two boats", 0.8, False),
    ],
)
def test_the_first_item_of_a_list_answers_with_the_others(
    question: str, best: str, share: float, is_whole: bool
) -> None:
    """If it is less sure than one that answers alone, and what is above the list is about what is asked."""
    text = "We counted.\n\n- two boats\n  - the red one\n- a sail\n- three oars"
    passage = stored(text, context="Fair › Losses")
    result = extract(passage, lambda start, _: float(start == text.index(best)), question, share=lambda *_: share)
    assert result.answer == (text[text.index("- two") :] if is_whole else best)


def test_a_bare_heading_does_not_answer() -> None:
    """What is below it does: a whole list, or the first sentence; a line that says more than the question stays."""
    goals = "1. Find the leak\n2. Mend the pump"
    assert extracted("goals of the club", f"Goals\n{goals}\n\nThat is all.", context="Club").answer == goals
    assert extracted("goals", "Goals\nWe mend pumps. Goals matter.").answer == "We mend pumps. Goals matter."
    assert extracted("goals of the club", f"Red goals\n{goals}\n\nThat is all.", context="Club").answer == "Red goals"


def test_the_rows_of_a_table_are_extracted() -> None:
    """Without the bars at both ends; neither the column names nor the rule below them are extracted."""
    text = "Fees. All of them.\n\n| Boat | Fee. |\n|---|---|\n| red kayak | 5 |\n| ferry | 7 |\n\nThe end."
    assert extracted("red fee", text).highlights[0].text == "red kayak | 5"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Q: When was it built?\nA: In 1926.\nQ: Who paid?\nA: Ada.", "A: In 1926."),
        ("[12/05/2024, 18:02] Sam: when was it built?\n[12/05/2024, 18:05] Al: 1926!", "[12/05/2024, 18:05] Al: 1926!"),
        ("5/12/24, 6:02 PM - Sam: When was it built?\nIn 1926.", "In 1926."),
        ("**Guest:** When was it built? You may ask. In 1926.", "You may ask."),
        ("**When was it built?** Why? In 1926.", "In 1926."),
        ("It is old. When was it built?", "When was it built?"),
        ("How to tell when it was built\n\nThe stone has it.", "The stone has it."),
        (
            "How to tell when it was built: the stone has the year.",
            "How to tell when it was built: the stone has the year.",
        ),
        ("It was built when it was. Or not?\nIn 1926.", "It was built when it was."),
        # A question mark in notes may express doubt.
        ("it was built when? 1926?\n\nIt is old.", "it was built when?"),
        ("Hall: it was built when it was. ok?\n\nIt is old.", "Hall: it was built when it was. ok?"),
        (f"Built when it was, {160 * 'x'}. why?\n\nIt is old.", f"Built when it was, {160 * 'x'}. why?"),
    ],
)
def test_a_question_in_the_text_is_replaced_by_the_sentence_after_it(text: str, answer: str) -> None:
    result = extracted("when was it built", text)
    assert result.answer == result.highlights[0].text == answer
    assert len({highlight.chars for highlight in result.highlights}) == len(result.highlights)


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        # Of the sentences beside it, the one that fits better, or else the one before
        ("why is the mill shut?", "The mill is shut. Its wheel broke.", "Its wheel broke."),
        ("why is the mill shut?", "Its wheel broke. The mill is shut therefore.", "Its wheel broke."),
        (
            "why did Ola sell the mill?",
            "Bread rose. Ola sold the mill. The mill lost Ola money.",
            "The mill lost Ola money.",
        ),
        ("why is the mill shut?", "09/03/2024, 08:02 - Ola: The mill is shut. Its wheel broke.", "Its wheel broke."),
        # Not if the sentence says more, is asked for, or stands alone
        (
            "why is the mill shut?",
            "The mill is shut, as its wheel broke. Bread rose.",
            "The mill is shut, as its wheel broke.",
        ),
        ("is the mill shut?", "The mill is shut. Its wheel broke.", "The mill is shut."),
        ("why is the mill shut?", "The mill is shut.\n\nBring bread.", "The mill is shut."),
        ("why is the mill shut?", "The mill is shut. Who broke its wheel?", "The mill is shut."),
    ],
)
def test_a_sentence_that_only_states_what_is_to_be_explained_is_replaced(question: str, text: str, answer: str) -> None:
    assert extracted(question, text).answer == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The code was 4471. Changed on 12 April to 2208. Ask Ann.", "The code was 4471. Changed on 12 April to 2208."),
        (
            "The code was 4471. We lost it. It was changed to 2208.",
            "The code was 4471. We lost it. It was changed to 2208.",
        ),
        ("The code is 4471. The lamp was changed. The bulb is 2208.", "The code is 4471."),
        ("The code is 4471.\n\nChanged to 2208.", "The code is 4471."),
        ("- The code is 4471.\n- Changed to 2208.", "The code is 4471."),
        ("The code is on the door. Changed to 2208.", "The code is on the door."),
    ],
)
def test_what_changes_a_value_right_after_it_belongs_to_the_answer(text: str, answer: str) -> None:
    assert extracted("what is the code?", text).answer == answer


def test_only_one_sentence_is_extracted_if_none_has_anything_in_common_with_the_question() -> None:
    """Three would only look like an answer."""
    result = extracted("zebra", "Cats purr. Dogs bark. Hens cluck.")
    assert len(result.highlights) == 1


def test_near_best_sentences_are_also_highlighted() -> None:
    """At most three sentences are highlighted, best first, equal ones in the order of the text."""
    text = "Red fox. Blue hen. Red fox! Far red fox. The red fox runs far."
    scores = {"Red fox": 1.5, "Far red fox.": 1 + 1 / sqrt(6), "The red fox runs far.": 1 + 1 / sqrt(10)}
    assert scores["Far red fox."] > 0.92 * 1.5 > scores["The red fox runs far."]
    assert [highlight.chars for highlight in extracted("red fox", text).highlights] == [(0, 8), (19, 27), (28, 40)]
    assert len(extracted("red fox", text.replace("Red fox! ", "")).highlights) == 2
    assert len(extracted("red fox", "Red fox. " * 5).highlights) == 3


def test_scores_that_differ_only_by_rounding_are_ties() -> None:
    result = extract(stored("One. Two. Three."), lambda start, _: 0.5 + start * 1e-12, "")
    assert [mark.text for mark in result.highlights] == ["One.", "Two.", "Three."]


@pytest.mark.parametrize(("text", "body"), [("", 0), (" \n ", 0), ("# Only a heading\n", 17)])
def test_without_text_below_the_heading_nothing_is_extracted(text: str, body: int) -> None:
    assert extracted("red fox", text, body=body) == Extract()


@given(
    text=st.text(alphabet="ab .!?\n-*1)(;,é’中。\t", max_size=60).flatmap(
        lambda unit: st.integers(1, 12).map(lambda times: unit * times)
    ),
    start=st.integers(0, 1000),
)
def test_highlights_are_exact(text: str, start: int) -> None:
    """For any text: the exact characters, stripped, not blank, at most 400, and not overlapping."""
    highlights = extracted("a b", text, start=start).highlights
    assert bool(highlights) == bool(text.strip())
    for highlight in highlights:
        first, end = highlight.chars
        assert text[first - start : end - start] == highlight.text == highlight.text.strip() != ""
        assert len(highlight.text) <= 400
    in_order = sorted(highlight.chars for highlight in highlights)
    assert all(left[1] <= right[0] for left, right in pairwise(in_order))


LIST = "Cats purr.\n\nThe red fox eats:\n\n- hens. Not often.\n- 12 mice\n  1) grapes\n\nDogs bark.\n- at night"


def test_a_list_is_highlighted_with_the_sentence_that_introduces_it() -> None:
    """To the end of the list; the answer is the sentence and the list."""
    result = extracted("red fox eats", LIST)
    assert [mark.text for mark in result.highlights] == [result.answer]
    assert result.answer == "The red fox eats:\n\n- hens. Not often.\n- 12 mice\n  1) grapes"
    assert result.has_list
    assert extracted("dogs bark", LIST).answer == "Dogs bark."
    assert not extracted("dogs bark", LIST).has_list
    assert extracted("12 mice", LIST).answer == "12 mice"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The file is refused if\n\n- rows are missing, or\n- it is late", True),
        ("Cases of refused files\n- rows are missing, or\n- it is late", True),
        ("The file is refused if\n\nrows are missing.", False),
        ("The file is refused.\n\n- rows are missing", False),
    ],
)
def test_a_list_that_ends_a_sentence_or_is_below_a_title_belongs_to_it(text: str, answer: bool) -> None:
    result = extracted("What are the cases in which the file is refused?", text)
    assert ("it is late" in result.answer) is answer


FAQ = "Do I have to help?\n\nAdults give eight hours. Nobody pays. New members give four."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("do I really have to help", FAQ[20:]),
        # The sentence has words of the question that the heading lacks, or a few words answer.
        ("Do new members have to help?", "New members give four."),
        ("Who has to help?", "Adults give eight hours."),
        ("How do adults help?", "Adults give eight hours."),
    ],
)
def test_a_question_is_answered_by_all_that_is_below_the_same_question(question: str, answer: str) -> None:
    assert extracted(question, FAQ, body=20, context="Club › Do I have to help?").answer == answer

    if answer == FAQ[20:]:
        bold = f"Hello.\n\n**Do I have to help?** {FAQ[20:]}\n\n**Is it cold?** No."
        assert extracted(question, bold, context="Club").answer == answer
        chat = f"Al: Do I have to help?\nBo: {FAQ[20:]}\nAl: Fine."
        assert extracted(question, chat, context="Club").answer == f"Bo: {answer}"
        numbered = f"1. Do I have to help? {FAQ[20:]}\n2. Is it cold? No."
        assert extracted(question, numbered, context="Club").answer == answer


def test_what_is_below_a_heading_that_asks_nothing_or_is_long_is_not_answered_whole() -> None:
    question = "do I have to help"
    assert extracted(question, FAQ, body=20, context="Club › Help").answer == "New members give four."
    long = FAQ + 60 * " So it is."
    assert extracted(question, long, body=20, context="Club › Do I have to help?").answer == "New members give four."


@pytest.mark.parametrize("text", ["The red fox eats:", "The red fox eats:\n\nhens and mice.", "Red fox: it eats hens."])
def test_a_colon_without_a_list_introduces_nothing(text: str) -> None:
    assert len(extracted("red fox", text).highlights) == 1


def test_at_most_ten_items_of_a_list_are_extracted() -> None:
    text = "Red foxes eat:\n" + "".join(f"- hen {number}\n" for number in range(30))
    assert extracted("red foxes eat", text).highlights[0].text.endswith("- hen 8\n- hen 9")


def test_a_lookup_is_answered_by_the_row_or_sentence_that_has_it() -> None:
    """Not by the whole table, nor by the sentence with the best score."""
    text = "Codes are here.\n\n| a | b |\n|---|---|\n| TM-428 | slow |\n| TM-429 | many |"
    at = text.index("TM-429")
    result = extract(stored(text), lambda start, _: float(start == 0), "", looked_up=at)
    assert result.answer == result.highlights[0].text == "TM-429 | many"
    result = extract(stored("It was built. When? In 1926."), lambda start, _: float(start > 0), "", looked_up=3)
    assert result.answer == "It was built."


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            "Which shelf is box 12 on?",
            "Box 12 is in the attic. Shelf 12 is the shelf that box 40 is on.",
            "Box 12 is in the attic.",
        ),
        ("Who booked room 12B?", "Room 12A: who booked was Ada\nRoom 12B: Bo", "Room 12B: Bo"),
        ("How many did C05 have?", "How many C01 did have: 412\n\nC05: 897", "C05: 897"),
        ("What is step 2 of it?", "1. What it is\n2. Rinse.\n3. Shake.", "Rinse."),
    ],
)
def test_a_sentence_about_another_thing_gives_way_to_one_about_the_right_one(
    question: str, text: str, answer: str
) -> None:
    assert extracted(question, text).answer == answer


GATE = "Open the gate:\n\n```sh\ngate unlock\ngate open wide\n```\n\nIt creaks."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How do I open the gate?", "gate unlock\ngate open wide"),
        ("Which command opens the old gate for bicycles?", "gate unlock\ngate open wide"),
        ("how do I open wide", "gate open wide"),
        ("Who may open the gate?", "Open the gate:"),
    ],
)
def test_a_line_above_code_is_answered_by_the_code(question: str, answer: str) -> None:
    """For a question for a command; a line of code with all its words answers alone."""
    assert extracted(question, GATE).answer == answer


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            "aldoxin storage",
            "**Dose.** One a day.\n\n**Storage.** In the fridge. Keep it dry.",
            "In the fridge. Keep it dry.",
        ),
        ("storage of aldoxin", "*Dose.* One a day.\n\n*Storage.* In the fridge.", "In the fridge."),
        (
            "aldoxin side effects",
            "Dose\nOne a day.\n\n4. Possible side effects\nHives, nausea and a dry mouth were seen in a few people.",
            "Hives, nausea and a dry mouth were seen in a few people.",
        ),
        # Neither is a heading, or there is nothing below it.
        ("aldoxin storage", "Storage is dry.\nIn the fridge.", "Storage is dry."),
        ("aldoxin storage", "Aldoxin storage: dry\nPacks: of ten", "Aldoxin storage: dry"),
        ("aldoxin storage", "**Storage.**\n\nUnrelated words.", "**Storage.**"),
        ("how do I store aldoxin", "Store aldoxin\n1. Open the fridge.\n2. Put it in.", None),
    ],
)
def test_below_a_run_in_heading_its_paragraph_answers(question: str, text: str, answer: str | None) -> None:
    result = extracted(question, text)
    assert result.answer == answer or answer is None
    assert all(text[slice(*mark.chars)] == mark.text for mark in result.highlights)


def test_no_sentence_of_a_paragraph_below_a_run_in_heading_answers_alone() -> None:
    """Not even if the question names its number."""
    text = "Leaks mended\nLeak 1: tap in the hall, yes.\nLeak 2: roof above the stairs, no.\nLeak 3: cellar, yes.\n"
    result = extract(stored(text), lambda start, _: 1.0 - start / 1000, "Was leak 2 mended?")
    assert result.answer == text.partition("\n")[2].strip()
