"""Late interaction: how well passages and sentences match the words of a question."""

from __future__ import annotations

import hashlib
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.storage.vectors import Vectors
from qa.retrieval.late_interaction import span_score
from tests.encoders import BagEncoder
from tests.qa.passages import match, matches, query, stored

ENCODER = BagEncoder()


class DenseEncoder(BagEncoder):
    """Each word has a random direction in the whole space, so cosines range from -1 to 1."""

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(word.lower().encode(), digest_size=8).digest(), "big")
        direction = np.random.default_rng(seed).normal(size=self.dimension).astype(np.float32)
        unit: Vectors = direction / np.linalg.norm(direction)
        return unit


WORD = st.sampled_from(["red", "fox", "hen", "blue", "fish", "grey", "mouse", "swims", "runs", "far", "by", "night"])
TEXT = st.lists(WORD, min_size=1, max_size=8).map(" ".join)


@given(question=TEXT, texts=st.lists(TEXT, max_size=5), data=st.data())
def test_maxsim_against_brute_force(question: str, texts: list[str], data: st.DataObject) -> None:
    """The score is the weighted sum, over the question's words, of the best cosine among the passage's words."""
    encoder = DenseEncoder()
    words = question.split()
    drawn = data.draw(st.lists(st.floats(0.1, 1), min_size=len(words), max_size=len(words)))
    weights = [weight / sum(drawn) for weight in drawn]
    matched = matches(query(question, encoder, weights), [stored(text, path="7") for text in texts], encoder)
    for text, token_match in zip(texts, matched, strict=True):
        score = 0.0
        for word, weight in zip(words, weights, strict=True):
            ours = encoder.encode_query(word).astype(np.float64)
            # "7" is the word of the path.
            score += weight * max(
                float(ours @ encoder.encode_query(passage_word)) for passage_word in ("7", *text.split())
            )
        assert token_match.score == pytest.approx(score, abs=1e-6)
        assert token_match.similarities.shape == (len(words), 1 + len(text.split()))


def test_the_path_is_read_before_the_context() -> None:
    """Words of the path and the headings match like words of the text, which follows them."""
    passage = stored(
        "## Trains\n\nevery hour", path="travel/getting-around.txt", context="Guide › Trains", start=90, body=11
    )
    token_match = match(query("travel trains hour bus", ENCODER), passage, ENCODER)
    assert passage.body + token_match.offset == len("travel getting around\nGuide › Trains\n")
    assert token_match.score == pytest.approx(0.75)
    assert [token_match.similarities[i].max() for i in range(4)] == [1, 1, 1, 0]


def test_a_path_that_does_not_fit_is_left_out() -> None:
    """The text is never cut to make room for it."""
    encoder = BagEncoder(max_tokens=5)
    fits = match(query("travel", encoder), stored("one two three", path="travel/x.txt", context=""), encoder)
    full = match(query("travel", encoder), stored("one two three four", path="travel/x.txt", context="Top"), encoder)
    assert (fits.offset, fits.score, len(fits.tokens.spans)) == (len("travel x\n"), 1.0, 5)
    assert (full.offset, full.score, len(full.tokens.spans)) == (len("Top\n"), 0.0, 5)


def test_a_question_or_passage_without_words_scores_0() -> None:
    assert match(query("", ENCODER), stored("red"), ENCODER).score == 0
    assert match(query("red", ENCODER), stored("...", path="."), ENCODER).score == 0
    assert matches(query("red", ENCODER), [], ENCODER) == []


def test_span_score() -> None:
    """MaxSim of the words inside the span, plus half the cosine of their mean with the question."""
    text = "red fox runs. grey mouse"
    red_fox = query("red fox", ENCODER, (0.25, 0.75))
    token_match = match(red_fox, stored(text, path="some/where.txt", context="Red › Fox"), ENCODER)

    def score(part: str) -> float:
        start = text.index(part)
        return span_score(red_fox, token_match, start, start + len(part))

    assert score("red fox") == pytest.approx(1 + 0.5)
    assert score("fox") == pytest.approx(0.75 + 0.5 / sqrt(2))
    assert score("red fox runs.") == pytest.approx(1 + 0.5 * 2 / sqrt(6))
    assert score("grey mouse") == 0
    assert score(". ") == 0
    assert score("ed fox") == score("fox"), "a word counts only if all of it is inside"
