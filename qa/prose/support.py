"""How well passages support a sentence that cites them: its meaning by late interaction, its facts one by one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from index import Encoder, TokenVectors
from qa.answer.results import Hit, ProseSentence
from qa.prose.binding import exchanged_facts
from qa.prose.compare import is_contrary, missing_fact
from qa.prose.sentences import Claim
from qa.prose.words import Token, tokens_of

# What a sentence of a passage's meaning scores from, and how fast it grows there: fitted on half of tests/qa/prose.
_EVEN, _SLOPE = 0.83, 10.0
_WORD = re.compile(r"\w+")


class Judge:
    """Compares sentences with the passages of one answer."""

    def __init__(self, encoder: Encoder, passages: Sequence[Hit]) -> None:
        self._encoder = encoder
        self._passages = {hit.rank: hit for hit in passages}
        self._vectors: dict[int, list[TokenVectors]] = {}

    def judge(self, claim: Claim) -> ProseSentence:
        """Whether a sentence is supported by all that it cites together."""
        known = tuple(rank for rank in claim.citations if rank in self._passages)
        reason = self._fault(claim, known)
        support = 0.0 if reason else self._likeness(claim.text, known)
        if not reason and support < 0.5:
            reason = "what it cites does not say so"
        return ProseSentence(claim.text, known, round(support, 4), "unsupported" if reason else "supported", reason)

    def _fault(self, claim: Claim, known: tuple[int, ...]) -> str:
        """What is wrong with its citations, numbers, names and negations; "" if nothing is."""
        if unknown := [rank for rank in claim.citations if rank not in known]:
            return f"it cites [{unknown[0]}], but there is no such passage"
        if not known:
            return "it cites no passage"
        said = tokens_of(claim.text)
        given, above = self._tokens(known)
        if missing := missing_fact(said, [*given, *above]):
            return f"{missing} is not in what it cites"
        if is_contrary(said, given):
            return "what it cites says otherwise"
        if exchanged := exchanged_facts(said, given):
            return f"{exchanged} belongs to something else in what it cites"
        return ""

    def _tokens(self, ranks: Sequence[int]) -> tuple[list[Token], list[Token]]:
        """The tokens of passages, and of what stands above them."""
        hits = [self._passages[rank] for rank in ranks]
        return tokens_of("\n\n. ".join(hit.text for hit in hits)), tokens_of(". ".join(map(_above, hits)))

    def _likeness(self, text: str, ranks: Sequence[int]) -> float:
        """How much of a sentence's meaning passages have: all of its tokens, and the word that they have least of."""
        said = self._encoder.encode_query_tokens(text)
        best = np.max([_cosines(said, given) for rank in ranks for given in self._read(rank)], axis=0)
        # Numbers and names have been compared as they are.
        telling = {token.text for token in tokens_of(text) if token.kind == "word"}
        words = [
            best[(said.spans[:, 0] >= word.start()) & (said.spans[:, 1] <= word.end())]
            for word in _WORD.finditer(text)
            if word[0] in telling
        ]
        least = min((float(values.mean()) for values in words if values.size), default=1.0)
        return 1 / (1 + math.exp(-_SLOPE * (float(best.mean()) + least - _EVEN)))

    def _read(self, rank: int) -> list[TokenVectors]:
        """The token vectors of a passage, and of what stands above it."""
        if rank not in self._vectors:
            hit = self._passages[rank]
            texts = [text for text in (hit.text, _above(hit)) if text.strip()]
            self._vectors[rank] = self._encoder.encode_passage_tokens(texts)
        return self._vectors[rank]


def _above(hit: Hit) -> str:
    """The title and headings of a passage."""
    return " › ".join(filter(None, dict.fromkeys((hit.title, *hit.heading))))


def _cosines(said: TokenVectors, given: TokenVectors) -> npt.NDArray[np.float32]:
    """For each token of a sentence, the best cosine among those of a passage."""
    if not given.vectors.size:
        return np.zeros(len(said.vectors), dtype=np.float32)
    return np.asarray((said.vectors @ given.vectors.T).max(axis=1), dtype=np.float32)
