"""Questions for what somebody said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qa.questions.sender import is_by_other_sender, without_greetings
from tests.qa.passages import mail


@pytest.mark.parametrize(
    ("question", "heading", "text", "expected"),
    [
        (
            "What did Vera say about oars?",
            "Ida Prado <i@b.org> to Vera, 2024-03-05",
            "Vera,\n\nthe oars are new.",
            True,
        ),
        ("What did Vera say about oars?", "Quoted: Ida wrote", "The oars are new.", True),
        ("What did Vera say about oars?", "Ida to Vera", "I met Vera, who says they are new.", False),
        ("What did Vera say about oars?", "Ida to Vera", "They are new.\n\nVera agrees.", False),
        ("What did Vera say about oars?", "V. Prado to Ida", "Hi Ida,\n\nthey are new.\n\nVera", False),
        ("What did Vera's coach say about oars?", "Ida to Tom", "They are new.", False),
        ("What did Vera's coach Ola say about oars?", "Ida to Tom", "They are new.", True),
        ("What did Dr. Prado say about oars?", "Ida Prado <i@b.org> to Vera", "They are new.", False),
        ("What did Vera say about oars?", "Quoted by Ida", "The oars are new.", False),
        ("What did the cox say about oars?", "Ida to Vera", "The oars are new.", False),
        ("What did I say about oars?", "Ida to Vera", "The oars are new.", False),
        ("When did Vera buy oars?", "Ida to Vera", "The oars are new.", False),
    ],
)
def test_a_mail_by_somebody_else_counts_only_if_it_names_whom_the_question_names(
    question: str, heading: str, text: str, expected: bool
) -> None:
    passage = replace(mail(text, 1), heading=("Oars", heading))
    assert is_by_other_sender(question, passage) == expected
    other_passage = replace(passage, document=replace(passage.document, media_type="text/plain"))
    assert not is_by_other_sender(question, other_passage)


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["Hi Tom,", "they are new.", "Ida"], ["they are new."]),
        (["they are new.", "Best wishes,\nIda"], ["they are new."]),
        (["they are new.", "Yours sincerely", "Ida Prado"], ["they are new."]),
        (["No", "5 March", "Ida Prado"], ["No", "5 March"]),
        (["Tom,"], ["Tom,"]),
    ],
)
def test_greetings_and_signatures_do_not_answer(sentences: list[str], expected: list[str]) -> None:
    text = "\n\n".join(sentences)
    passage = replace(mail(text, 1), heading=("Oars", "Ida Prado to Tom"))
    spans = [(text.index(sentence), text.index(sentence) + len(sentence)) for sentence in sentences]
    left = without_greetings("What did Ida say about oars?", passage, spans)
    assert [text[slice(*span)] for span in left] == expected
    assert without_greetings("Are the oars new?", passage, spans) == spans
