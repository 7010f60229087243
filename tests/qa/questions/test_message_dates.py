"""The date of a message as the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qa.questions.message_dates import message_date
from tests.qa.passages import mail, stored

SENT = "Ida Grün <i@b.org> to Tom, 2025-05-03"


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("when did Ida write about the boat?", "I'll sell the boat in June.", "2025-05-03"),
        ("when did Ida sell the boat?", "I sold the boat.", "2025-05-03"),
        ("when did Ida sell the boat?", "I've sold the boat for next summer.", "2025-05-03"),
        ("on which day did Ida Grün offer the boat?", "You can have the boat.", "2025-05-03"),
        # With another time, by somebody else, about something else, or another question
        ("when did Ida sell the boat?", "I sold the boat on Monday.", None),
        ("when did Ida sell the boat?", "I'll sell the boat.", None),
        ("when did Ida sell the boat?", "I sold the boat when it rained.", None),
        ("when did Tom sell the boat?", "I sold the boat.", None),
        ("when did Ida sell the oars?", "I sold the boat.", None),
        ("when did Ida write?", "I sold the boat.", None),
        ("when will Ida sell the boat?", "I sold the boat.", None),
    ],
)
def test_the_date_of_a_message_answers_when_its_sender_did_or_wrote_something(
    question: str, text: str, expected: str | None
) -> None:
    found = message_date(question, [replace(mail(text, 1), heading=("News", SENT))])
    assert (None if found is None else found.date) == expected


def test_messages_of_several_dates_do_not_answer_unless_one_has_more_words() -> None:
    texts = ("I sold the boat.", "I told Bo of the boat.")
    first, second = (replace(mail(text, number), heading=("", SENT)) for number, text in enumerate(texts))
    later = replace(second, heading=("", SENT.replace("03", "09")))
    assert message_date("when did Ida write about the boat?", [first, later]) is None
    found = message_date("when did Ida write of the boat?", [first, later])
    assert found is not None
    assert found.date == "2025-05-09"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[03.05.25, 19:30] Ida: I broke the oar\n[04.05.25, 19:31] Bo: oh", "03.05.25"),
        ("Sat 3 May\n19:30  Ida   I broke the oar\n19:31  Bo    oh", "Sat 3 May"),
        ("--- 3 May 2025 ---\n19:30  Ida   I broke the oar\n19:31  Bo    oh", "3 May 2025"),
        ("Hut, 3 May 2025\n\nDear Bo,\n\nI broke the oar.\n\nYours\nIda\n", "3 May 2025"),
        ("From: Ida <i@b.org>\nTo: Bo\nDate: 3 May 2025\n\nI broke the oar.\n", "3 May 2025"),
        ("19:30  Ida   I broke the oar\n19:31  Bo    oh", None),
    ],
)
def test_dates_of_chats_and_letters(text: str, expected: str | None) -> None:
    found = message_date("when did Ida break the oar?", [stored(text)])
    assert (None if found is None else found.date) == expected
    assert message_date("when did Bo break the oar?", [stored(text)]) is None
