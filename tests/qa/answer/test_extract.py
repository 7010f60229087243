"""The sentences that answer a question, and their places."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import is_code
from qa.answer.extract import Extract, _sentences, extract
from qa.answer.results import Highlight
from qa.retrieval.late_interaction import span_score
from tests.encoders import BagEncoder
from tests.qa.passages import match, query, stored

ENCODER = BagEncoder(max_tokens=100_000)


def extracted(question: str, text: str, *, start: int = 0, body: int = 0, context: str = "") -> Extract:
    """The extract of a passage for a question whose words have equal weights."""
    passage, asked_query = stored(text, start=start, body=body, context=context), query(question, ENCODER)
    return extract(passage, partial(span_score, asked_query, match(asked_query, passage, ENCODER)), question)


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


def test_the_items_of_a_nested_list_look_alike() -> None:
    tools = "  - Axe\n  - Saw"
    assert extracted("Which tools are there?", tools, context="Tools").answer == tools
    result = extracted("tools", f"Cats purr.\n- The tools:\n{tools}\n- Dog")
    assert result.answer == f"- The tools:\n{tools}\n- Dog"
    assert result.highlights[0].text == "The tools:"


TASKS = "Garden:\n\n- [x] cut the hedge\n- [ ] repair the latch\n- [ ] buy compost\n- [X] sweep"
OPEN, DONE = "[ ] repair the latch\n[ ] buy compost", "[x] cut the hedge\n[X] sweep"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is still to do in the garden?", OPEN),
        ("garden todo", OPEN),
        ("what has to be done in the garden", OPEN),
        ("what in the garden isn't done yet", OPEN),
        ("which tasks are open?", OPEN),
        ("what in the garden was never ticked off?", OPEN),
        ("what is unticked?", OPEN),
        ("what was ticked off in the garden?", DONE),
        ("what is done in the garden?", DONE),
        ("repair the latch", "[ ] repair the latch"),
        ("When does the garden open?", TASKS),
    ],
)
def test_tasks_are_selected_by_their_boxes(question: str, answer: str) -> None:
    """Although the sentence most similar to the question is "cut the hedge", or the one above the tasks."""
    result = extracted(question, TASKS)
    assert result.answer == answer
    assert [mark.text for mark in result.highlights if mark.text.startswith("[")] == [
        line for line in answer.replace("- ", "").splitlines() if line.startswith("[")
    ]


def test_without_tasks_a_question_about_them_gets_a_sentence() -> None:
    assert extracted("what is still to do?", "Still nothing is to do. Cats purr.").answer == "Still nothing is to do."


def test_the_rows_of_a_table_are_extracted() -> None:
    """Without the bars at both ends; neither the column names nor the rule below them are extracted."""
    text = "Fees. All of them.\n\n| Boat | Fee. |\n|---|---|\n| red kayak | 5 |\n| ferry | 7 |\n\nThe end."
    assert extracted("red fee", text).highlights[0].text == "red kayak | 5"
    result = [text[start:end] for start, end in _sentences(text, 0, "")]
    assert result == ["Fees.", "All of them.", "red kayak | 5", "ferry | 7", "The end."]


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


@pytest.mark.parametrize("marker", ["- ", "* ", "+ ", "• ", "– ", "1. ", "12) ", "(3) ", "b) "])
def test_list_markers_are_left_out(marker: str) -> None:
    """A list item is quoted without its bullet or number."""
    text = f"{marker}red fox\n\n{marker}blue hen"
    start = text.index("blue")
    assert extracted("blue hen", text).highlights == (Highlight((start, start + 8), "blue hen"),)


def test_the_day_of_a_date_is_not_a_marker() -> None:
    result = extract(stored("5. Mai 2023: Besuch.\n\n6. Maier kam."), lambda *_: 1.0)
    assert [light.text for light in result.highlights] == ["5. Mai 2023: Besuch.", "Maier kam."]


@pytest.mark.parametrize("text", ["-5 degrees at night", "1998 was cold", "3.5 metres of snow"])
def test_numbers_that_only_look_like_a_marker_stay(text: str) -> None:
    assert extracted("cold night snow", text).highlights[0].text == text


def test_long_sentences_are_cut() -> None:
    """Into pieces of at most 400 characters, cut between words, losing only the blanks in between."""
    text = "filler " * 150 + "needle" + " filler" * 20
    (best,) = extracted("needle", text).highlights
    assert best.chars == (2 * 399, len(text))
    assert best.text == text[2 * 399 :]
    (cut,) = extracted("needle", text + " filler" * 100).highlights
    assert cut == best


@pytest.mark.parametrize("before", ["; or (ii) ", ", (b) ", ": and (3) ", "; "])
def test_a_long_sentence_is_cut_at_its_clauses(before: str) -> None:
    """Before the last item or after the last semicolon that fits, but not at commas and brackets alone."""
    first = "owls " * 20 + "owls"
    second = "needle, foxes (see a) " * 8 + "hens " * 30 + "hens"
    (best, *_) = extracted("needle", f"{first}{before}{second}.").highlights
    assert best.text.startswith(before.strip("; :,") + " needle" if "(" in before else "needle")


def test_a_word_longer_than_a_highlight_is_cut() -> None:
    """Without a blank it is cut anywhere, and no piece is empty."""
    text = "x" * 400 + " " + "y" * 900
    assert _sentences(text, 0, "") == [(0, 400), (401, 801), (801, 1201), (1201, 1301)]


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
    result = extract(stored("One. Two. Three."), lambda start, _: 0.5 + start * 1e-12)
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


def test_a_list_is_highlighted_after_the_sentence_that_introduces_it() -> None:
    """Item by item, to the end of the list; the answer is the sentence and the list."""
    result = extracted("red fox eats", LIST)
    texts = [mark.text for mark in result.highlights]
    assert texts == ["The red fox eats:", "hens.", "Not often.", "12 mice", "grapes"]
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
    assert [mark.text for mark in extracted("red foxes eat", text).highlights][9:] == ["hen 8", "hen 9"]


def test_a_lookup_is_answered_by_the_row_or_sentence_that_has_it() -> None:
    """Not by the whole table, nor by the sentence with the best score."""
    text = "Codes are here.\n\n| a | b |\n|---|---|\n| TM-428 | slow |\n| TM-429 | many |"
    at = text.index("TM-429")
    result = extract(stored(text), lambda start, _: float(start == 0), looked_up=at)
    assert result.answer == result.highlights[0].text == "TM-429 | many"
    result = extract(stored("It was built. When? In 1926."), lambda start, _: float(start > 0), looked_up=3)
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


def test_items_below_a_numbered_step_are_parts_of_it() -> None:
    assert extracted("What is step 2 of it?", "# Step 2\n\n1. What it is\n2. Rinse.", body=10).answer == "What it is"


@pytest.mark.parametrize("introduction", ["", "To pack the box:\n"])
def test_steps_are_answered_whole_however_many_they_are(introduction: str) -> None:
    steps = introduction + "\n".join(f"{number}. Put in item {number}." for number in range(1, 14))
    assert extracted("How do I pack the box?", steps, context="Packing the box").answer == steps


@pytest.mark.parametrize("introduction", ["", "To start the fan:\n"])
@pytest.mark.parametrize("part", ["power", "fan", "door"])
def test_an_item_is_continued_by_an_indented_line(introduction: str, part: str) -> None:
    """Not by a paragraph, nor by a line below it that is not indented."""
    steps = "1. Check the power.\n2. Switch on the fan.\n   Listen for the hum. Wait.\n3. Close the door."
    for rest in ("\n\nIt runs.", "\nIt runs."):
        result = extracted(f"How do I start the fan ({part})?", introduction + steps + rest, context="Starting the fan")
        assert result.answer == introduction + steps


STEPS = "1. Switch off the pump.\n2. Rinse the filter with warm water.\n3. Switch on the pump again."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How do I clean the filter?", STEPS),
        ("what are the steps to clean the filter", STEPS),
        ("What's the procedure for cleaning the filter?", STEPS),
        ("How do I rinse it with warm water?", "Rinse the filter with warm water."),
        ("Why clean the filter?", "Rinse the filter with warm water."),
    ],
)
def test_all_steps_answer_how_something_is_done(question: str, answer: str) -> None:
    """If it is named above them, not if it is only one of the steps."""
    assert extracted(question, STEPS, context="Pond › Clean the filter").answer == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Fill the kettle.\n\nHow to reset the lamp (always forget)\n 1 doors shut\n 2 hold the button\n\nBye.", True),
        # Neither days of a diary, nor years, nor a single number
        ("Reset the lamp\n1 May sunny\n2 May rain", False),
        ("Reset the lamp\n23 km\n24.5 km", False),
        ("Reset the lamp\n3 cups\nand 7 spoons", False),
    ],
)
def test_steps_may_lack_a_mark_after_their_numbers(text: str, answer: bool) -> None:
    """If they are in order; the line above them without an end, which names what is asked, is no answer."""
    result = extracted("How do I reset the lamp?", text)
    assert (result.answer == "1 doors shut\n 2 hold the button") is answer
    assert answer or result.answer.startswith("Reset the lamp")


def test_steps_below_a_heading_that_says_so_are_answered_whole() -> None:
    """Even if it names little of the question, but nothing else."""
    assert extracted("How do I clean the filter of the Lotse 3?", STEPS, context="Lotse › How to clean").answer == STEPS
    rinse = "Rinse the filter with warm water."
    assert extracted("How do I rinse the filter of a Lotse 3?", STEPS, context="Lotse › How to clean").answer == rinse


@pytest.mark.parametrize(
    ("question", "heading", "is_whole"),
    [
        ("What do I do before a visit?", "Before a visit", True),
        ("What do I do after the visit?", "After a visit", True),
        ("What do we do in case of a leak?", "Pond › In case of a leak", True),
        ("What should I do in case of a leak?", "Pond › Leak", True),
        ("What do I do about the leak of last year?", "Pond › Leak", False),
        ("How do I switch the automatic mode on?", "Switching the automatic mode on", True),
        ("How do I switch on the automatic mode?", "3.2 Switching the automatic mode on", True),
        ("How do I switch the automatic mode on?", "Automatic mode", True),
        ("How do I switch the automatic mode on?", "Switching the automatic mode on and off", True),
        ("How do I clean the pump in the pond?", "Cleaning out the pump of the pond", True),
        # The opposite way
        ("How do I switch the automatic mode on?", "Switching the automatic mode off", False),
        ("How do I switch on the automatic mode?", "3.2 Turn off automatic mode", False),
        ("How do I put the pump in?", "Pond › Taking the pump out", False),
        ("What do I do before a visit?", "After a visit", False),
    ],
)
def test_steps_of_the_opposite_are_none(question: str, heading: str, is_whole: bool) -> None:
    steps = "1. Press the knob.\n2. Wait for the lamp."
    assert (extracted(question, steps, context=heading).answer == steps) is is_whole


def test_clauses_are_no_steps() -> None:
    clauses = "1. The tenant pays.\n2. The lease can be ended.\n3. Any change is written."
    result = extracted("How do I end the lease of the house?", clauses, context="Lease of the house")
    assert result.answer == "The lease can be ended."


SAW = "1. Check the oil.\n2. Pull the cord."


@pytest.mark.parametrize(
    ("question", "heading", "is_named"),
    [
        ("How do I start the chain saw?", "Tools › Starting the chain saw", True),
        ("How do I start the chain saw?", "Chain saw › Starting", True),
        ("How do I start the chain saw?", "STARTING THE CHAIN SAW", True),
        ("What do I do when the saw gets stuck?", "Tools › When the saw gets stuck", True),
        ("How do I switch the saw on?", "Saw › Switching on", True),
        ("How do I make the rye bread?", "Recipes › Rye bread", True),
        ("how to prepare rye bread", "Recipes › Rye bread", True),
        ("How do I make the rye bread?", "Recipes › Rye bread › Method", True),
        ("How do I start the chain saw?", "Starting the chain saw › Step by step", True),
        # Another verb, machine or condition
        ("How do I keep rye bread?", "Recipes › Rye bread", False),
        ("How do I stop the chain saw?", "Tools › Starting the chain saw", False),
        ("How do I clean the chain saw?", "Chain saw › Starting", False),
        ("How do I start the mower?", "Tools › Starting the chain saw", False),
        ("How do I start the chain saw?", "Chain saw › Starting the mower", False),
        ("How do I start saw 2?", "Saws › Starting saw 1", False),
        ("How do I switch the saw off?", "Saw › Switching on", False),
        ("What do I do before starting the saw?", "Saw › Starting", False),
        ("How do I start the saw?", "Saw › How not to start the saw", False),
        ("How do I start the saw?", "Saw › If the saw does not start", False),
        ("How do I start the saw?", "Saw › If starting the saw fails", False),
        ("Why does the chain saw start?", "Tools › Starting the chain saw", False),
    ],
)
def test_steps_are_sure_if_the_heading_names_all_of_the_question(question: str, heading: str, is_named: bool) -> None:
    assert extracted(question, SAW, context=heading).names_question is is_named


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        ("Follow these steps:\n\n", True),
        ("To start it:\n", True),
        ("Wear gloves.\n\n", True),
        ("To stop it:\n\n", False),
        ("Stopping\n", False),
    ],
)
def test_the_line_before_the_steps_has_the_verb_of_the_question(line: str, is_named: bool) -> None:
    heading = "Starting and stopping the chain saw"
    assert extracted("How do I start the chain saw?", line + SAW, context=heading).names_question is is_named
    assert extracted("How do I start the saw?", f"Starting the saw\n{SAW}", context="Tools").names_question


BULLETS = "- Check the oil.\n- Pull the cord."


@pytest.mark.parametrize(
    ("question", "heading", "answer"),
    [
        ("How do I start the saw?", "Tools › Starting the saw", BULLETS),
        ("How do I start the saw?", "How to start the saw", BULLETS),
        ("How do I start the cord?", "Tools › Saw start and cord", "Pull the cord."),
        ("How do I stop the cord?", "Tools › Starting the saw", "Pull the cord."),
    ],
)
def test_bullets_are_steps_below_a_heading_that_says_so(question: str, heading: str, answer: str) -> None:
    assert extracted(question, BULLETS, context=heading).answer == answer


@pytest.mark.parametrize(
    ("question", "is_named"),
    [
        ("Which tasks are not done yet?", True),
        ("What is still to do at the boathouse?", True),
        ("Which jobs are done?", True),
        ("Which tasks are not done in the garden?", False),
        ("Which tasks has Tom not done yet?", False),
        ("When are the tasks done?", False),
    ],
)
def test_boxes_are_sure_if_all_that_the_question_names_is_above_them(question: str, is_named: bool) -> None:
    boxes = "- [x] Paint the door\n- [ ] Mend the slip"
    assert extracted(question, boxes, context="Boathouse › To do").names_question is is_named


def test_tasks_are_those_of_whom_the_question_names() -> None:
    boxes = "- [x] Osman: paint the door\n- [ ] Lea: order signs\n- [ ] Samira: mend the slip"
    assert extracted("What does Lea have to do?", boxes).answer == "[ ] Lea: order signs"
    assert extracted("What is still to do?", boxes).answer == "[ ] Lea: order signs\n[ ] Samira: mend the slip"


def test_steps_are_sure_if_one_has_all_of_the_question() -> None:
    steps = "Use this if the primary is down.\n\n1. Page the lead.\n2. Promote the replica: `failover x`.\n3. Rest."
    assert extracted("How do I promote the replica?", steps, context="Failover").names_question
    assert not extracted("How do I promote the replica in Oslo?", steps, context="Failover").names_question
    assert not extracted("How do I promote it?", steps, context="Failover").names_question


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what did Jonas get in 2021?", "2021: a sled for Jonas"),
        ("what did Jonas get in 2020?", "2022: what Jonas did get"),
        ("what did Jonas get?", "2022: what Jonas did get"),
        ("what did get 4/5?", "Stoner: 4/5"),
        ("what did Jonas get in 2.1.0?", "2.1.0: a doll"),
        ("what did Jonas get in 2.1?", "2022: what Jonas did get"),
        ("what did Jonas get in 2023/24?", "2023/24: a kite"),
    ],
)
def test_an_item_with_another_year_rating_or_version_gives_way(question: str, answer: str) -> None:
    items = (
        "2022: what Jonas did get|2021: a sled for Jonas|what did get: 5/5|Stoner: 4/5|2.1.0: a doll|2023/24: a kite"
    )
    assert extracted(question, "- " + items.replace("|", "\n- ")).answer == answer


def test_in_prose_the_year_and_the_answer_may_be_in_different_sentences() -> None:
    prose = "When it was made was in 1951. In 1933 Ada came."
    assert extracted("when was it made, in 1933", prose).answer == "When it was made was in 1951."


@pytest.mark.parametrize("before", ["Yes.", "No!", "text: Yes.", "Anna: Of course."])
def test_a_mere_yes_or_no_is_one_sentence_with_the_next(before: str) -> None:
    text = f"{before} The cellar is dry. It is cold."
    assert extract(stored(text), lambda start, _: float(start == 0), "is the cellar dry").answer == (
        f"{before} The cellar is dry."
    )
    apart = f"{before}\n\nThe cellar is dry."
    assert extract(stored(apart), lambda start, _: float(start == 0), "is the cellar dry").answer == before


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("etc/kiosk_config", "Port 8302\nAllowGuests no\nMaxTries 4\nBanner none\n", "MaxTries 4"),
        ("kiosk.conf", "http {\n    timeout 40s;\n    max_tries 4;\n}\n", "max_tries 4;"),
        ("run.sh", 'set -eu\nMAX_TRIES=4\ntar cf - "$1" | gzip > out.gz\n', "MAX_TRIES=4"),
        ("kiosk.service", "[Service]\nRestart=always\nMaxTries=4\n", "MaxTries=4"),
        (
            "run.sh",
            "# The shop is closed\n# for max tries. Then it opens.\nset -eu\n",
            "# The shop is closed\n# for max tries.",
        ),
    ],
)
def test_each_line_of_code_or_settings_is_a_sentence(path: str, text: str, line: str) -> None:
    """Comments of several lines are split into sentences."""
    pattern = re.compile("max_?tries|max tries", re.IGNORECASE)
    passage = stored(text, path=path)
    result = extract(passage, lambda start, end: float(bool(pattern.search(text, start, end))), "how many tries")
    assert result.answer == line


def test_prose_without_a_suffix_is_not_split_into_lines() -> None:
    text = "The shop is closed in May and in June because\nof the max tries of the owner. Ask him.\nSo it is then.\n"
    assert not is_code("README", text)
    assert is_code("README", "Port 80\nTries 4\n")
    assert not is_code("README.txt", "Port 80\nTries 4\n")
