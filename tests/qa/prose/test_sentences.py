"""Sentences and citations in the stream of a model."""

from __future__ import annotations

import pytest

from qa.prose.sentences import Claim, ClaimStream

PROSE = (
    "Soup is served at noon [1]. Mr. Lee, e.g., came at 9.30 on 3.5. [2] [3] **Tea** follows.[1, 3]\n\n"
    "- It rained【2†source】.\n- Is it [Passage 4]? No citation here"
)
CLAIMS = [
    Claim("Soup is served at noon.", (1,)),
    Claim("Mr. Lee, e.g., came at 9.30 on 3.5.", (2, 3)),
    Claim("Tea follows.", (1, 3)),
    Claim("It rained.", (2,)),
    Claim("Is it?", (4,)),
    Claim("No citation here", ()),
]


def claims(*pieces: str) -> list[Claim]:
    stream = ClaimStream()
    return [claim for piece in pieces for claim in stream.add(piece)] + list(stream.end())


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_size_of_pieces_makes_no_difference(size: int) -> None:
    """However the text is cut, a citation after a full stop belongs to the sentence before it."""
    assert claims(*(PROSE[at : at + size] for at in range(0, len(PROSE), size))) == CLAIMS


def test_a_sentence_is_complete_when_the_next_begins() -> None:
    """It is shown while the model is still writing, and not only at the end."""
    stream = ClaimStream()
    assert list(stream.add("Soup is served. [")) == []
    assert list(stream.add("1] Tea")) == [Claim("Soup is served.", (1,))]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        *((f"{marker} Soup is served [1].", "Soup is served.") for marker in ("-", "•", "##", ">", "2.", "12)")),
        *(
            (sentence, sentence)
            for sentence in (
                "Kingma (born 1985) won.",
                "The fee (see section 4.2) is 30 euros.",
                "It is 5 - 10 degrees.",
                "Values must be > 5.",
                "Use C# or C++ for it.",
                "24. April 2024 ist ein Feiertag.",
            )
        ),
    ],
)
def test_list_markers_are_removed_only_at_the_start(written: str, text: str) -> None:
    assert [claim.text for claim in claims(written)] == [text]


@pytest.mark.parametrize("size", [1, 1000])
def test_thoughts_are_not_part_of_the_answer(size: int) -> None:
    text = "<think>The user wants soup [1]. Hmm.</think>\n\nSoup is served [1]. Tea <think>is not [2]."
    sentences = claims(*(text[at : at + size] for at in range(0, len(text), size)))
    assert sentences[0] == Claim("Soup is served.", (1,))
    assert "wants" not in "".join(claim.text for claim in sentences)
    assert claims("<think>It never ends [1]. And") == []


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        ("[1-3]", (1, 2, 3)),
        ("[2; 1]", (2, 1)),
        ("[1][1]", (1,)),
        ("[9-2]", ()),
        ("[1-9999]", tuple(range(1, 12))),
        ("[a]", ()),
        ("[12345]", ()),
    ],
)
def test_citations(written: str, cited: tuple[int, ...]) -> None:
    (claim,) = claims(f"Soup is served {written}.")
    assert claim.citations == cited
