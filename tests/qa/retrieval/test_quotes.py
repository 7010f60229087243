"""What a reply quotes ranks below the original, and below the reply's own words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from qa import Retriever, build_index
from qa.answer.confidence import OTHER_SUBJECT
from qa.retrieval.distinct import RankedPassage, originals_first
from tests.qa.indexes import write
from tests.qa.passages import mail

FIRST = "just a reminder that the grant report is due on 14 March. It may have\n{}12 pages at most."
MAILS = {
    "1.eml": f"Subject: Grant report\nFrom: Ida <i@b.org>\nTo: Tom <t@b.org>\n\n{FIRST.format('')}\n",
    "2.eml": "Subject: Re: Grant report\nFrom: Tom <t@b.org>\nTo: Ida <i@b.org>\n\nCan we ask for three more weeks?\n\n"
    f"On 4 March 2024, Ida <i@b.org> wrote:\n> {FIRST.format('> ')}\n",
    "3.eml": "Subject: Re: Re: Grant report\nFrom: Ida <i@b.org>\nTo: Tom <t@b.org>\n\nFine, the new deadline is 4 "
    "April.\n\nOn 5 March 2024, Tom <t@b.org> wrote:\n> Can we ask for three more weeks?\n>\n"
    f"> On 4 March 2024, Ida <i@b.org> wrote:\n>> {FIRST.format('>> ')}\n",
}


def test_the_original_is_cited_and_then_the_replies_own_words(tmp_path: Path) -> None:
    """No answer has marks of quotation in it."""
    write(tmp_path, MAILS)
    build_index(tmp_path)
    with Retriever.open(tmp_path) as retriever:
        result = retriever.ask("When is the grant report due?")
        assert result.found
        assert result.answer is not None
        assert result.answer.text == "14 March"
        assert result.passages[0].source.path == "1.eml"
        assert not any(hit.heading[-1].startswith("Quoted") for hit in result.passages[:3])
        pages = retriever.ask("How many pages may the grant report have?")
        assert pages.answer is not None
        assert pages.answer.text == "12 pages at most"
        assert pages.passages[0].source.path == "1.eml"
        assert all(">" not in mark.text for hit in pages.passages for mark in hit.highlights)


def test_what_a_sender_said_is_found_in_their_mail_only(tmp_path: Path) -> None:
    """The words themselves do not say who wrote them."""
    first = "Please send the five vials to Bern. The freezer is being defrosted on 12 March."
    write(
        tmp_path,
        {
            "1.eml": f"Subject: samples\nFrom: Lea Amacher <a@b.org>\nTo: Ida <i@b.org>\n\n{first}\n",
            "2.eml": "Subject: Re: samples\nFrom: Ida <i@b.org>\nTo: Lea Amacher <a@b.org>\n\nFine with me. About "
            "the filters: the new ones cost 40 francs each, and the budget ends in April.\n",
        },
    )
    build_index(tmp_path)
    with Retriever.open(tmp_path) as retriever:
        answers = {
            (name, topic): retriever.ask(f"What did {name} say about the {topic}?")
            for name in ("Amacher", "Ida", "Tom")
            for topic in ("five vials", "filters")
        }
    assert {question for question, result in answers.items() if result.found} == {
        ("Amacher", "five vials"),
        ("Ida", "filters"),
    }
    answer = answers["Amacher", "five vials"].answer
    assert answer is not None
    assert answer.text == "Please send the five vials to Bern."


WARD = {
    "1.eml": "Subject: Re: neonates\nFrom: Tomas Novak <t@b.org>\nTo: Maeve Kelly <m@b.org>\n\nMaeve,\n\nthe loading "
    "dose stays at 20 mg per kg, and then we halve it.\n\nBest wishes,\nTomas\n",
    "2.eml": "Subject: catheters\nFrom: Ines Prado <i@b.org>\nTo: Vera Lind <v@b.org>\n\nVera,\n\nEdda said that the "
    "blue catheters are to be returned, as the tips break.\n\nInes\n",
    "3.eml": "Subject: vials\nFrom: Anneke Visser <a@b.org>\nTo: Declan Byrne <d@b.org>\n\nDeclan,\n\nthe vials can "
    "stay in the cold room until Friday, not longer.\n\nAnneke\n\n-----Original Message-----\nFrom: Declan Byrne"
    "\nSent: 4 March 2024 10:12\nTo: Anneke Visser\nSubject: vials\n\nAnneke,\n\nthe vials leak at the cap, please do "
    "not ship them before we have new seals.\n\nDeclan\n",
}


def test_what_somebody_said_is_neither_a_greeting_nor_by_somebody_else(tmp_path: Path) -> None:
    """Unless that is about what they said."""
    write(tmp_path, WARD)
    build_index(tmp_path)
    questions = (
        ("Tomas", "neonates"),
        ("Edda", "catheters"),
        ("Declan", "vials"),
        ("Anneke", "vials"),
        ("Vera", "catheters"),
    )
    with Retriever.open(tmp_path) as retriever:
        results = [retriever.ask(f"What did {name} say about {topic}?") for name, topic in questions]
    assert [result.answer.text for result in results if result.answer and result.found] == [
        "the loading dose stays at 20 mg per kg, and then we halve it.",
        "Edda said that the blue catheters are to be returned, as the tips break.",
        "the vials leak at the cap, please do not ship them before we have new seals.",
        "the vials can stay in the cold room until Friday, not longer.",
    ]
    assert results[-1].confidence <= OTHER_SUBJECT


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["> It is due on 14 May", "Other words", "It is due on 14 May, at noon"], [2, 1, 0]),
        (["> It is due on 14 May", "It is due on 15 May"], [0, 1]),
        (["> It is due on 14 May", "It is not known"], [0, 1]),
        (["It is due", "> It is due", "Other words"], [0, 2, 1]),
        (["> It is due", "> It is", "It is due", "x"], [2, 3, 0, 1]),
        (["> It is due", *("Other words" for _ in range(9)), "It is due"], [*range(11)]),
    ],
)
def test_a_quotation_gives_way_only_to_a_passage_with_its_words_and_numbers(
    texts: Sequence[str], expected: Sequence[int]
) -> None:
    ranked = [RankedPassage(mail(text, number), 1 - number / 10, 0.0) for number, text in enumerate(texts)]
    reranked = originals_first(ranked, 10)
    assert [hit.passage.id for hit in reranked] == expected
    scores = [hit.score for hit in reranked]
    assert scores == sorted(scores, reverse=True)
