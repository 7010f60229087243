"""How much of a question a sentence says in the same words: what stands in for late interaction when time is short."""

from __future__ import annotations

from collections.abc import Mapping

from index import Snapshot, query_terms, terms
from qa.retrieval.late_interaction import rarity_of

Shares = Mapping[str, float]


def read_terms(question: str, snapshot: Snapshot) -> Shares:
    """The question's terms, each with its share in what the question is about; the shares sum to 1."""
    rarity = rarity_of(snapshot.frequencies(query_terms(question)), snapshot.info.passages)
    total = sum(rarity.values()) or 1.0
    return {term: weight / total for term, weight in rarity.items()}


def overlap(shares: Shares, text: str) -> float:
    """The share of a question, in [0, 1], whose terms a text has."""
    simple, joined = terms(text)
    present = {*simple, *joined}
    return sum(share for term, share in shares.items() if term in present)
