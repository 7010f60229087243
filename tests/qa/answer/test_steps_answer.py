"""Steps and tasks, which are answered whole."""

from __future__ import annotations

import pytest

from qa.questions.steps import procedure_parts
from tests.qa.passages import extracted, stored

STEPS = "1. Switch off the pump.\n2. Rinse the filter with warm water.\n3. Switch on the pump again."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How do I clean the filter?", STEPS),
        ("what are the steps to clean the filter", STEPS),
        ("What's the procedure for cleaning the filter?", STEPS),
        ("steps for cleaning the filter", STEPS),
        ("list the instructions to clean the filter", STEPS),
        ("steps of the stairs", "Switch off the pump."),
        ("How do I rinse it with warm water?", "Rinse the filter with warm water."),
        ("Why clean the filter?", "Rinse the filter with warm water."),
    ],
)
def test_all_steps_answer_how_something_is_done(question: str, answer: str) -> None:
    """If it is named above them, not if it is only one of the steps."""
    assert extracted(question, STEPS, context="Pond › Clean the filter").answer == answer


@pytest.mark.parametrize("introduction", ["", "To pack the box:\n"])
def test_steps_are_answered_whole_however_many_they_are(introduction: str) -> None:
    steps = introduction + "\n".join(f"{number}. Put in item {number}." for number in range(1, 14))
    assert extracted("How do I pack the box?", steps, context="Packing the box").answer == steps


@pytest.mark.parametrize(
    "steps",
    [
        "Step 1: Switch off the pump.\nStep 2: Rinse the filter with warm water.",
        "**Step 1.** Switch off the pump.\n\n**Step 2.** Rinse the filter with warm water.",
        "- STEP 1 – Switch off the pump\n- STEP 2 – Rinse the filter with warm water",
    ],
)
def test_steps_may_be_called_steps(steps: str) -> None:
    assert (
        extracted("How do I clean the filter?", f"{steps}\n\nDone.", context="Pond › Clean the filter").answer == steps
    )
    assert extracted("How do I rinse it?", steps, context="Pond").answer != steps


SCONES = "1 cup milk\n2 eggs\n3 cups flour\n\nMix everything. Bake for 12 minutes."


def test_ingredients_are_no_steps() -> None:
    """Neither those around the best sentence nor those above it."""
    question = "How do I make scones?"
    assert "\n" not in extracted(question, SCONES, context="Scones").answer
    mix = SCONES.index("Mix"), SCONES.index(" Bake")
    recipe = stored(SCONES, context="Scones")
    assert not procedure_parts(question, [recipe], recipe, mix)
    numbered = stored(f"{SCONES}\n\n1. Mix everything.\n2. Bake it.", context="Scones")
    assert procedure_parts(question, [numbered], numbered, mix) == [numbered]


@pytest.mark.parametrize("introduction", ["", "To start the fan:\n"])
@pytest.mark.parametrize("part", ["power", "fan", "door"])
def test_an_item_is_continued_by_an_indented_line(introduction: str, part: str) -> None:
    """Not by a paragraph, nor by a line below it that is not indented."""
    steps = "1. Check the power.\n2. Switch on the fan.\n   Listen for the hum. Wait.\n3. Close the door."
    for rest in ("\n\nIt runs.", "\nIt runs."):
        result = extracted(f"How do I start the fan ({part})?", introduction + steps + rest, context="Starting the fan")
        assert result.answer == introduction + steps


def test_items_below_a_numbered_step_are_parts_of_it() -> None:
    assert extracted("What is step 2 of it?", "# Step 2\n\n1. What it is\n2. Rinse.", body=10).answer == "What it is"


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


def test_steps_are_sure_if_one_has_all_of_the_question() -> None:
    steps = "Use this if the primary is down.\n\n1. Page the lead.\n2. Promote the replica: `failover x`.\n3. Rest."
    assert extracted("How do I promote the replica?", steps, context="Failover").is_certain
    assert not extracted("How do I promote the replica in Oslo?", steps, context="Failover").is_certain
    assert not extracted("How do I promote it?", steps, context="Failover").is_certain


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
    assert extracted(question, SAW, context=heading).is_certain is is_named


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
    assert extracted("How do I start the chain saw?", line + SAW, context=heading).is_certain is is_named
    assert extracted("How do I start the saw?", f"Starting the saw\n{SAW}", context="Tools").is_certain


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
    marked = [line.removeprefix("- ") for mark in result.highlights for line in mark.text.splitlines()]
    assert [line for line in marked if line.startswith("[")] == [
        line for line in answer.replace("- ", "").splitlines() if line.startswith("[")
    ]


def test_tasks_of_org_have_words_instead_of_boxes() -> None:
    tasks = "TODO water the beds\n\nDONE paint the door\n\nTODO mend the latch"
    assert extracted("which tasks are open?", tasks).answer == "TODO water the beds\nTODO mend the latch"
    assert extracted("what is done?", tasks).answer == "DONE paint the door"


@pytest.mark.parametrize(
    ("question", "sentence", "is_answer"),
    [
        ("What is left to pay?", "200 is left to pay.", True),
        ("Which documents are pending approval?", "Pending: documents of the budget.", True),
        ("When was the bridge completed?", "The bridge was completed in 1932.", True),
        ("What is still to do on the bridge?", "The bridge is still old.", False),
        ("Which tasks on the bridge are pending?", "The bridge is pending.", False),
        ("What on the bridge is pending?", "Pending on the bridge:", False),
    ],
)
def test_a_sentence_answers_in_the_words_that_may_ask_for_tasks(question: str, sentence: str, is_answer: bool) -> None:
    text = f"{sentence}\n- [ ] order signs\n- [x] buy paint"
    assert (extracted(question, text).answer == sentence) is is_answer
    assert is_answer or extracted(question, text).answer == "[ ] order signs"


def test_without_tasks_a_question_about_them_gets_a_sentence() -> None:
    assert extracted("what is still to do?", "Still nothing is to do. Cats purr.").answer == "Still nothing is to do."


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
    assert extracted(question, boxes, context="Boathouse › To do").is_certain is is_named


def test_tasks_are_those_of_whom_the_question_names() -> None:
    boxes = "- [x] Osman: paint the door\n- [ ] Lea: order signs\n- [ ] Samira: mend the slip"
    assert extracted("What does Lea have to do?", boxes).answer == "[ ] Lea: order signs"
    assert extracted("What is still to do?", boxes).answer == "[ ] Lea: order signs\n[ ] Samira: mend the slip"


def test_steps_may_have_code() -> None:
    """It belongs to the step above it, and is quoted without its fences."""
    text = "1. Fill the kettle.\n2. Start it:\n\n   ```sh\n   kettle on\n   ```\n\n3. Pour the tea.\n\nEnjoy it."
    answer = "1. Fill the kettle.\n2. Start it:\n\n   kettle on\n\n3. Pour the tea."
    for question in ("How do I make tea?", "how do I make tea with the kettle"):
        assert extracted(question, text, context="Kettle › Making tea").answer == answer
