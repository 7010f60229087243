"""Sections that a question names, as whole answers, and the day in the heading above one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from index.snapshot import Snapshot
from qa.tables.blocks import BlockAnswer, block_answer
from tests.qa.indexes import built

FERRY = """# Gannet ferry

Runs from the stone pier.

## Animals on board

Dogs stay on deck. Hens need a crate. The purser keeps a lead.

## Goods for sale

- tea
- maps of the islands

## Crew

1. Ada Bruun
2. Jon Foss

## Refunds

Ask at the pier.

## Painting

The hull is done in March. A diver does the rudder.

## What the captain said

He will retire. The ferry will not.

## Fares

| who | price |
|---|---|
| adult | 4 |
| child | 2 |

## To do

- caulk the deck
- order rope

## Storms

### Storm of 1953

The pier broke.

### Storm of 1987

The mast broke. Nobody was hurt.
"""
MILL = """Notes on the water mill

The wheel turns again.

Parts to replace
Axle of the wheel
Two paddles
Sluice gate

Ola: parts for tea
I shall bring scones

These are the parts of the gate to paint:

- hinge
- latch

Millers
All of them came from the valley
and none of them could swim.
"""
WEEK = """# Loom week in Skagen

## Day 1 - Monday 3 June

### Talk: Ragna Holt on flax

She spun a thread. It broke.

### Supper

Fish.

## Day 2 - Tuesday 4 June

### Panel: Who owns patterns?

Nobody, they said.

### Excursion

It was cancelled because of rain.

### The mangle

It was given to the museum in 1921. It still turns.

### Prize of the jury

It will be sent on 9 July.

## Deadline for looms: Friday 7 June

### Bring a chair

And a lamp.
"""
FILES = {"ferry.md": FERRY, "mill.txt": MILL, "week.md": WEEK}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    with built(tmp_path_factory.mktemp("sections"), FILES) as opened:
        yield opened


def found(snapshot: Snapshot, question: str) -> BlockAnswer | None:
    return block_answer(snapshot, question, [it for path in FILES for it in snapshot.passages_of(path)])


def answer(snapshot: Snapshot, question: str) -> str | None:
    """The text of the answer, whose highlights must be at their places in the file."""
    blocks = found(snapshot, question)
    if blocks is None:
        return None
    for passage in blocks.passages:
        for mark in blocks.extracts()[passage.id].highlights:
            assert passage.text[mark.chars[0] - passage.start : mark.chars[1] - passage.start] == mark.text
    result = blocks.answer(blocks.passages)
    assert result is not None
    return result.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which goods are for sale on the Gannet?", "- tea\n- maps of the islands"),
        ("goods for sale gannet", "- tea\n- maps of the islands"),
        ("Which parts of the mill do I need to replace?", "Axle of the wheel\nTwo paddles\nSluice gate"),
        ("Which parts of the gate are to paint?", "- hinge\n- latch"),
        ("Which goods for sale were found on the Gannet?", "- tea\n- maps of the islands"),
        ("What is left to do on the Gannet?", "- caulk the deck\n- order rope"),
        ("What is on the to-do list of the Gannet ferry?", "- caulk the deck\n- order rope"),
        ("What is there to do on the Gannet?", None),
        ("What is left to do on the Petrel?", None),
        ("Which goods are for sale on the Petrel?", None),
        ("Which goods were for sale in 1990?", None),
        ("What are the goods?", None),
        ("Where are goods for sale?", None),
        ("Which goods are not for sale?", None),
        ("What is the third part to replace?", None),
        ("How many parts are to replace?", None),
        ("What parts did Ola say?", None),
    ],
)
def test_a_list_answers_if_its_heading_and_the_question_have_the_same_words(
    snapshot: Snapshot, question: str, text: str | None
) -> None:
    """However its items are marked; the name of the document may be in the question, too."""
    assert answer(snapshot, question) == text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which animals may be on board the Gannet?", "Dogs stay on deck. Hens need a crate. The purser keeps a lead."),
        ("Who is on the crew of the Gannet?", "1. Ada Bruun\n2. Jon Foss"),
        ("How is the ferry painted?", "The hull is done in March. A diver does the rudder."),
        ("What did the captain of the ferry say?", "He will retire. The ferry will not."),
        ("Who were the millers?", "All of them came from the valley\nand none of them could swim."),
        ("Which refunds does the ferry give?", None),
        ("What are the fares of the ferry?", None),
        ("Which storms hit the ferry?", None),
        ("What are the storms of the ferry?", None),
        ("How is the captain of the ferry painted?", None),
        ("What did the captain say about fares?", None),
        ("Which crew cleans the animals on board?", None),
        ("What animals are on board after storms?", None),
    ],
)  # fmt: skip
def test_short_prose_answers_as_a_whole(snapshot: Snapshot, question: str, text: str | None) -> None:
    """Neither does a single sentence, which may be shortened, nor a table, nor a section that has others below it."""
    assert answer(snapshot, question) == text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the talk on flax?", "Monday 3 June"),
        ("On which day did Ragna Holt speak at the loom week?", "Monday 3 June"),
        ("date of the panel on patterns", "Tuesday 4 June"),
        ("When was the panel on looms?", "Tuesday 4 June"),
        ("When was the panel on colours?", None),
        ("When did the thread break?", None),
        ("When was the excursion?", None),
        ("When was the mangle given to the museum?", None),
        ("When is the prize of the jury given?", None),
        ("When can I bring a chair?", None),
        ("Who gave the talk on flax?", None),
        ("When was the talk on flax on Tuesday?", None),
    ],
)
def test_a_day_in_the_heading_above_is_when_something_was(snapshot: Snapshot, question: str, text: str | None) -> None:
    """Unless the section has another date or was cancelled, or the heading dates something else."""
    assert answer(snapshot, question) == text


def test_the_day_is_cited_where_it_is(snapshot: Snapshot) -> None:
    """It may be in the passage of a section before."""
    blocks = found(snapshot, "When was supper?")
    assert blocks is not None
    result = blocks.answer(blocks.passages)
    assert result is not None
    assert (result.text, result.sentence) == ("Monday 3 June", "Supper\nDay 1 - Monday 3 June")
    assert result.citations == (1, 2)


def test_a_list_may_continue_in_the_next_passage(tmp_path: Path) -> None:
    """All of it is the answer, in the order of the text."""
    items = [f"Crate {number} with {number} dozen blue enamel mugs and their saucers" for number in range(30)]
    with built(tmp_path, {"loft.txt": "Boxes in the loft\n" + "\n".join(items) + "\n\nThe rest is dust.\n"}) as opened:
        passages = opened.passages_of("loft.txt")
        blocks = block_answer(opened, "Which boxes are in the loft?", passages)
        assert len(passages) > 1
        assert blocks is not None
        result = blocks.answer(passages)
    assert result is not None
    assert result.text.split() == " ".join(items).split()
