"""Support articles: a question that states a problem is answered by its resolution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from index import Index, Scope, StoredPassage
from qa import Retriever, build_index
from qa.questions.answering_section import resolving_passages
from qa.retrieval import pipeline
from tests.qa.indexes import write
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
BLINKS = "the light of the reader at the north gate blinks yellow when I hold my card to it"
WHY = "Why does the file of a long receipt end in the middle, with E-41 length exceeded on the Ferrin 300?"


class Articles:
    """An index with one document, which has a passage for each heading path."""

    def __init__(self, *headings: tuple[str, ...], passages: int = 9) -> None:
        first = stored("text", path="a.md")
        document = replace(first.document, passages=passages)
        self.found = tuple(
            replace(first, id=i, document=document, start=10 * i, heading=heading) for i, heading in enumerate(headings)
        )

    def passages_of(self, path: str) -> tuple[StoredPassage, ...]:
        return self.found if path == "a.md" else ()

    def resolving(self, question: str = "it fails") -> list[str]:
        """The innermost headings of the passages that resolve the problem stated in the first."""
        return [passage.heading[-1] for passage in resolving_passages(cast("Index", self), question, self.found[0])]


def under(*names: str) -> list[tuple[str, ...]]:
    """Heading paths of one heading each."""
    return [(name,) for name in names]


CRASH = "why did the kiosk close early?"
TITLE = "Problem: no sound"
FAILS = "it fails"
RESTORE, BACKUP = "How do I restore a backup?", "Restoring a backup"


@pytest.mark.parametrize(
    ("question", "headings", "expected"),
    [
        (
            FAILS,
            under("PROBLEM(ABSTRACT)", "SYMPTOM", "CAUSE", "RESOLVING THE PROBLEM"),
            ["CAUSE", "RESOLVING THE PROBLEM"],
        ),
        (FAILS, under("SYMPTOM", "CAUSE", "RESOLVING THE PROBLEM", "NOTES"), ["CAUSE", "RESOLVING THE PROBLEM"]),
        (FAILS, under("CAUSE", "SYMPTOM", "RESOLVING THE PROBLEM"), []),
        *(
            (FAILS, [("App", "Issue"), ("App", heading)], [heading])
            for heading in ("Answer", "2. Solution:", "**Workarounds**", "How to fix it", "The fix", "Resolution")
        ),
        # The innermost heading decides, although the title of an article may also state the problem.
        (FAILS, [(TITLE, "Symptoms"), (TITLE, "Solution"), (TITLE, "See also")], ["Solution"]),
        (FAILS, [("Solution desk", "Issue"), ("Solution desk", "Answer", "On Mac")], ["On Mac"]),
        # A long heading is a topic.
        (FAILS, under("Question time in the house of lords", "Answer"), []),
        (FAILS, under("Question", "Answers that were given to the house"), []),
        # A page without a resolution is no support article.
        (FAILS, under("Symptoms", "Causes", "Cause", "Treatment"), []),
        (FAILS, under("Problem", "Limits"), []),
        # Nothing resolves what asks for the problem itself.
        ("What are the symptoms of a worn belt?", under("Symptoms", "Resolution"), []),
        ("which problem does release 2 have", under("Symptoms", "Resolution"), []),
        ("What  issues are known?", under("Symptoms", "Resolution"), []),
        ("What is the problem here?", under("Symptoms", "Resolution"), ["Resolution"]),
        ("I have an issue: the belt squeals.", under("Symptoms", "Resolution"), ["Resolution"]),
        ("Which belt is it?", under("Symptoms", "Resolution"), ["Resolution"]),
        # The causes of what a page reports answer why.
        (CRASH, under("Impact", "Root cause", "Actions"), ["Root cause"]),
        ("What caused the closure?", under("Timeline", "Causes"), ["Causes"]),
        (CRASH, under("Summary", "Actions", "What went wrong"), ["What went wrong"]),
        (CRASH, under("Symptoms", "Cause"), ["Cause"]),
        (CRASH, [("Kiosk",), ("Kiosk", "Root cause")], ["Root cause"]),
        (CRASH, [("Kiosk",), ("Kiosk", "Causes")], []),
        (CRASH, under("Treatment", "Causes"), []),
        (CRASH, under("Impact", "Actions"), []),
        ("when did the kiosk close?", under("Impact", "Root cause"), []),
        # Headings that look alike name another topic.
        (CRASH, under("Summary", "Reasons to join us"), []),
        (CRASH, under("Summary", "Reasons to join us", "Reasons for closing early"), ["Reasons for closing early"]),
        (CRASH, under("Summary", "Why it was closed"), ["Why it was closed"]),
        (FAILS, under("Problem set 3", "Solutions to set 2"), []),
        (FAILS, under("Issue date", "Solution provider"), []),
        (FAILS, under("Question time", "Resolution on fees"), []),
        # The way to do what the title names is not what comes before it.
        (RESTORE, [(BACKUP, "Before you start"), (BACKUP, "Restore"), (BACKUP, "Retention")], ["Restore"]),
        (RESTORE, [(BACKUP, "Scope"), (BACKUP, "Steps"), (BACKUP, "Backup")], ["Steps"]),
        (RESTORE, [(BACKUP, "Scope"), (BACKUP, "Contacts"), (BACKUP, "Process owner")], []),
        ("What must I do before restoring a backup?", [(BACKUP, "Before you start"), (BACKUP, "Steps")], []),
        (RESTORE, [(BACKUP, "Restore"), (BACKUP, "Steps")], []),
        (RESTORE, [(BACKUP, "Scope"), ("Deleting a backup", "Steps")], []),
        *(
            ("How do I make lemon cake?", [("Lemon cake", heading), ("Lemon cake", "Method")], ["Method"])
            for heading in ("Ingredients", "Ingredients (serves 4)", "Tools and materials", "Equipment needed")
        ),
        ("How do I make lemon cake?", [("Lemon cake", "Materials science"), ("Lemon cake", "Method")], []),
        ("What do I need to make lemon cake?", [("Lemon cake", "Ingredients"), ("Lemon cake", "Method")], []),
        ("Who restores a backup?", [(BACKUP, "Scope"), (BACKUP, "Steps")], []),
        ("How do I get the role for restoring a backup?", [(BACKUP, "Before you start"), (BACKUP, "Steps")], []),
    ],
)
def test_sections_that_resolve_the_stated_problem(
    question: str, headings: list[tuple[str, ...]], expected: list[str]
) -> None:
    articles = Articles(*headings)
    articles.found = tuple(replace(passage, record_title="Kiosk") for passage in articles.found)
    assert articles.resolving(question=question) == expected


def test_a_question_is_resolved_only_by_its_own_answer() -> None:
    """If a document has several questions, each with its answer; other sections are resolved by none."""
    articles = Articles(*under("Question", "Answer", "Answer", "Question", "Answer"))
    resolved = (resolving_passages(cast("Index", articles), "", passage) for passage in articles.found)
    assert [[passage.id for passage in passages] for passages in resolved] == [[1, 2], [], [], [4], []]


def test_long_documents_are_read_only_in_part() -> None:
    assert len(Articles(("Problem",), *[("Resolution",)] * 20).resolving()) == 8
    assert Articles(("Problem",), ("Resolution",), passages=201).resolving() == []
    assert Articles(("Problem",), ("Resolution",), passages=200).resolving() == ["Resolution"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder = tmp_path_factory.mktemp("desk")
    write(folder, {"scanner.md": SCANNER, "faq.txt": FAQ})
    build_index(folder)
    with Retriever.open(folder) as retriever:
        yield retriever


def headings(desk: Retriever, question: str, **options: Any) -> list[str]:
    """The innermost headings of the first passages."""
    return [passage.heading[-1] for passage in desk.ask(question, **options).passages if passage.heading]


@pytest.mark.parametrize(
    ("question", "first", "answer"),
    [
        (POST, ["Resolution", "Problem"], "Continuous paper"),
        (BLINKS, ["ANSWER", "QUESTION"], "The battery of the reader is nearly empty."),
    ],
)
def test_the_resolution_comes_before_the_problem(
    desk: Retriever, monkeypatch: pytest.MonkeyPatch, question: str, first: list[str], answer: str
) -> None:
    """It is the answer and gets the score of the problem, since it hardly says itself what it is about."""
    result = desk.ask(question)
    monkeypatch.setattr(pipeline, "resolving_passages", lambda *_: ())
    plain = desk.ask(question)
    assert plain.passages[0].heading[-1] == first[1]
    assert [passage.heading[-1] for passage in result.passages[:2]] == first
    assert len({passage.id for passage in result.passages}) == len(result.passages)
    assert result.answer is not None
    assert answer in (result.answer.sentence or result.answer.text)
    assert all(passage.source.state == "verified" for passage in result.passages)
    assert result.confidence >= plain.confidence
    scores = [passage.score for passage in result.passages]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == plain.passages[0].score


@pytest.mark.parametrize(("question", "first"), [(WHY, "Cause"), ("E-41 length exceeded", "Problem")])
def test_other_sections_come_first_if_they_are_asked_for(desk: Retriever, question: str, first: str) -> None:
    assert headings(desk, question)[0] == first


def test_a_search_gives_the_passages_of_an_answer(desk: Retriever) -> None:
    """And the first ones do not depend on how many are asked for."""
    shown = [passage.id for passage in desk.ask(POST, k=5).passages]
    assert [hit.id for hit in desk.search(POST, k=5)] == shown
    assert [passage.id for passage in desk.ask(POST, k=1).passages] == shown[:1]


def test_a_resolution_outside_the_searched_part_of_a_document_is_not_given(
    desk: Retriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    def problem(snapshot: Index, _: object) -> Scope:
        return snapshot.scope(
            frozenset(passage.id for passage in snapshot.passages_of("scanner.md") if passage.heading[-1] == "Problem")
        )

    monkeypatch.setattr(pipeline, "select", problem)
    assert headings(desk, POST, path="scanner.md") == ["Problem"]


def test_without_the_reader_the_problem_comes_first(desk: Retriever) -> None:
    with Retriever.open(desk.root, reader=False) as retriever:
        assert retriever.ask(POST).passages[0].heading[-1] == "Problem"
