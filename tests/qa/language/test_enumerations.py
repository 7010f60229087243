"""The items of an enumeration in a sentence."""

from __future__ import annotations

import pytest

from qa.language.enumerations import extend_to_enumeration

REASONS = (
    "The reasons were a strap that was torn or lost (41%), a box, not a code (33%), and a lamp that was dark (26%)."
)
FUNDS = "The other funds are Shares (0.2%), Green (of Ely, York) (0.3%), Bonds (0.1%) and Cash (0.4%)."


@pytest.mark.parametrize(
    ("sentence", "words", "expected"),
    [
        (FUNDS, "Shares", FUNDS[20:-1]),
        (FUNDS, "Shares (0.2%)", FUNDS[20:-1]),
        (FUNDS, "Green (of Ely, York) (0.3%)", FUNDS[20:-1]),
        (FUNDS, "Cash", FUNDS[20:-1]),
        (
            "We keep five: a goat, old rope, a sleeve and a net or two.",
            "a sleeve",
            "a goat, old rope, a sleeve and a net or two",
        ),
        # A part of an item, a clause, and no enumeration.
        (REASONS, "strap", "strap"),
        (FUNDS.replace("Bonds", "which is new"), "Shares (0.2%)", "Shares (0.2%)"),
        ("In May, plots 5, 6, 17 were robbed, and one in June.", "plots 5, 6, 17", "plots 5, 6, 17"),
        ("The Heron is out, the Swan is not, and the Teal is lost.", "The Heron", "The Heron"),
        ("It is red, we think, and he likes it.", "It is red", "It is red"),
    ],
)
def test_an_item_is_extended_to_the_whole_enumeration(sentence: str, words: str, expected: str) -> None:
    """Only for several things, from any of the items, whatever is in brackets after them."""
    at = sentence.index(words)
    span, within = (at, at + len(words)), (0, len(sentence))
    start, end = extend_to_enumeration("Which things are there?", sentence, span, within)
    assert sentence[start:end] == expected
    assert extend_to_enumeration("Which thing is the oldest?", sentence, span, within) == span
