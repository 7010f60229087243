"""Questions for documents: what these shall be about, and which of them are listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa import Retriever, build_index
from qa.answer.which_documents import topic_of_documents
from qa.terminal.answers import Places, TerminalStyle, result
from tests.encoders import BagEncoder


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("papers on grokking", "grokking"),
        ("List all the papers on grokking.", "grokking"),
        ("Which notes mention the boiler?", "the boiler"),
        ("which note is about TM-429", "TM-429"),
        ("Are there any e-mails about the roof?", "the roof"),
        ("show me stories that deal with ghosts", "ghosts"),
        ("what do the notes say about the boiler?", None),
        ("Which paper won the prize?", None),
        ("which page mentions the boiler?", None),
        ("who wrote the report on fishing?", None),
        ("papers", None),
    ],
)
def test_what_documents_shall_be_about(question: str, topic: str | None) -> None:
    assert topic_of_documents(question) == topic


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Six notes with a boiler, one of them in two passages and one in its title alone, and others without."""
    for number in range(4):
        (tmp_path / f"{number}.md").write_text(f"# Visit {number}\n\nBoilers were seen {number} times.\n")
    service = "The boiler is serviced. " + "Water was let out of the pipes. " * 40 + "The boiler is hot again.\n"
    (tmp_path / "service.md").write_text(f"# Service\n\n{service}")
    (tmp_path / "title.md").write_text("# Our boiler\n\nBought in May.\n\n## Price\n\nIt cost a fortune.\n")
    (tmp_path / "bees.md").write_text("# Bees\n\nThey swarm in May, and which notes mention it is not known.\n")
    build_index(tmp_path, encoder=BagEncoder())
    return tmp_path


def test_each_document_is_listed_once_with_a_passage_that_has_it(notes: Path) -> None:
    with Retriever.open(notes, encoder=BagEncoder(), reader=False) as retriever:
        answer = retriever.ask("Which notes mention the boiler?", k=7)
    assert answer.answer is not None
    titles = answer.answer.text.split("\n")
    assert sorted(titles) == ["- Our boiler", "- Service", *(f"- Visit {number}" for number in range(4))]
    assert answer.answer.citations == (1, 2, 3, 4, 5, 6)
    assert [f"- {hit.title}" for hit in answer.passages[:6]] == titles
    assert all("boiler" in f"{hit.title} {hit.text}".lower() for hit in answer.passages[:6])
    # Of a document with several such passages the first.
    texts = {hit.title: hit.text for hit in reversed(answer.passages)}
    assert texts["Our boiler"].endswith("Bought in May.")
    assert "The boiler is serviced." in texts["Service"]
    assert (answer.found, answer.answer.more, answer.question) == (True, 0, "Which notes mention the boiler?")


def test_a_title_that_says_it_is_highlighted_first(notes: Path) -> None:
    """The answer is titles: of the others the sentence tells why they are listed."""
    with Retriever.open(notes, encoder=BagEncoder(), reader=False) as retriever:
        answer = retriever.ask("notes about the boiler", k=7)
        asked = retriever.ask("How hot is our boiler?", k=7)
    marked = {hit.title: [one.text for one in hit.highlights] for hit in answer.passages}
    assert marked["Our boiler"] == ["Our boiler", "Bought in May."]
    assert marked["Visit 2"] == ["Boilers were seen 2 times."]
    assert all(
        one.text == hit.text[slice(*(at - hit.source.chars[0] for at in one.chars))]
        for hit in answer.passages
        for one in hit.highlights
    )
    assert not any(one.text == "Our boiler" for hit in asked.passages for one in hit.highlights)


def test_those_that_are_not_shown_are_counted(notes: Path) -> None:
    with Retriever.open(notes, encoder=BagEncoder(), reader=False) as retriever:
        answer = retriever.ask("notes about the boiler", k=2)
        one = retriever.ask("notes about bees")
    assert answer.answer is not None
    assert (len(answer.answer.text.split("\n")), answer.answer.more) == (2, 4)
    assert answer.as_json()["answer"]["more"] == 4
    assert "more" not in one.as_json()["answer"]
    assert "and 4 more; -k 6 shows them" in result(answer, TerminalStyle(), Places(notes, notes))
    assert one.answer is not None
    assert (one.answer.text, one.answer.citations) == ("Bees", (1,))
