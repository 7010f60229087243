"""Who says "I" in a text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qa.reader.speakers import Said, in_third_person, of_original, sender_name, speakers, turns, words_or_speaker
from tests.qa.passages import mail, reading, stored


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
    assert speakers(replace(mail(text, 1), heading=("Boat", "Ida to Tom"))) == [Said((0, 16), "Ida", "Ida to Tom")]
    (said,) = speakers(replace(mail(text, 1), heading=("Boat", "Quoted: Cy Marsh wrote")))
    assert said.speaker == "Cy Marsh"
    assert speakers(replace(mail(text, 1), heading=())) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'll drive, and I am glad.", "Ida will drive, and Ida is glad."),
        ("My car is old; I’ve sold it.", "Ida's car is old; Ida has sold it."),
        ("i'm out", "Ida is out"),
        ("Me and Bo.", "Ida and Bo."),
        # Not the speaker, or not who does it.
        ('Bo said, "I will drive."', 'Bo said, "I will drive."'),
        ("Bo wrote: I will drive.", "Bo wrote: I will drive."),
        ("> I will drive.", "> I will drive."),
        ("Bo told me.", "Bo told me."),
        ("Bo, I think.", "Bo, I think."),
        ("Part (i), I.B and mine.", "Part (i), I.B and mine."),
    ],
)
def test_names_instead_of_i(text: str, expected: str) -> None:
    rewritten = in_third_person(text, [Said((0, len(text)), "Ida")])
    assert rewritten.text == expected
    assert len(rewritten.starts) == len(rewritten.ends) == len(expected)
    assert in_third_person(text, []).text == text


def test_the_readers_answer_is_mapped_to_the_original() -> None:
    text = "Fog. I'll drive my cousin."
    said = [Said((0, len(text)), "Ida Grün")]
    rewritten = in_third_person(text, said)
    read = of_original(reading(rewritten.text, answer="Ida"), rewritten)
    assert read.best(0, len(text)) == (5, 6)
    assert np.all(read.spans[:, 1] <= len(text))
    assert words_or_speaker(text, (5, 6), said) == "Ida Grün"
    assert words_or_speaker(text, (16, 25), said) == text[16:25]
    assert words_or_speaker(text, (0, 3), said) == "Fog"
    assert words_or_speaker("7:30  Ida   I do", (6, 13), [Said((12, 16), "Ida")]) == "Ida"
    assert words_or_speaker(text, (5, 6), []) == "I"
