"""Judge how well passages support a sentence that cites them: its meaning by late interaction, its facts by rules."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from index import Encoder, TokenVectors
from qa.answer.results import Hit, ProseSentence
from qa.prose.binding import misplaced_cell, swapped_fact
from qa.prose.compare import is_contrary, missing_fact
from qa.prose.rows import write_out
from qa.prose.sentences import Claim
from qa.prose.words import tokens_of

# Midpoint and slope of the logistic function from similarity to support: fitted on half of tests/qa/prose.
_MIDPOINT, _SLOPE = 0.83, 10.0
_WORD = re.compile(r"\w+")


class Judge:
    """Checks sentences against the passages of one answer."""

    def __init__(self, encoder: Encoder, passages: Sequence[Hit]) -> None:
        self._encoder = encoder
        self._passages = {hit.rank: hit for hit in passages}
        self._vectors: dict[int, list[TokenVectors]] = {}

    def judge(self, claim: Claim) -> ProseSentence:
        """Judge whether the passages that a sentence cites, taken together, support it."""
        ranks = tuple(rank for rank in claim.citations if rank in self._passages)
        reason = self._find_fault(claim, ranks)
        support = 0.0 if reason else self._support(claim.text, ranks)
        if not reason and support < 0.5:
            reason = "what it cites does not say so"
        return ProseSentence(claim.text, ranks, round(support, 4), "unsupported" if reason else "supported", reason)

    def _find_fault(self, claim: Claim, ranks: tuple[int, ...]) -> str:
        """Return what is wrong with the citations, numbers, names or negations of a claim, or ""."""
        if unknown := [rank for rank in claim.citations if rank not in ranks]:
            return f"it cites [{unknown[0]}], but there is no such passage"
        if not ranks:
            return "it cites no passage"
        sentence = tokens_of(claim.text)
        hits = [self._passages[rank] for rank in ranks]
        texts, rows, rests = zip(*(write_out(hit.text, _headings(hit)) for hit in hits), strict=True)
        cited_tokens, heading_tokens = tokens_of("\n\n. ".join(texts)), tokens_of(". ".join(map(_headings, hits)))
        if fact := missing_fact(sentence, [*cited_tokens, *heading_tokens]):
            return f"{fact} is not in what it cites"
        if is_contrary(sentence, cited_tokens):
            return "what it cites says otherwise"
        cell = misplaced_cell(sentence, [*chain(*rows)], "\n".join(rests))
        if swapped := swapped_fact(sentence, cited_tokens) or cell:
            return f"{swapped} belongs to something else in what it cites"
        return ""

    def _support(self, text: str, ranks: Sequence[int]) -> float:
        """Return the support, 0 to 1, from a sentence's mean token similarity and its least similar word."""
        sentence = self._encoder.encode_query_tokens(text)
        best = np.max([_cosines(sentence, vectors) for rank in ranks for vectors in self._token_vectors(rank)], axis=0)
        # Numbers and names have been compared literally.
        content_words = {token.text for token in tokens_of(text) if token.kind == "word"}
        similarities = [
            best[(sentence.spans[:, 0] >= word.start()) & (sentence.spans[:, 1] <= word.end())]
            for word in _WORD.finditer(text)
            if word[0] in content_words
        ]
        least = min((float(values.mean()) for values in similarities if values.size), default=1.0)
        return 1 / (1 + math.exp(-_SLOPE * (float(best.mean()) + least - _MIDPOINT)))

    def _token_vectors(self, rank: int) -> list[TokenVectors]:
        """Return the token vectors of a passage, and of its title and headings."""
        if rank not in self._vectors:
            hit = self._passages[rank]
            texts = [text for text in (hit.text, _headings(hit)) if text.strip()]
            self._vectors[rank] = self._encoder.encode_passage_tokens(texts)
        return self._vectors[rank]


def _headings(hit: Hit) -> str:
    """Return the title and headings of a passage."""
    return " › ".join(filter(None, dict.fromkeys((hit.title, *hit.heading))))


def _cosines(sentence: TokenVectors, passage: TokenVectors) -> npt.NDArray[np.float32]:
    """Return the best cosine of each token of a sentence with the tokens of a passage."""
    if not passage.vectors.size:
        return np.zeros(len(sentence.vectors), dtype=np.float32)
    return np.asarray((sentence.vectors @ passage.vectors.T).max(axis=1), dtype=np.float32)
