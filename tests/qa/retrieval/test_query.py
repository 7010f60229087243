"""The analysis of a question: its words, their weights and its vectors."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.errors import UsageError
from index.lexical import analyzer, query_terms
from index.snapshot import Snapshot
from qa.answer.results import Mode
from qa.retrieval.query import Floats, Query, analyse_question
from qa.retrieval.question_text import ask_text
from qa.stopwatch import Stopwatch
from tests.encoders import BagEncoder
from tests.qa.indexes import built

ENCODER = BagEncoder()


def analysed(question: str, snapshot: Snapshot, **settings: Any) -> Query:
    settings = {"mode": Mode.HYBRID, "documents": None, "rerank": True, **settings}
    return analyse_question(question, snapshot, ENCODER, clock=Stopwatch(), **settings)


def weights(query: Query) -> Floats:
    assert query.tokens is not None
    return query.tokens.weights


@pytest.fixture
def four(tmp_path: Path) -> Iterator[Snapshot]:
    """Four passages: "red" is in two of them, "fox" in one, "and" and "animal" in all."""
    texts = {"a": "red fox", "b": "red hen", "c": "blue fish", "d": "grey istanbul"}
    with built(tmp_path, {f"{name}.txt": f"animal and {words}" for name, words in texts.items()}) as snapshot:
        yield snapshot


def test_rare_words_count_more(four: Snapshot) -> None:
    """ln((n + 1) / (passages with it + 0.5)) / ln(n + 2); stop words and words of every passage count 0.1."""
    question = analysed("The RED fox and animal", four)
    raw = np.array([0.1, log(5 / 2.5) / log(6), log(5 / 1.5) / log(6), 0.1, 0.1])
    np.testing.assert_allclose(weights(question), raw / raw.sum(), rtol=1e-12)
    assert question.rarity == pytest.approx({"red": raw[1], "fox": raw[2], "anim": 0.1})


def test_a_word_the_collection_lacks_counts_most(four: Snapshot) -> None:
    """It is the rarest of all, and no passage can match it."""
    question = analysed("fox unheard", four)
    assert question.rarity["unheard"] == pytest.approx(log(5 / 0.5) / log(6))
    assert weights(question)[1] > weights(question)[0]


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("whats a fox?", "what is a fox?"),
        ("Who’s red", "Who is red"),
        ("whose fox", "whose fox"),
        ('"what\'s"', '"what\'s"'),
    ],
)
def test_contractions_are_written_out_for_the_models(four: Snapshot, question: str, read: str) -> None:
    query = analysed(question, four)
    assert (query.text, query.original) == (read, question)


@pytest.mark.parametrize(("text", "count"), [("what is the", 3), ("What was that?", 3), ("???", 0)])
def test_stop_words_alone_have_equal_weights(four: Snapshot, text: str, count: int) -> None:
    """A question without words has no weights."""
    question = analysed(text, four)
    assert weights(question).tolist() == pytest.approx([1 / count] * count if count else [])


def test_weights_stay_on_their_words(four: Snapshot) -> None:
    """Lower-casing some letters makes a text longer, but does not shift the weights of the words that follow."""
    question = analysed("İİİİ of red", four)
    assert ENCODER.encode_query_tokens("İİİİ of red").spans.tolist() == [[0, 4], [5, 7], [8, 11]]
    raw = np.array([log(5 / 0.5), 0.1 * log(6), log(5 / 2.5)]) / log(6)
    np.testing.assert_allclose(weights(question), raw / raw.sum(), rtol=1e-12)


def test_words_are_weighed_as_in_the_keyword_index(four: Snapshot) -> None:
    """A compound is weighed by its parts, and a possessive ending separately."""
    question = analysed("red-fox's hen", four)
    raw = np.array([log(5 / 2.5), log(5 / 1.5), log(5 / 0.5), log(5 / 1.5)])
    np.testing.assert_allclose(weights(question), raw / raw.sum(), rtol=1e-12)
    assert list(question.terms) == ["red-fox", "red", "fox", "hen"]


def test_a_question_is_split_into_words_once(four: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """And once more if its spelling was corrected."""
    texts: list[str] = []

    def counting(text: str) -> Any:
        texts.append(text)
        return words(text)

    words = analyzer.words
    monkeypatch.setattr(query_terms, "words", counting)
    analysed("the red fox", four)
    assert texts == ["the red fox"]
    texts.clear()
    monkeypatch.setattr(BagEncoder, "count_tokens", lambda _, words: [2] * len(words))  # no word is a single token
    assert analysed("istanbol and fox fox", four).text == "istanbul and fox fox"
    assert texts == ["istanbol and fox fox", "istanbul and fox fox"]


def test_tokens_are_encoded_only_if_they_are_needed(four: Snapshot) -> None:
    assert analysed("red fox", four, rerank=False).tokens is None
    assert analysed("red fox", four, mode=Mode.DENSE).tokens is not None


def test_an_unknown_script_is_searched_by_keywords(four: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BagEncoder, "unknown_token_ratio", lambda *_: 0.34)
    query = analysed("red fox", four)
    assert (query.in_unknown_script, query.tokens, query.mode) == (True, None, Mode.KEYWORD)
    assert analysed("red fox", four, mode=Mode.DENSE).mode is Mode.DENSE
    monkeypatch.setattr(BagEncoder, "unknown_token_ratio", lambda *_: 0.33)
    query = analysed("red fox", four)
    assert (query.in_unknown_script, query.mode) == (False, Mode.HYBRID)


def test_long_question_is_cut() -> None:
    """10,000 characters are searched, and the characters left out are counted."""
    assert ask_text("x" * 10_000) == ("x" * 10_000, 0)
    assert ask_text(" " + "x" * 10_007) == ("x" * 10_000, 7)


def test_question_becomes_valid_unicode() -> None:
    """Lone surrogates are replaced and pairs are joined; everything else is literal."""
    assert ask_text("a\udce9b \ud83d\ude00 \x00'\"*") == ("a\ufffdb 😀 \x00'\"*", 0)


@pytest.mark.parametrize("text", ["", " \t\n", "\u3000"])
def test_empty_question(text: str) -> None:
    """White space alone is not a question."""
    with pytest.raises(UsageError, match="the question is empty"):
        ask_text(text)
