"""What an answer never has half of; dates, amounts and addresses are in test_exact_answer.py."""

from __future__ import annotations

import pytest

from qa.answer.values import whole_value


@pytest.mark.parametrize(
    ("question", "line", "words", "expected"),
    [
        ("What is the plate?", "Plate: HB-KT 482", "482", "HB-KT 482"),
        ("What size are they?", "Tyres: 205/55 R16 M+S, on shelf 14", "205/55", "205/55 R16 M+S"),
        ("Where are they?", "Tyres: 205/55 R16 M+S, on shelf 14", "shelf 14", "shelf 14"),
        ("Who came?", "Present: Ann Lee, Tom Ash", "Ann Lee", "Ann Lee, Tom Ash"),
        ("Who came?", "**Present:** Ann Lee; Tom van Ash and Ida Ek.", "Tom", "Ann Lee; Tom van Ash and Ida Ek"),
        ("When did they come?", "Present: Ann Lee, Tom Ash", "Ann", "Ann Lee"),
        ("Who came?", "Present: Ann Lee, chair, Tom Ash", "Ann", "Ann Lee"),
        ("Who has it?", "[x] Key: Ösal Grün", "Ösal", "Ösal Grün"),
        ("Who sold it?", "Bought: 4 June from Autohaus Lehmann", "Autohaus Lehmann", "Autohaus Lehmann"),
        ("What is it?", "Plate: HB-KT 482", "Plate", "Plate"),
        ("Who came?", "There were Ann Lee, Tom Ash.", "Ann", "Ann"),
    ],
)
def test_whole_value(question: str, line: str, words: str, expected: str) -> None:
    text, at = f"Before. {line}\nBehind.", 8 + line.index(words)
    start, end = whole_value(question, text, (at, at + len(words)), (8, 8 + len(line)))
    assert text[start:end] == expected
