"""Late interaction: score a passage, or one of its sentences, by how well its tokens match each token of a query.

The best cosine for each query token among the passage's tokens, averaged with more weight on rare words: MaxSim of
Khattab and Zaharia, "ColBERT" (https://arxiv.org/abs/2004.12832), over the token vectors of the encoder that embeds the
passages. Without it, sentences are scored by the words that they share with the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from corpus import join_context, path_words
from index import Encoder, StoredPassage, TokenVectors, Vectors, terms
from qa.retrieval.query import Floats, Query, QueryTokens

# Weight of the cosine with a sentence's mean vector, which is added to its MaxSim.
_MEAN_SHARE = 0.5
# OpenBLAS uses one thread up to 2**18 multiplications; blocks of this edge stay below, for vectors of 384 or 768.
_EDGE = 16


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """How the tokens of a passage match those of a query.

    Attributes:
        query: The query's tokens.
        tokens: The passage's tokens; spans are characters of the text that the encoder read.
        offset: Added to a character position in the passage's text, gives the position in the text the encoder read.
        similarities: `(query tokens, passage tokens)`, cosines.
        score: The weighted MaxSim over the whole passage.
    """

    query: QueryTokens
    tokens: TokenVectors
    offset: int
    similarities: Floats
    score: float


def match_tokens(
    query: QueryTokens, passages: Sequence[StoredPassage], encoder: Encoder, names: Sequence[str]
) -> list[TokenMatch]:
    """Encode the tokens of passages, each after a name, the words of its path and its headings, and match them."""
    bodies = [passage.text[passage.body :] for passage in passages]
    # The index embeds passages without their paths, so that a renamed file need not be embedded again.
    texts = [
        join_context("\n".join(filter(None, (name, _context(passage)))), body)
        for passage, body, name in zip(passages, bodies, names, strict=True)
    ]
    try:
        encoded = encoder.encode_passage_tokens(texts)
    except ValueError:
        sizes = encoder.count_tokens(texts)
        for i, (passage, size) in enumerate(zip(passages, sizes, strict=True)):
            if size > encoder.max_tokens:
                texts[i] = join_context(passage.context, bodies[i])
        encoded = encoder.encode_passage_tokens(texts)
    matches = []
    for passage, body, text, tokens in zip(passages, bodies, texts, encoded, strict=True):
        similarities = _products(query.encoded.vectors, tokens.vectors)
        score = _max_sim(query, similarities)
        matches.append(TokenMatch(query, tokens, len(text) - len(body) - passage.body, similarities, score))
    return matches


def span_score(query: Query, match: TokenMatch, start: int, end: int) -> float:
    """Score how well part of a passage's text answers: its own MaxSim, plus a share of its mean vector's cosine.

    Args:
        query: The query.
        match: The passage's token match.
        start: First character in the passage's text, after its headings.
        end: One past the last character.
    """
    spans = match.tokens.spans - match.offset
    inside = (spans[:, 0] >= start) & (spans[:, 1] <= end)
    if not inside.any():
        return 0.0
    mean = match.tokens.vectors[inside].astype(np.float64).mean(axis=0)
    norm = float(np.linalg.norm(mean)) or 1.0
    cosine = float(query.vector.astype(np.float64) @ mean) / norm
    return _max_sim(match.query, match.similarities[:, inside]) + _MEAN_SHARE * cosine


def term_shares(query: Query) -> dict[str, float]:
    """Return the weights of the query's terms, proportional to rarity; they sum to 1."""
    total = sum(query.rarity[term] for term in query.terms) or 1.0
    return {term: query.rarity[term] / total for term in query.terms}


def overlap(shares: Mapping[str, float], text: str, start: int, end: int) -> float:
    """Return the share of a question's terms, by weight, that occur in part of a text; in [0, 1]."""
    simple, joined = terms(text[start:end])
    present = {*simple, *joined}
    return sum(share for term, share in shares.items() if term in present)


def _context(passage: StoredPassage) -> str:
    """The prefix of a passage: the words of its path, and its headings."""
    return "\n".join(part for part in (path_words(passage.document.path), passage.context) if part)


def _max_sim(query: QueryTokens, similarities: Floats) -> float:
    if not similarities.size:
        return 0.0
    return float((query.weights * similarities.max(axis=1)).sum())


def _products(a: Vectors, b: Vectors) -> Floats:
    """Compute `a @ b.T` in float64, in blocks so small that BLAS starts no threads.

    Threads would spin for some 20 ms waiting for more work, on cores that the model could use for the next passages.
    """
    rows, columns = a.astype(np.float64), b.astype(np.float64)
    products = np.empty((len(a), len(b)))
    for i in range(0, len(a), _EDGE):
        for j in range(0, len(b), _EDGE):
            np.matmul(rows[i : i + _EDGE], columns[j : j + _EDGE].T, out=products[i : i + _EDGE, j : j + _EDGE])
    return products
