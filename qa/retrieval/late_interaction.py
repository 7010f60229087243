"""Late interaction: how well each word of a question is met by some token of a passage or sentence.

For each token of the question the best cosine among the passage's tokens, averaged with rare words
counting more: MaxSim of Khattab and Zaharia, "ColBERT" (https://arxiv.org/abs/2004.12832), over the
vectors of the same encoder that embeds the passages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from corpus import join_context, path_words
from index import STOP_WORDS, Encoder, Snapshot, StoredPassage, TokenVectors, Vectors
from qa.retrieval.hybrid import Floats

# What a word counts that says nothing about the subject.
_FLOOR = 0.1
_WORD = re.compile(r"\w+")
# OpenBLAS takes one thread for a product of up to 2**18 multiplications; of vectors of 384 or 768 these are fewer.
_EDGE = 16


@dataclass(frozen=True, slots=True)
class Question:
    """A question's tokens, weighted.

    Attributes:
        tokens: Its token vectors.
        weights: `(t,)`, summing to 1.
        rarity: Each telling word, lower-case, with its weight: from 0.1 where every passage has it to about 1 where
            one does, and somewhat more where none does.
    """

    tokens: TokenVectors
    weights: Floats
    rarity: dict[str, float]


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage as the encoder read it for one question.

    Attributes:
        passage: Which.
        tokens: Token vectors, spans in characters of what was read.
        offset: Where the passage's text proper begins in what was read.
        similarities: `(question tokens, passage tokens)`, cosines.
        score: The question's weighted MaxSim over the whole passage.
    """

    passage: StoredPassage
    tokens: TokenVectors
    offset: int
    similarities: Floats
    score: float


def read_question(question: str, encoder: Encoder, snapshot: Snapshot) -> Question:
    """Embed a question's tokens and weigh them by how rare their words are in the collection."""
    tokens = encoder.encode_query_tokens(question)
    # Each word by itself: lower-casing the whole may move what stands behind.
    spoken = [(match.start(), match.end(), match[0].lower()) for match in _WORD.finditer(question)]
    words = {word: None for _, _, word in spoken if word not in STOP_WORDS}
    rarity = rarity_of(snapshot.document_frequency(tuple(words)), snapshot.info.passages)
    weights = np.full(len(tokens.spans), _FLOOR)
    for start, end, word in spoken:
        inside = (tokens.spans[:, 0] >= start) & (tokens.spans[:, 0] < end)
        weights[inside] = rarity.get(word, _FLOOR)
    return Question(tokens, weights / (weights.sum() or 1.0), rarity)


def rarity_of(frequency: Mapping[str, int], passages: int) -> dict[str, float]:
    """What words count by how many passages have them: 0.1 where all do, about 1 where one does."""
    largest = math.log(passages + 2)
    return {word: max(_FLOOR, math.log((passages + 1) / (count + 0.5)) / largest) for word, count in frequency.items()}


def read_passages(question: Question, passages: Sequence[StoredPassage], encoder: Encoder) -> list[Reading]:
    """Embed the tokens of passages, each behind the words of its path and its headings."""
    bodies = [passage.text[passage.body :] for passage in passages]
    # The path is only read here, so that a renamed file need not be embedded again.
    texts = [join_context(_named(passage), body) for passage, body in zip(passages, bodies, strict=True)]
    try:
        found = encoder.encode_passage_tokens(texts)
    except ValueError:
        sizes = encoder.count_tokens(texts)
        for i, (passage, size) in enumerate(zip(passages, sizes, strict=True)):
            if size > encoder.max_tokens:
                texts[i] = join_context(passage.context, bodies[i])
        found = encoder.encode_passage_tokens(texts)
    readings = []
    for passage, body, text, tokens in zip(passages, bodies, texts, found, strict=True):
        similarities = _products(question.tokens.vectors, tokens.vectors)
        score = _weighted_best(question, similarities)
        readings.append(Reading(passage, tokens, len(text) - len(body), similarities, score))
    return readings


def _products(a: Vectors, b: Vectors) -> Floats:
    """`a @ b.T` in float64, in pieces that BLAS does not take several threads for.

    When it has, they spin for some 20 ms in wait of more, on cores that the model could use for the next passages.
    """
    wide, long = a.astype(np.float64), b.astype(np.float64)
    found = np.empty((len(a), len(b)))
    for i in range(0, len(a), _EDGE):
        for j in range(0, len(b), _EDGE):
            np.matmul(wide[i : i + _EDGE], long[j : j + _EDGE].T, out=found[i : i + _EDGE, j : j + _EDGE])
    return found


def _named(passage: StoredPassage) -> str:
    """What a passage is read behind: the words of its path, and its context."""
    return "\n".join(part for part in (path_words(passage.document.path), passage.context) if part)


def _weighted_best(question: Question, similarities: Floats) -> float:
    if not similarities.size:
        return 0.0
    return float((question.weights * similarities.max(axis=1)).sum())


def span_score(question: Question, vector: Floats, reading: Reading, start: int, end: int) -> float:
    """How well part of a passage's text proper answers: its own MaxSim, and its mean vector's cosine.

    Args:
        question: The question's tokens.
        vector: The question's vector, `(dim,)`, unit L2 norm.
        reading: The passage.
        start: First character, counted from the start of the text proper.
        end: One past the last.
    """
    spans = reading.tokens.spans - reading.offset
    inside = (spans[:, 0] >= start) & (spans[:, 1] <= end)
    if not inside.any():
        return 0.0
    mean = reading.tokens.vectors[inside].astype(np.float64).mean(axis=0)
    norm = float(np.linalg.norm(mean)) or 1.0
    return _weighted_best(question, reading.similarities[:, inside]) + 0.5 * float(vector @ mean) / norm
