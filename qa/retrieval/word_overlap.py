"""Score sentences by the words they share with a question: replaces late interaction when time is short."""

from __future__ import annotations

from collections.abc import Mapping

from index import terms
from qa.retrieval.query import Query


def term_shares(query: Query) -> dict[str, float]:
    """Return the weights of the query's terms, proportional to rarity; they sum to 1."""
    total = sum(query.rarity[term] for term in query.terms) or 1.0
    return {term: query.rarity[term] / total for term in query.terms}


def overlap(shares: Mapping[str, float], text: str, start: int, end: int) -> float:
    """Return the share of a question's terms, by weight, that occur in part of a text; in [0, 1]."""
    simple, joined = terms(text[start:end])
    present = {*simple, *joined}
    return sum(share for term, share in shares.items() if term in present)
