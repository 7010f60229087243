"""Limits that a question exceeds."""

from __future__ import annotations

import pytest

from corpus import sentence_spans
from qa.questions.limits import beyond_limit, exceeds_limit

LEAVE = "Unpaid leave of up to four weeks can be granted by the head of department."


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Who grants unpaid leave of six weeks?", LEAVE),
        ("Who grants a six-week unpaid leave?", LEAVE),
        ("Who grants unpaid leave of more than four weeks?", LEAVE),
        ("Who has to approve an expense of 600 EUR?", "Expenses up to 500 EUR are approved by the team lead."),
        ("What does a call of 20 minutes cost?", "Calls of at most 10 minutes are free."),
    ],
)
def test_questions_beyond_a_limit(question: str, sentence: str) -> None:
    assert exceeds_limit(question, sentence)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Who grants unpaid leave of four weeks?", LEAVE),
        ("Who grants unpaid leave of less than six weeks?", LEAVE),
        # The limit is the answer.
        ("Can I take unpaid leave of six weeks?", LEAVE),
        ("How long is unpaid leave at most if I want six weeks?", LEAVE),
        # The amounts are of other things.
        ("I have worked for 5 years. Who grants parental leave?", "Parental leave of up to 3 years is granted by HR."),
        ("Who repairs the boat after 3 days?", "A key may be lent for up to 2 days. The warden repairs the boat."),
        ("What is the deposit for 5 nights at 80 EUR?", "The deposit is up to 50 EUR."),
        # The sentence goes on, or has a greater limit too.
        ("Which form does a visa of 2 years need?", "A visa of up to 1 year needs form A, a longer one form B."),
        ("What do groups of 20 people get?", "Groups of up to 10 people get 5 %, groups of up to 30 people 10 %."),
        *(
            (
                "Who pays for repairs of 250 EUR?",
                f"Repairs of up to 100 EUR are paid by the tenant, {rest} by the landlord.",
            )
            for rest in ("dearer ones", "all others", "the rest", "anything else", "after that")
        ),
    ],
)
def test_questions_within_a_limit(question: str, sentence: str) -> None:
    assert not exceeds_limit(question, sentence)


@pytest.mark.parametrize(
    ("weeks", "following", "sentence"),
    [
        ("six", "Longer leave needs the consent of the director.", 1),
        ("six", "For more than that, ask the director.", 1),
        ("four", "Longer leave needs the consent of the director.", 0),
        ("six", "The form is on the intranet. There is more in § 5.", 0),
    ],
)
def test_the_next_sentence_may_go_beyond_the_limit(weeks: str, following: str, sentence: int) -> None:
    text = f"{LEAVE} {following}"
    spans = list(sentence_spans(text))
    assert beyond_limit(f"Who grants unpaid leave of {weeks} weeks?", text, spans, spans[0]) == spans[sentence]
