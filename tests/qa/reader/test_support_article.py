"""Support articles: what resolves a problem is the answer to whoever states it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from index import Index, Scope, StoredPassage
from qa import Retriever, build_index
from qa.reader.support_article import resolving
from qa.retrieval import pipeline
from tests.qa.passages import stored

SCANNER = """# Ferrin 300: scans of long receipts end too early

## Problem

A receipt that is longer than 60 cm is scanned, and the file ends in the middle of it. The display of the Ferrin 300
says E-41 "length exceeded", and the rest of the receipt is pushed out without being scanned.

## Environment

Ferrin 300 and 310 on all systems.

## Cause

Since firmware 4.2 the feeder stops after 600 mm, so that a jammed sheet is not torn.

## Resolution

Switch on *Continuous paper* in the profile, below Feeder, and send the profile to the device again.

## Related articles

Cleaning the rollers after thermal paper.
"""
FAQ = """COMMON QUESTIONS ABOUT THE CARD READER

QUESTION
The light of the card reader at the north gate blinks yellow when I hold my card to it. What is wrong?

ANSWER
The battery of the reader is nearly empty. Tell the caretaker.

QUESTION
The gate opens with my card and closes at once, before I am through. What can I do?

ANSWER
Stand on the black mat while you hold the card.
"""
POST = (
    "We scan till rolls with a Ferrin 300. As soon as a receipt is longer than about 60 cm the file ends in the middle "
    "and the display says E-41 length exceeded, the rest of the receipt is pushed out without being scanned. "
    "How do we get rid of this?"
)


class Articles:
    """Documents as an index gives them back: a passage for each heading path."""

    def __init__(self, *headings: tuple[str, ...], passages: int = 9) -> None:
        first = stored("text", path="a.md")
        document = replace(first.document, passages=passages)
        self.found = tuple(
            replace(first, id=i, document=document, start=10 * i, heading=one) for i, one in enumerate(headings)
        )

    def passages_of(self, path: str) -> tuple[StoredPassage, ...]:
        return self.found if path == "a.md" else ()

    def resolving(self, at: int = 0, question: str = "it fails") -> list[str]:
        """The innermost headings of what resolves the problem that a passage states."""
        return [one.heading[-1] for one in resolving(cast("Index", self), question, self.found[at])]


def test_sections_behind_a_stated_problem_resolve_it() -> None:
    articles = Articles(
        *((one,) for one in ("PROBLEM(ABSTRACT)", "SYMPTOM", "CAUSE", "RESOLVING THE PROBLEM", "NOTES"))
    )
    assert articles.resolving() == articles.resolving(1) == ["CAUSE", "RESOLVING THE PROBLEM"]
    assert articles.resolving(2) == articles.resolving(3) == articles.resolving(4) == []


@pytest.mark.parametrize(
    "heading", ["Answer", "2. Solution:", "**Workarounds**", "How to fix it", "The fix", "Resolution"]
)
def test_headings_that_say_so(heading: str) -> None:
    assert Articles(("App", "Issue"), ("App", heading)).resolving() == [heading]


def test_the_innermost_heading_decides() -> None:
    """The title of an article may state the problem, too."""
    title = "Problem: no sound"
    assert Articles((title, "Symptoms"), (title, "Solution"), (title, "See also")).resolving() == ["Solution"]
    assert Articles(("Solution desk", "Issue"), ("Solution desk", "Answer", "On Mac")).resolving() == ["On Mac"]


def test_a_long_heading_tells_what_its_section_is_about() -> None:
    assert Articles(("Question time in the house of lords",), ("Answer",)).resolving() == []
    assert Articles(("Question",), ("Answers that were given to the house",)).resolving() == []


def test_pages_without_a_resolution_are_no_support_articles() -> None:
    """Nor are those that are about the symptoms, which may be asked for."""
    assert Articles(("Symptoms",), ("Causes",), ("Cause",), ("Treatment",)).resolving() == []
    assert Articles(("Resolution",), ("Problem",), ("Limits",)).resolving(1) == []


def test_the_problem_where_it_is_asked_for() -> None:
    articles = Articles(("Symptoms",), ("Resolution",))
    for question in (
        "What are the symptoms of a worn belt?",
        "which problem does release 2 have",
        "What  issues are known?",
    ):
        assert articles.resolving(question=question) == []
    for question in ("What is the problem here?", "I have an issue: the belt squeals.", "Which belt is it?"):
        assert articles.resolving(question=question) == ["Resolution"]


def test_only_the_own_answer_of_a_question() -> None:
    """Where a document has several, each with its answer."""
    several = Articles(("Question",), ("Answer",), ("Answer",), ("Question",), ("Answer",))
    assert [one.id for one in resolving(cast("Index", several), "", several.found[0])] == [1, 2]
    assert [one.id for one in resolving(cast("Index", several), "", several.found[3])] == [4]


def test_not_all_of_a_long_document_is_read() -> None:
    assert len(Articles(("Problem",), *[("Resolution",)] * 20).resolving()) == 8
    assert Articles(("Problem",), ("Resolution",), passages=201).resolving() == []
    assert Articles(("Problem",), ("Resolution",), passages=200).resolving() == ["Resolution"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("desk")
    (folder / "scanner.md").write_text(SCANNER)
    (folder / "faq.txt").write_text(FAQ)
    build_index(folder)
    return folder


def headings(desk: Path, question: str, **options: Any) -> list[str]:
    """The innermost headings of the first passages."""
    with Retriever.open(desk) as retriever:
        return [one.heading[-1] for one in retriever.ask(question, **options).passages if one.heading]


def test_the_resolution_comes_before_the_problem(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its sentence as the answer, and the problem next."""
    with Retriever.open(desk) as retriever:
        result = retriever.ask(POST)
        monkeypatch.setattr(pipeline, "resolving", lambda *_: ())
        plain = retriever.ask(POST)
    assert [one.heading[-1] for one in plain.passages[:1]] == ["Problem"]
    assert [one.heading[-1] for one in result.passages[:2]] == ["Resolution", "Problem"]
    assert len({one.id for one in result.passages}) == len(result.passages)
    assert result.answer is not None
    assert "Continuous paper" in (result.answer.sentence or result.answer.text)
    assert all(one.source.state == "verified" for one in result.passages)


@pytest.mark.parametrize(
    "question", [POST, "the light of the reader at the north gate blinks yellow when I hold my card to it"]
)
def test_what_states_the_problem_vouches_for_what_resolves_it(
    desk: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """The resolution alone hardly says what it is about; scores stay in order."""
    with Retriever.open(desk) as retriever:
        result = retriever.ask(question)
        monkeypatch.setattr(pipeline, "resolving", lambda *_: ())
        plain = retriever.ask(question)
    assert result.passages[0].id != plain.passages[0].id
    assert result.confidence >= plain.confidence
    scores = [one.score for one in result.passages]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == plain.passages[0].score


def test_the_cause_where_it_is_asked_for(desk: Path) -> None:
    asked = "Why does the file of a long receipt end in the middle, with E-41 length exceeded on the Ferrin 300?"
    assert headings(desk, asked)[0] == "Cause"


def test_the_library_and_searches_agree(desk: Path) -> None:
    """A search shows the passages of an answer, and the first do not depend on how many are asked for."""
    with Retriever.open(desk) as retriever:
        shown = [one.id for one in retriever.ask(POST, k=5).passages]
        assert [one.id for one in retriever.search(POST, k=5)] == shown
        assert [one.id for one in retriever.ask(POST, k=1).passages] == shown[:1]


def test_what_is_looked_up_comes_first(desk: Path) -> None:
    """Whoever looks up the code of a message gets the passage that has it."""
    assert headings(desk, "E-41 length exceeded")[0] == "Problem"


def test_where_only_a_part_of_a_document_is_searched(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is outside of it answers nothing."""

    def problem(snapshot: Index, _: object) -> Scope:
        return snapshot.scope(
            frozenset(one.id for one in snapshot.passages_of("scanner.md") if one.heading[-1] == "Problem")
        )

    monkeypatch.setattr(pipeline, "select", problem)
    assert headings(desk, POST, path="scanner.md") == ["Problem"]


def test_without_the_reader_the_order_is_as_before(desk: Path) -> None:
    with Retriever.open(desk, reader=False) as retriever:
        assert retriever.ask(POST).passages[0].heading[-1] == "Problem"
