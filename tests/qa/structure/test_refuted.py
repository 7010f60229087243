"""Reasons that a text mentions only to refute them."""

from __future__ import annotations

import pytest

from corpus import sentence_spans
from qa.structure.refuted import reason_after_belief


def reason(text: str) -> str:
    """What answers in place of the first sentence."""
    spans = list(sentence_spans(text, 0))
    start, end = reason_after_belief(text, spans, spans[0])
    return text[start:end]


@pytest.mark.parametrize(
    ("belief", "facts"),
    [
        ("It is often said that the well ran dry through theft.", "In our view the clay had slipped."),
        ("Most people believe that the well dried up in a drought.", "It rained that year. The clay had slipped."),
        ("Tourists think that a giant bent the tree.", "Snow did."),
        ("The miller is usually blamed for the flood.", "He was in Rome. The weir had rotted."),
        ("Legend has it that a nun cursed the bell.", "The casting was poor."),
        ("It is believed that lightning split the oak.", "In fact it was frost."),
        ("Bakers are said to rise early out of habit.", "The oven does not wait."),
    ],
)
def test_what_follows_a_belief_is_the_reason(belief: str, facts: str) -> None:
    """Up to two sentences of the same paragraph."""
    assert reason(f"{belief} {facts}") == facts
    assert reason(f"{belief} {facts}\n\nThe inn is old.") == facts


@pytest.mark.parametrize(
    "text",
    [
        "The well ran dry because the clay had slipped. People say that it was theft.",
        "It is often said that the well ran dry through theft.\n\nThe inn is old.",
        "It is often said that it ran dry through theft, but the clay had slipped. It was dug anew.",
        "It is often said that moss likes shade. That is true, as it dries out in the sun.",
        "It is believed that lightning split the oak. It was felled in May.",
        "The inspectors say that a stove burned the barn. It had no guard.",
        "Contrary to what is often said, the well ran dry because of the clay. Theft is rare.",
        "Mice are thought to like it because it is warm. They come in October.",
    ],
)
def test_a_reason_that_nothing_refutes_stays(text: str) -> None:
    """Or that is confirmed, or denied in the same sentence."""
    assert reason(text) == text[slice(*next(iter(sentence_spans(text, 0))))]
