"""A question, analysed once: an immutable query that all later stages of answering read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap

import numpy as np
import numpy.typing as npt

from corpus import lazy_pattern
from index import STOP_WORDS, Among, Encoder, Index, Scope, TokenVectors, Vectors, Word, analyse, word_terms
from qa.answer.results import Correction, Mode
from qa.answer.which_documents import lookup_of_topic, topic_of_documents
from qa.language.dates import add_date_forms
from qa.questions.long_numbers import write_numbers_as_in
from qa.questions.lookup import Lookup, lookup_of
from qa.questions.steps import asks_how_to
from qa.retrieval.spelling import correct_spelling
from qa.stopwatch import Stopwatch

# A question with a larger share of letters outside the model's vocabulary is answered by keywords alone.
MAX_UNKNOWN = 1 / 3
# The lowest rarity, that of a word that says nothing about the subject.
_FLOOR = 0.1
# "what's", as people type it; the models know "what is" better.
_CONTRACTED = lazy_pattern(r"(?<![\"“])\b(what|who|where|when|how)['’]?s\b", re.IGNORECASE)


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QueryTokens:
    """A query's tokens for late interaction.

    Attributes:
        encoded: Their vectors, and which characters of the query's text they cover.
        weights: `(t,)`, how much each token counts, by the rarity of its word; they sum to 1.
    """

    encoded: TokenVectors
    weights: Floats


@dataclass(frozen=True, slots=True)
class Query:
    """A question in the form that the stages of retrieval and answering read.

    Attributes:
        original: The question as the user wrote it.
        question: The question with misspelt words, and long numbers grouped otherwise, replaced, and contractions such
            as "what's" written out.
        text: The text to search for: the question, with its dates also in the forms that the collection uses.
        corrections: The words and numbers that were replaced.
        terms: Terms of the keyword index, each with its weight for BM25.
        rarity: The rarity of these terms, and of those of all other words but stop words: 0.1 if every passage has the
            term, about 1 if a single one does, and somewhat more if none does.
        vector: `(dim,) float32`, unit L2 norm.
        tokens: None if late interaction is not wanted, or impossible because the script is unknown.
        mode: Which halves of the index contribute candidates.
        documents: What to choose from: row numbers of documents, a scope of passages, or None for all.
        in_unknown_script: Whether the model does not know much of the question.
        lookup: The terms to look up; None for a question, and for a dense search.
        for_documents: Whether the question asks for documents; `question` is then the topic they should be about.
        number_is_unknown: Whether no passage has a telephone, account or other long number of the question.
    """

    original: str
    question: str
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
    number_is_unknown: bool = False

    @property
    def is_scoped(self) -> bool:
        """Whether only some passages may be used, so that no rule may read the rest of a document."""
        return isinstance(self.documents, Scope)

    @property
    def document_ids(self) -> frozenset[int] | None:
        """Row numbers of the documents to choose from; None for all."""
        return self.documents.documents if isinstance(self.documents, Scope) else self.documents


def analyse_question(
    original: str,
    snapshot: Index,
    encoder: Encoder,
    *,
    mode: Mode,
    documents: Among,
    rerank: bool,
    clock: Stopwatch,
) -> Query:
    """Turn a question into a query: split it into words, correct and weigh them, embed it.

    Args:
        original: The question, not empty.
        snapshot: The generation to search; its passages determine which words are misspelt or rare.
        encoder: The snapshot's model.
        mode: As requested; a hybrid search becomes a keyword search if the model does not know the question's script.
        documents: What to choose from: row numbers of documents, a scope of passages, or None for all.
        rerank: Whether token vectors are wanted.
        clock: Records the time of each step.
    """
    numbered = write_numbers_as_in(snapshot, _CONTRACTED.sub(r"\1 is", original))
    analysis = analyse(numbered.text)
    question, misspelt = correct_spelling(numbered.text, analysis.words, snapshot, encoder)
    topic = None if mode is Mode.DENSE else topic_of_documents(question)
    lookup = None
    if mode is not Mode.DENSE and not asks_how_to(question):
        lookup = lookup_of_topic(topic) if topic else lookup_of(question)
    question = topic if topic and lookup else question
    text = add_date_forms(question, snapshot, documents)
    if text != original:
        analysis = analyse(text)
    clock.lap("spell")
    unknown = encoder.unknown_token_ratio(text) > MAX_UNKNOWN
    content_words = {part.text: word_terms(part.text) for part in _parts(analysis.words) if part.text not in STOP_WORDS}
    all_terms = dict.fromkeys([*analysis.terms, *(term for terms in content_words.values() for term in terms)])
    rarity = rarity_of(snapshot.frequencies(tuple(all_terms)), snapshot.info.passages)
    word_rarity = {word: max(rarity[term] for term in terms) for word, terms in content_words.items()}
    tokens = None
    if rerank and not unknown:
        tokens = _weigh_tokens(encoder.encode_query_tokens(text), analysis.words, word_rarity)
    query = Query(
        original=original,
        question=question,
        text=text,
        corrections=(*starmap(Correction, numbered.changed), *misspelt),
        terms=analysis.terms,
        rarity=rarity,
        vector=encoder.encode_query(text),
        tokens=tokens,
        mode=Mode.KEYWORD if unknown and mode is Mode.HYBRID else mode,
        documents=documents,
        in_unknown_script=unknown,
        lookup=lookup,
        for_documents=bool(topic and lookup),
        number_is_unknown=numbered.is_unknown,
    )
    clock.lap("embed")
    return query


def rarity_of(frequency: Mapping[str, int], passages: int) -> dict[str, float]:
    """Weigh terms by the number of passages that have them: 0.1 if all do, about 1 if one does."""
    largest = math.log(passages + 2)
    return {term: max(_FLOOR, math.log((passages + 1) / (count + 0.5)) / largest) for term, count in frequency.items()}


def _weigh_tokens(tokens: TokenVectors, words: Sequence[Word], rarity: Mapping[str, float]) -> QueryTokens:
    """Weigh each token by the rarity of the word in which it begins."""
    weights = np.full(len(tokens.spans), _FLOOR)
    for part in _parts(words):
        inside = (tokens.spans[:, 0] >= part.start) & (tokens.spans[:, 0] < part.end)
        weights[inside] = rarity.get(part.text, _FLOOR)
    return QueryTokens(tokens, weights / (weights.sum() or 1.0))


def _parts(words: Sequence[Word]) -> list[Word]:
    """Split words into parts, joined words and endings included: that the s of `it's` weighs much improves ranking."""
    return [part for word in words for part in (*(word.parts or (word,)), *word.ending)]
