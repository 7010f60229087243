"""Front matter answers questions about the fields of its note, and no others; with the real models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from qa import Retriever, build_index
from tests.qa.indexes import write

NOTES = {
    "People/Ines Brandl.md": "---\naliases: [Ines, IB]\ntags: [person]\nemail: ines@keramik.example\n"
    "birthday: 1979-06-11\n---\nRuns a gallery in Linz. Likes matte glazes.\n\nMet at the Gmunden market in 2019.\n",
    "Kiln.md": "---\ntitle: Kiln rebuild\nauthor: Helga Moser\ncreated: 2024-01-15\n---\n# Kiln rebuild\n\n## Why\n"
    "We rebuild the kiln because the arch sagged by 4 cm.\n\n## Milestones\n1. Tear down the old arch by 2 February.\n",
    "A Potters Book.md": "---\ntitle: A Potter's Book\nauthor: Bernard Leach\nisbn: 978-0870119484\n---\n"
    "# A Potter's Book\n\nThe standard text on stoneware. Lent to Tomasz on 2 February 2024.\n",
    "Minutes.md": "---\ndate: 2024-01-22\nattendees: [Helga Moser, Marek Dvořák, Anselm Vogt]\n---\n"
    "# Minutes: kiln meeting\n\nThe burners are bought from Gasflam. The shed gets a second door.\n",
    "Website.md": "---\ntitle: Website relaunch\nauthor:\n  - Anselm Vogt\n  - Petra Kühn\nstatus: on hold\n---\n"
    "The site moves from Jekyll to Hugo.\n\nThe old domain expires on 30 November 2024.\n",
}


@contextmanager
def opened(root: Path, texts: Mapping[str, str]) -> Iterator[Retriever]:
    write(root, texts)
    build_index(root)
    with Retriever.open(root) as retriever:
        yield retriever


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    with opened(tmp_path_factory.mktemp("vault"), NOTES) as retriever:
        yield retriever


@pytest.mark.parametrize(
    ("question", "answer", "citation"),
    [
        ("Who wrote A Potter's Book?", "Bernard Leach", "A Potters Book.md:1-5"),
        ("What is the ISBN of A Potter's Book?", "978-0870119484", "A Potters Book.md:1-5"),
        ("Who is the author of the kiln rebuild plan?", "Helga Moser", "Kiln.md:1-5"),
        # The note has no title other than its file name.
        ("When is Ines Brandl's birthday?", "1979-06-11", "People/Ines Brandl.md:1-6"),
        # A field is no heading of the next one.
        ("What did Helga Moser write?", "author: Helga Moser", "Kiln.md:1-5"),
        ("Who attended the kiln meeting?", "Helga Moser, Marek Dvořák, Anselm Vogt", "Minutes.md:1-4"),
        # The title is closest to the question, but does not answer it.
        ("What is the status of the website relaunch?", "on hold", "Website.md:1-7"),
        ("Who wrote the website relaunch note?", "- Anselm Vogt\n  - Petra Kühn", "Website.md:1-7"),
        # These are answered by the text.
        ("To whom did I lend A Potter's Book?", "Tomasz", "A Potters Book.md:6-8"),
        ("When does the old domain expire?", "30 November 2024", "Website.md:8-10"),
    ],
)
def test_a_field_answers_a_question_about_it(retriever: Retriever, question: str, answer: str, citation: str) -> None:
    result = retriever.ask(question)
    assert result.answer is not None
    assert (result.answer.text, result.passages[0].citation) == (answer, citation)
    assert answer in result.passages[0].text


def test_front_matter_is_excluded_from_topics_and_similarity(retriever: Retriever) -> None:
    """It looks alike in all notes."""
    assert retriever.topics().total == len(NOTES) + 1
    similar = retriever.similar("Kiln.md", k=20)
    assert similar.of.passages == 2
    assert similar.passages
    assert not any(hit.text.startswith("---") for hit in similar.passages)
    documents = retriever.similar("Kiln.md", unit="documents", k=20).documents
    assert documents
    assert not any(
        place.split(":")[-1].startswith("1-") for document in documents for pair in document.because for place in pair
    )


@pytest.fixture(scope="module")
def daily(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    """Twelve similar notes; ten have one front matter, and two have another."""
    notes = {
        f"Kiln {number}.md": f"---\ntags: [daily, kiln]\nmood: {'tired' if number in (3, 4) else 'good'}\n---\n"
        f"# Kiln {number}\n\nThe kiln of that day reached {900 + number} °C.\n"
        for number in range(12)
    }
    with opened(tmp_path_factory.mktemp("daily"), notes) as retriever:
        yield retriever


def test_identical_front_matter_is_cited_from_the_note_in_question(daily: Retriever) -> None:
    """It is not reported as the same text in another note."""
    for number in (3, 4):
        (hit,) = daily.ask(f"What was the mood on Kiln {number}?", k=1).passages
        assert (hit.citation, hit.also_in) == (f"Kiln {number}.md:1-4", ())


def test_front_matter_leaves_room_for_texts(daily: Retriever) -> None:
    """At least eight of ten passages are texts; the rest of the front matter comes after all texts."""
    hits = daily.ask("Which temperature did the daily kiln reach?", k=24).passages
    stated = [hit.text.startswith("---") for hit in hits]
    assert len(hits) == 24
    assert sum(stated[:10]) <= 2
    assert all(stated[14:])
