"""Questions that ask for documents: the topic in the question, and the documents that are listed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qa import Retriever
from qa.answer.which_documents import topic_of_documents
from qa.terminal.answers import Places, TerminalStyle, render_brief, render_result
from tests.qa.indexes import build, opened


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("papers on grokking", "grokking"),
        ("List all the papers on grokking.", "grokking"),
        ("Which notes mention the boiler?", "the boiler"),
        ("which note is about TM-429", "TM-429"),
        ("Are there any e-mails about the roof?", "the roof"),
        ("Which minutes mention the roof?", "the roof"),
        ("show me stories that deal with ghosts", "ghosts"),
        ("what do the notes say about the boiler?", None),
        ("Which paper won the prize?", None),
        ("which page mentions the boiler?", None),
        ("who wrote the report on fishing?", None),
        ("papers", None),
        ("Which talks are on Tuesday?", None),
        ("Which reports are on hold?", None),
        ("Which talk is on at 10?", None),
        ("Which notes mention Tuesday?", "Tuesday"),
        ("papers on 3D printing", "3D printing"),
        ("Which posters mention eels?", "eels"),
        ("Which e-mails mention the rent but not the boiler?", None),
        ("notes about the rent or the boiler", "the rent or the boiler"),
        ("Which studies contain more than 100 patients?", None),
        ("all papers about grokking in these notes", "grokking"),
        ("all the grokking papers on the abstracts page", "grokking"),
        ("Are there any privacy papers?", "privacy"),
        ("recipes using rye", "rye"),
        ("notes to do with the roof", "the roof"),
        ("show me all my notes", None),
        ("any other papers", None),
        ("find the deposit letter", None),
    ],
)
def test_topic_is_extracted_from_a_document_question(question: str, topic: str | None) -> None:
    assert topic_of_documents(question) == topic


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Retriever]:
    """Six notes about a boiler, one with it in two passages and one only in its title; others on Thursdays and bees."""
    service = "The boiler is serviced. " + "Water was let out of the pipes. " * 40 + "The boiler is hot again.\n"
    files = {
        **{f"{number}.md": f"# Visit {number}\n\nBoilers were seen {number} times.\n" for number in range(4)},
        "service.md": f"# Service\n\n{service}",
        "title.md": "# Our boiler\n\nBought in May.\n\n## Price\n\nIt cost a fortune.\n",
        **{f"2024-03-{day}.md": f"# Thursday\n\nLunch {day} with Marta.\n" for day in (14, 21)},
        "bees.md": "# Bees\n\nThey swarm in May, and which notes mention it is not known.\n",
    }
    build(tmp_path, files)
    with opened(tmp_path) as retriever:
        yield retriever


def test_each_document_is_listed_once_with_a_passage_about_the_topic(notes: Retriever) -> None:
    answer = notes.ask("Which notes mention the boiler?", k=7)
    assert answer.answer is not None
    titles = answer.answer.text.split("\n")
    assert sorted(titles) == ["- Our boiler", "- Service", *(f"- Visit {number}" for number in range(4))]
    assert answer.answer.citations == (1, 2, 3, 4, 5, 6)
    assert [f"- {hit.title}" for hit in answer.passages[:6]] == titles
    assert all("boiler" in f"{hit.title} {hit.text}".lower() for hit in answer.passages[:6])
    # Of several such passages in a document, the first.
    texts = {hit.title: hit.text for hit in reversed(answer.passages)}
    assert texts["Our boiler"].endswith("Bought in May.")
    assert "The boiler is serviced." in texts["Service"]
    assert (answer.found, answer.answer.more, answer.question) == (True, 0, "Which notes mention the boiler?")


def test_a_title_with_the_topic_is_highlighted_first(notes: Retriever) -> None:
    """For other documents the highlighted sentence shows why they are listed."""
    answer = notes.ask("notes about the boiler", k=7)
    answered = notes.ask("How hot is our boiler?", k=7)
    marked = {hit.title: [mark.text for mark in hit.highlights] for hit in answer.passages}
    assert marked["Our boiler"] == ["Our boiler", "Bought in May."]
    assert marked["Visit 2"] == ["Boilers were seen 2 times."]
    assert all(
        mark.text == hit.text[slice(*(at - hit.source.chars[0] for at in mark.chars))]
        for hit in answer.passages
        for mark in hit.highlights
    )
    assert not any(mark.text == "Our boiler" for hit in answered.passages for mark in hit.highlights)


def test_documents_that_are_not_shown_are_counted(notes: Retriever) -> None:
    answer = notes.ask("notes about the boiler", k=2)
    answered = notes.ask("notes about bees")
    assert answer.answer is not None
    assert (len(answer.answer.text.split("\n")), answer.answer.more) == (2, 4)
    assert answer.as_json()["answer"]["more"] == 4
    assert "more" not in answered.as_json()["answer"]
    places = Places(notes.root, notes.root)
    assert "and 4 more; -k 6 shows them" in render_result(answer, TerminalStyle(), places)
    assert "and 4 more; /k 6 shows them" in render_brief(answer, TerminalStyle(), places)  # in a conversation
    assert answered.answer is not None
    assert (answered.answer.text, answered.answer.citations) == ("Bees", (1,))


def test_documents_of_one_title_are_told_apart_by_their_paths_and_each_is_cited(notes: Retriever) -> None:
    answered = notes.ask("Which notes mention Marta?")
    assert answered.answer is not None
    paths = [hit.source.path for hit in answered.passages[:2]]
    expected = f"- Thursday ({paths[0]}) [1]\n- Thursday ({paths[1]}) [2]\n"
    assert sorted(paths) == ["2024-03-14.md", "2024-03-21.md"]
    assert expected in render_result(answered, TerminalStyle(), Places(notes.root, notes.root))
    assert expected in str(answered)
    assert answered.as_json()["answer"]["cited_by_line"] == [[1], [2]]
    assert "cited_by_line" not in notes.ask("notes about bees").as_json()["answer"]


@pytest.mark.parametrize(
    ("question", "listed"),
    [
        ("Which mails mention the trailer?", {"booking.eml"}),
        ("Which e-mails mention the trailer?", {"booking.eml"}),
        ("Which minutes mention the trailer?", {"minutes.md"}),
        ("Which reports mention the trailer?", {"booking.eml", "budget.txt", "minutes.md", "notes.md"}),
        ("Which notes mention the trailer?", {"booking.eml", "budget.txt", "minutes.md", "notes.md"}),
    ],
)
def test_only_documents_of_the_kind_are_listed_if_some_are_known_to_be(
    tmp_path: Path, question: str, listed: set[str]
) -> None:
    """Mail is known by its format, minutes by their name; what is no "note" by name may be one."""
    files = {
        "booking.eml": "From: a@b.org\nSubject: Booking\n\nThe trailer is booked for Saturday.\n",
        "budget.txt": "The trailer costs 450 this year.\n",
        "minutes.md": "# Committee\n\nThe trailer is to be repaired.\n",
        "notes.md": "# Boats\n\nThe trailer is blue.\n",
    }
    build(tmp_path, files)
    with opened(tmp_path) as retriever:
        answered = retriever.ask(question)
    assert answered.answer is not None
    assert {answered.passages[rank - 1].source.path for rank in answered.answer.citations} == listed


ABSTRACTS = """Abstracts, day one

P-1
Newts in winter
Ada Holm
They sleep below logs. Frost kills few.

P-2
Reeds and their roots
Jon Vik
Roots bring air down. Newts hide there.

P-3
The price of mud
Eva Lund
Mud is dear.
"""


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which abstract is about frost?", "P-1 Newts in winter"),
        ("abstracts on newts", "- P-1 Newts in winter\n- P-2 Reeds and their roots"),
        ("papers about the mud of the pond", "P-3 The price of mud"),
        ("Which files are about frost?", "Abstracts, day one"),
        ("abstracts about frost, mud or eels", "- P-1 Newts in winter\n- P-3 The price of mud"),
        ("abstracts on frost and mud", "- P-1 Newts in winter\n- P-3 The price of mud"),
        ("abstracts on newts and logs", "P-1 Newts in winter"),
    ],
)
def test_the_abstracts_of_a_document_are_listed_in_place_of_it(tmp_path: Path, question: str, text: str) -> None:
    """If the question asks for abstracts or the like, and the document says that it has some; no blog is one."""
    build(tmp_path, {"pond.txt": ABSTRACTS, "blog.md": "# My week\n\nThere was mud, and eels.\n"})
    with opened(tmp_path) as retriever:
        answer = retriever.ask(question)
    assert answer.answer is not None
    assert answer.answer.text == text


def test_a_document_with_sections_is_no_collection(tmp_path: Path) -> None:
    """Only one that calls itself a collection is; beside its entries, documents with the topic as title are listed."""
    sections = "".join(f"## Part {number}\n\nFrost number {number}.\n\n" for number in range(4))
    named = "# Frost, at last\n\nIt froze on Monday.\n"
    files = {"ponds.md": f"# Ponds\n\n{sections}", "talks.md": f"# Talks on ponds\n\n{sections}", "last.md": named}
    build(tmp_path, files)
    with opened(tmp_path) as retriever:
        answer = retriever.ask("Which talks are about frost?")
    assert answer.answer is not None
    assert sorted(answer.answer.text.split("\n")) == ["- Frost, at last", *(f"- Part {number}" for number in range(4))]


def test_who_writes_about_abstracts_collects_none(tmp_path: Path) -> None:
    sections = "".join(f"## Part {number}\n\nFrost number {number}.\n\n" for number in range(4))
    build(tmp_path, {"all.md": f"# All the abstracts that I read\n\n{sections}"})
    with opened(tmp_path) as retriever:
        answer = retriever.ask("Which abstracts are about frost?")
    assert answer.answer is not None
    assert answer.answer.text == "All the abstracts that I read"


def test_each_entry_is_listed_once_and_cited_by_its_own_passage(tmp_path: Path) -> None:
    """On a page in plain text whose passages have the titles of the entries."""
    names = ("newt", "eel", "toad", "frog", "pike", "heron")
    texts = [f"The {name} of the pond\n\nThe {name} sleeps. {20 * 'Reeds are high. '}" for name in names]
    start = "new\n\nFollow this page to get new pond papers by mail\n\nSign up\n\ncollected by readers\n\nJun 3"
    build(tmp_path, {"page.txt": "\n\n".join([start, *texts]) + "\n"})
    with opened(tmp_path) as retriever:
        result = retriever.ask("papers about eels or toads", k=5)
    assert result.answer is not None
    assert {"The eel of the pond", "The toad of the pond"} <= {hit.title for hit in result.passages}
    assert sorted(result.answer.text.split("\n")) == ["- The eel of the pond", "- The toad of the pond"]
    for line, (rank,) in zip(result.answer.text.split("\n"), result.answer.cited_by_line, strict=True):
        assert line.removeprefix("- ") in result.passages[rank - 1].text
