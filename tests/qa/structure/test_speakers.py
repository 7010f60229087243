"""Who says "I" in a text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qa.structure.speakers import Said, sender_name, speakers, turns
from tests.qa.passages import mail, stored


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[2025-01-08 19:30] Ida: hi\n[2025-01-08 19:31] Bo: yes", [("Ida", "hi"), ("Bo", "yes")]),
        ("8/1/2025, 19:30 - Ida: hi\n8/1/2025, 19:31 - Bo: yes", [("Ida", "hi"), ("Bo", "yes")]),
        ("19:30 <ida> hi\n19:31 <bo> yes", [("ida", "hi"), ("bo", "yes")]),
        ("Mon 3 May\n19:30  Ida   hi\n19:31  Bo    yes", [("Ida", "hi"), ("Bo", "yes")]),
        ("Ida Grün  7:30 PM\nhi\nall\n\nBo Lind  7:31 PM\nyes", [("Ida Grün", "hi\nall"), ("Bo Lind", "yes")]),
        ("Ida: hi\nBo: yes\nIda: good", [("Ida", "hi"), ("Bo", "yes"), ("Ida", "good")]),
        # Fields, one line, and prose.
        ("Colour: red\nSize: 9\nPlace: Bern", []),
        ("19:30 Ida: hi\nand so on", []),
        ("The doors open at 9:30. Lunch is at 12.\n", []),
    ],
)
def test_turns_of_a_chat(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(turn.speaker, text[slice(*turn.words)]) for turn in turns(text)] == expected


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("Ida Grün <ida@example.org> to Tom, Eva and 3 more, 2024-05-02", "Ida Grün"),
        ('"Grün, Ida" <ida@example.org> to Tom', "Ida Grün"),
        ("Ida Grün, 2024-05-02", "Ida Grün"),
        ("ida@example.org to Tom", ""),
        ("Quoted: On 3 June Ida Grün <ida@example.org> wrote", "Ida Grün"),
        ("Quoted: Ida Grün wrote on 3 June 2024", "Ida Grün"),
        ("Quoted: Simon Wells wrote on 3 June 2024", "Simon Wells"),
        ("Quoted: Am 3.6.2024 schrieb Ida Grün", "Ida Grün"),
        ("Quoted: on 30 March you wrote", ""),
        ("Quoted by Ida Grün <ida@example.org> to Tom", ""),
    ],
)
def test_name_of_a_sender(heading: str, name: str) -> None:
    assert sender_name(heading) == name


LETTER = "Ida Grün\n1 Mill Road\n\n3 May 2025\n\nDear Bo,\n\nI sold the boat.\n\n{}\n"
HEADED = "From: Ida Grün <i@b.org>\nTo: Bo\nDate: 3 May 2025\n\nI sold the boat.\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (LETTER.format("Yours sincerely,\n\nIda Grün\nTrustee"), ["Ida Grün"]),
        (LETTER.format("Your aunt\nIda"), ["Ida"]),
        (HEADED, ["Ida Grün"]),
        (HEADED + HEADED.replace("Ida Grün", "Cy"), ["Ida Grün", "Cy"]),
        # Nobody signs, or nobody is greeted.
        (LETTER.format("The boat was too old for us."), []),
        ("Boats\n\nI sold the boat.\n\nIda\n", []),
        ("Travel\n\nFrom: Bern\nOn time: yes\n", []),
    ],
)
def test_authors_of_letters_and_of_messages_as_text(text: str, names: list[str]) -> None:
    passage = stored(text)
    said = speakers(passage, [passage])
    assert [it.speaker for it in said] == names
    assert all("I sold" in text[slice(*it.span)] for it in said)


def test_the_sender_of_a_mail_speaks_and_in_a_quotation_its_author() -> None:
    text = "I sold the boat."
    assert speakers(replace(mail(text, 1), heading=("Boat", "Ida to Tom")), ()) == [Said((0, 16), "Ida", "Ida to Tom")]
    (said,) = speakers(replace(mail(text, 1), heading=("Boat", "Quoted: Cy Marsh wrote")), ())
    assert said.speaker == "Cy Marsh"
    assert speakers(replace(mail(text, 1), heading=()), ()) == []
