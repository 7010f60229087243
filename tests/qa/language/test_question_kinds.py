"""What questions ask for, by their words."""

from __future__ import annotations

import pytest

from qa.language.question_kinds import asks_for_several, names_several


@pytest.mark.parametrize(
    "question",
    [
        "Which boats are out?",
        "Which boats sank in March?",
        "list the side trips",
        "What were the reasons for the delay?",
        "which harbour boats can I hire besides the Heron?",
        "Which seats in the front row do we have?",
        "which four beaches does she study",
        "what three kinds of rope are there",
        "where were the earlier meetings held",
        "who sat on the hiring panel?",
        "Who is on the committee?",
        "Members of the committee",
        "earlier meetings",
        "most read stories on the website",
        "winners of the cup over the years",
    ],
)
def test_a_plural_asks_for_several_things(question: str) -> None:
    assert asks_for_several(question) or names_several(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which bird eats fish?",
        "Which bird eats dried fish?",
        "Which team plays first?",
        "Which tastes better, tea or rye?",
        "which train stops at Ely?",
        "what keeps the mice out?",
        "What are the opening hours of the courts?",
        "name of the treasurer",
        "Which gas is used?",
        "who is on call in the team this week?",
        "who chaired the panel?",
        "How many boats are there?",
        "letter from James",
        "status of the boiler",
        "treasurer of the club",
    ],
)
def test_the_s_of_a_verb_or_name_is_no_plural(question: str) -> None:
    assert not asks_for_several(question)
    assert not names_several(question)
