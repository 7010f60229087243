"""How much of a question a sentence says in the same words: stands in for late interaction when time is short."""

from __future__ import annotations

from collections.abc import Mapping

from index import terms
from qa.retrieval.query import Query


def term_shares(query: Query) -> dict[str, float]:
    """The query's terms, each with its share in what the question is about, by rarity; they sum to 1."""
    total = sum(query.rarity[term] for term in query.terms) or 1.0
    return {term: query.rarity[term] / total for term in query.terms}


def overlap(shares: Mapping[str, float], text: str, start: int, end: int) -> float:
    """The share of a question, in [0, 1], whose terms part of a text has."""
    simple, joined = terms(text[start:end])
    present = {*simple, *joined}
    return sum(share for term, share in shares.items() if term in present)
