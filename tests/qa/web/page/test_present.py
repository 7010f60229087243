"""How answers and passages are prepared for the page."""

from __future__ import annotations

from dataclasses import replace

from qa.answer.results import Answer
from qa.web.page.present import shown_result
from qa.web.page.state import PageState
from tests.qa.answers import hit, result


def test_uncited_answer_is_not_marked_in_any_passage() -> None:
    passage = hit(1, "birds.txt", (0, 16), text="Swans are white.", highlights=[(0, 16)])
    shown = shown_result(replace(result(passage), answer=Answer("Swans", ())), PageState("?"), 5)
    assert (shown.text, shown.cited) == ("Swans", ())
    assert [(piece.text, piece.mark) for piece in shown.passages[0].pieces] == [("Swans are white.", "sentence")]
