"""Texts in the third person, for the reader."""

from __future__ import annotations

import numpy as np
import pytest

from qa.reader.third_person import in_third_person, of_original, words_or_speaker
from qa.structure.speakers import Said
from tests.qa.passages import reading


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
