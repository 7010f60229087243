"""Words that ask for the most or least, and bounds such as "more than 64 GB"."""

from __future__ import annotations

import pytest

from qa.tables.measures import Amount
from qa.tables.superlatives import bounds, superlatives


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which server has the most memory", [("most", 1, "")]),
        ("which is the cheapest boat", [("cheapest", -1, "price")]),
        ("the least expensive one", [("least expensive", -1, "price")]),
        ("the most recent run", [("most recent", 1, "date")]),
        ("rooms with at least 12 seats, at most 20", []),
        ("who joined first?", [("first", -1, "")]),
        ("what is her first name?", []),
        ("the heaviest and the oldest", [("heaviest", 1, "weight"), ("oldest", -1, "date")]),
    ],
)
def test_superlatives(question: str, expected: list[tuple[str, int, str]]) -> None:
    recognised = superlatives(question)
    assert [(question[slice(*superlative.span)], superlative.sign) for superlative in recognised] == [
        (words, sign) for words, sign, _ in expected
    ]
    for superlative, (_, _, name) in zip(recognised, expected, strict=True):
        assert name in superlative.what.names if name else not superlative.what.names


@pytest.mark.parametrize(
    ("question", "words", "amount", "is_met"),
    [
        ("more than 64 GB of memory", "more than 64 GB", Amount(64e9, "bytes"), [False, False, True]),
        ("with at least 12 seats", "at least 12", Amount(12), [False, True, True]),
        ("lighter than 20 kg", "lighter than 20 kg", Amount(20, "mass"), [True, False, False]),
        ("that cost up to €5", "up to €5", Amount(5, "money eur"), [True, True, False]),
        ("that leave before 9:30", "before 9:30", Amount(34200, "time"), [True, False, False]),
        ("that cost over -$2", "over -$2", Amount(-2, "money usd"), [True, False, False]),
        ("exceeding 5.", "exceeding 5", Amount(5), [False, False, True]),
    ],
)
def test_bounds(question: str, words: str, amount: Amount, is_met: list[bool]) -> None:
    (bound,) = bounds(question)
    assert (question[slice(*bound.span)], bound.amount) == (words, amount)
    less_equal_and_more = (amount.value * share for share in (0.9, 1, 1.1))
    assert [bound.is_met(Amount(value, amount.kind)) for value in less_equal_and_more] == is_met
    assert not bound.is_met(None)
    assert not bound.is_met(Amount(amount.value, "speed")) or not amount.kind


def test_a_year_includes_all_its_days() -> None:
    since, after = (bounds(f"built {word} 2020")[0] for word in ("since", "after"))
    inside, later = Amount(2020.5, "date"), Amount(2021.0, "date")
    assert [since.is_met(inside), after.is_met(inside), after.is_met(later)] == [True, False, True]
