"""Sentences that plainly say what is asked, whatever the models make of a password such as "kittiwake"."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.questions.answering_sentence import states_what_is_asked
from tests.qa.indexes import build, opened

PUMP = "2024-05-12 10:00 pump 12 serviced, pressure 36 kPa"


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("What is the gate password?", "The gate password is kittiwake.", True),
        ("what's the password of the gate", "The gate password is now kittiwake.", True),
        ("what is the pressure of pump 12", PUMP, True),
        # Another number, property or gate; nothing but the words of the question; and no value
        ("what is the pressure of pump 2", PUMP, False),
        ("what is the temperature of pump 12", PUMP, False),
        ("what is the gate password?", "The password is kittiwake.", False),
        ("what is the password?", "The gate password is kittiwake.", False),
        ("what is pump 12?", "Pump 12", False),
        ("what is the budget for 2025?", "The budget for 2025 was not discussed.", False),
        ("what is the heating of room 12?", "The heating of room 12 was looked at on 3 May.", False),
        ("what is the price of kit 7?", "The price of kit 7 is unknown.", False),
        ("what is the gate password?", "The gate password is with Ida.", False),
        ("what is the gate password?", "The gate password is secret.", False),
        ("what is the mood of the team?", "The mood of the team is low.", False),
        ("what is the gate password?", "The gate password is not written down.", False),
        ("what is the gate password?", "The gate password is changed every month.", False),
        ("who has the gate password?", "The gate password is kittiwake.", False),
    ],
)
def test_plain_statements(question: str, sentence: str, expected: bool) -> None:
    assert states_what_is_asked(question, sentence) is expected


def test_a_plain_statement_is_found(tmp_path: Path) -> None:
    build(tmp_path, {"house.md": "# House\n\nThe door code is 4711.\n\nThe gate password is kittiwake.\n"})
    with opened(tmp_path, reader=True) as retriever:
        result = retriever.ask("what is the gate password?")
        assert result.answer is not None
        assert result.found
        assert "kittiwake" in result.answer.text
        assert not retriever.ask("what is the window password?").found
