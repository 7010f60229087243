"""A question analysed once: what every later stage of an answer reads, and nothing changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from index import STOP_WORDS, Among, Encoder, Index, TokenVectors, Vectors, Word, analyse, word_terms
from qa.answer.dates import with_other_forms
from qa.answer.lookup import Lookup, lookup_of
from qa.answer.results import Correction, Mode
from qa.answer.which_documents import topic_of_documents
from qa.retrieval.question_text import without_mean
from qa.retrieval.spelling import correct_spelling
from qa.retrieval.stopwatch import Stopwatch

# A question with a larger share of letters that the model has no words for is answered by keywords alone.
MAX_UNKNOWN = 1 / 3
# The rarity of a word that says nothing about the subject.
_FLOOR = 0.1

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QueryTokens:
    """A query's tokens for late interaction.

    Attributes:
        encoded: Their vectors, and which characters of the query's text they stand for.
        weights: `(t,)`, how much each token counts, by the rarity of its word; they sum to 1.
    """

    encoded: TokenVectors
    weights: Floats


@dataclass(frozen=True, slots=True)
class Query:
    """A question as the stages of retrieval and answering read it.

    Attributes:
        asked: The question as it was asked.
        text: As it is searched: misspelt words replaced, dates also in the forms that the collection has, "stand for"
            in place of "mean".
        corrections: The words that were replaced.
        terms: Terms of the keyword index, each with its weight for BM25.
        rarity: The same terms and those of all other telling words, each from 0.1 where every passage has it to about 1
            where one does, and somewhat more where none does.
        vector: `(dim,) float32`, unit L2 norm.
        tokens: None where late interaction is not wanted, or impossible as the script is unknown.
        mode: Which halves of the index bring in candidates.
        documents: What to choose from: row numbers of documents, a scope of passages, or None for all.
        in_unknown_script: Whether the model has no words for much of the question.
        lookup: What is looked up instead of asked; None of a question, and where meanings alone are compared.
        for_documents: Whether documents are asked for; `text` is what they shall be about.
    """

    asked: str
    text: str
    corrections: tuple[Correction, ...]
    terms: Mapping[str, float]
    rarity: Mapping[str, float]
    vector: Vectors
    tokens: QueryTokens | None
    mode: Mode
    documents: Among
    in_unknown_script: bool = False
    lookup: Lookup | None = None
    for_documents: bool = False


def analyse_question(
    asked: str,
    snapshot: Index,
    encoder: Encoder,
    *,
    mode: Mode,
    documents: Among,
    rerank: bool,
    clock: Stopwatch,
) -> Query:
    """Make the query of a question: cut it into words, correct and weigh them, embed it.

    Args:
        asked: The question, not empty.
        snapshot: The generation to ask; misspelt and rare is what its passages say.
        encoder: The snapshot's model.
        mode: As asked for; a hybrid search is one by keywords where the model does not know the question's script.
        documents: What to choose from: row numbers of documents, a scope of passages, or None for all.
        rerank: Whether token vectors are wanted.
        clock: Takes the time.
    """
    analysis = analyse(asked)
    text, corrections = correct_spelling(asked, analysis.words, snapshot, encoder)
    topic = None if mode is Mode.DENSE else topic_of_documents(text)
    lookup = None if mode is Mode.DENSE else lookup_of(topic or text)
    text = topic if topic and lookup else text
    text = with_other_forms(without_mean(text), snapshot, documents)
    if text != asked:
        analysis = analyse(text)
    clock.lap("spell")
    unknown = encoder.unknown_token_ratio(text) > MAX_UNKNOWN
    telling = {part.text: word_terms(part.text) for part in _parts(analysis.words) if part.text not in STOP_WORDS}
    wanted = dict.fromkeys([*analysis.terms, *(term for terms in telling.values() for term in terms)])
    rarity = rarity_of(snapshot.frequencies(tuple(wanted)), snapshot.info.passages)
    by_word = {word: max(rarity[term] for term in terms) for word, terms in telling.items()}
    tokens = None
    if rerank and not unknown:
        tokens = _weighted(encoder.encode_query_tokens(text), analysis.words, by_word)
    query = Query(
        asked=asked,
        text=text,
        corrections=corrections,
        terms=analysis.terms,
        rarity=rarity,
        vector=encoder.encode_query(text),
        tokens=tokens,
        mode=Mode.KEYWORD if unknown and mode is Mode.HYBRID else mode,
        documents=documents,
        in_unknown_script=unknown,
        lookup=lookup,
        for_documents=bool(topic and lookup),
    )
    clock.lap("embed")
    return query


def rarity_of(frequency: Mapping[str, int], passages: int) -> dict[str, float]:
    """How much terms count by how many passages have them: 0.1 where all do, about 1 where one does."""
    largest = math.log(passages + 2)
    return {term: max(_FLOOR, math.log((passages + 1) / (count + 0.5)) / largest) for term, count in frequency.items()}


def _weighted(tokens: TokenVectors, words: Sequence[Word], rarity: Mapping[str, float]) -> QueryTokens:
    """Give each token the rarity of the word that it begins in."""
    weights = np.full(len(tokens.spans), _FLOOR)
    for part in _parts(words):
        inside = (tokens.spans[:, 0] >= part.start) & (tokens.spans[:, 0] < part.end)
        weights[inside] = rarity.get(part.text, _FLOOR)
    return QueryTokens(tokens, weights / (weights.sum() or 1.0))


def _parts(words: Sequence[Word]) -> list[Word]:
    """Words in order, joined ones in their parts, endings apart: that the s of `it's` weighs much does good."""
    return [part for word in words for part in (*(word.parts or (word,)), *word.ending)]
