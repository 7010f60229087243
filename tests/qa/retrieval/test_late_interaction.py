"""Late interaction: the question's words, how much each counts, and how well a passage meets them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.encoder.protocol import Vectors
from index.snapshot import Snapshot
from index.update.report import Request
from index.update.update import update_index
from qa.retrieval.late_interaction import read_passages, read_question, span_score
from tests.encoders import BagEncoder
from tests.qa.passages import asked, read, stored

ENCODER = BagEncoder()


class DenseEncoder(BagEncoder):
    """Each word is its own direction in all of the space, so cosines are anything from -1 to 1."""

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(word.lower().encode(), digest_size=8).digest(), "big")
        direction = np.random.default_rng(seed).normal(size=self.dimension).astype(np.float32)
        unit: Vectors = direction / np.linalg.norm(direction)
        return unit


@pytest.fixture
def four(tmp_path: Path) -> Iterator[Snapshot]:
    """Four passages: "red" stands in two of them, "fox" in one, "and" and "animal" in all."""
    for name, words in {"a": "red fox", "b": "red hen", "c": "blue fish", "d": "grey istanbul"}.items():
        (tmp_path / f"{name}.txt").write_text(f"animal and {words}")
    update_index(Request(tmp_path, ENCODER))
    with Snapshot(tmp_path / ".qa") as snapshot:
        yield snapshot


def test_rare_words_count_more(four: Snapshot) -> None:
    """ln((n + 1) / (passages with it + 0.5)) / ln(n + 2); stop words and words of every passage count 0.1."""
    question = read_question("The RED fox and animal", ENCODER, four)
    raw = np.array([0.1, log(5 / 2.5) / log(6), log(5 / 1.5) / log(6), 0.1, 0.1])
    np.testing.assert_allclose(question.weights, raw / raw.sum(), rtol=1e-12)
    assert question.rarity == pytest.approx({"red": raw[1], "fox": raw[2], "animal": 0.1})


def test_a_word_the_collection_lacks_counts_most(four: Snapshot) -> None:
    """It is the rarest of all, and a passage cannot meet it."""
    question = read_question("fox unheard", ENCODER, four)
    assert question.rarity["unheard"] == pytest.approx(log(5 / 0.5) / log(6))
    assert question.weights[1] > question.weights[0]


@pytest.mark.parametrize(("text", "count"), [("what is the", 3), ("What was that?", 3), ("???", 0)])
def test_only_stop_words_count_alike(four: Snapshot, text: str, count: int) -> None:
    """Where no word tells anything, all count the same; without words there are no weights."""
    question = read_question(text, ENCODER, four)
    assert question.weights.tolist() == pytest.approx([1 / count] * count if count else [])
    assert question.rarity == {}


def test_weights_stay_on_their_words(four: Snapshot) -> None:
    """Lower-casing some letters makes a text longer; the weights of the words behind do not move."""
    question = read_question("İİİİ of red", ENCODER, four)
    assert ENCODER.encode_query_tokens("İİİİ of red").spans.tolist() == [[0, 4], [5, 7], [8, 11]]
    raw = np.array([log(5 / 0.5), 0.1 * log(6), log(5 / 2.5)]) / log(6)
    np.testing.assert_allclose(question.weights, raw / raw.sum(), rtol=1e-12)


WORD = st.sampled_from(["red", "fox", "hen", "blue", "fish", "grey", "mouse", "swims", "runs", "far", "by", "night"])
TEXT = st.lists(WORD, min_size=1, max_size=8).map(" ".join)


@given(question=TEXT, texts=st.lists(TEXT, max_size=5), data=st.data())
def test_maxsim_against_brute_force(question: str, texts: list[str], data: st.DataObject) -> None:
    """For each word of the question the best cosine among a passage's words, by weight."""
    encoder = DenseEncoder()
    words = question.split()
    drawn = data.draw(st.lists(st.floats(0.1, 1), min_size=len(words), max_size=len(words)))
    weights = [weight / sum(drawn) for weight in drawn]
    readings = read_passages(asked(question, encoder, weights), [stored(text, path="7") for text in texts], encoder)
    for text, reading in zip(texts, readings, strict=True):
        score = 0.0
        for word, weight in zip(words, weights, strict=True):
            ours = encoder.encode_query(word).astype(np.float64)
            # "7" is the word of the path.
            score += weight * max(float(ours @ encoder.encode_query(other)) for other in ("7", *text.split()))
        assert reading.score == pytest.approx(score, abs=1e-6)
        assert reading.similarities.shape == (len(words), 1 + len(text.split()))


def test_the_path_is_read_before_the_context() -> None:
    """Words of the path and the headings are met as those of the text are; only the text proper is behind them."""
    passage = stored(
        "## Trains\n\nevery hour", path="travel/getting-around.txt", context="Guide › Trains", start=90, body=11
    )
    reading = read(asked("travel trains hour bus", ENCODER), passage, ENCODER)
    assert reading.offset == len("travel getting around\nGuide › Trains\n")
    assert reading.score == pytest.approx(0.75)
    assert [reading.similarities[i].max() for i in range(4)] == [1, 1, 1, 0]


def test_a_passage_too_long_with_its_path_is_read_without_it() -> None:
    """The text is never cut to make room for the path."""
    encoder = BagEncoder(max_tokens=5)
    fits = read(asked("travel", encoder), stored("one two three", path="travel/x.txt", context=""), encoder)
    full = read(asked("travel", encoder), stored("one two three four", path="travel/x.txt", context="Top"), encoder)
    assert (fits.offset, fits.score, len(fits.tokens.spans)) == (len("travel x\n"), 1.0, 5)
    assert (full.offset, full.score, len(full.tokens.spans)) == (len("Top\n"), 0.0, 5)


def test_nothing_to_meet() -> None:
    """A question or a passage without words scores 0."""
    assert read(asked("", ENCODER), stored("red"), ENCODER).score == 0
    assert read(asked("red", ENCODER), stored("...", path="."), ENCODER).score == 0
    assert read_passages(asked("red", ENCODER), [], ENCODER) == []


def test_span_score() -> None:
    """MaxSim of the words inside, and half the cosine of their mean with the question."""
    text = "red fox runs. grey mouse"
    question = asked("red fox", ENCODER, (0.25, 0.75))
    vector = ENCODER.encode_query("red fox").astype(np.float64)
    reading = read(question, stored(text, path="some/where.txt", context="Red › Fox"), ENCODER)

    def score(part: str) -> float:
        start = text.index(part)
        return span_score(question, vector, reading, start, start + len(part))

    assert score("red fox") == pytest.approx(1 + 0.5)
    assert score("fox") == pytest.approx(0.75 + 0.5 / sqrt(2))
    assert score("red fox runs.") == pytest.approx(1 + 0.5 * 2 / sqrt(6))
    assert score("grey mouse") == 0
    assert score(". ") == 0
    assert score("ed fox") == score("fox"), "a word counts where all of it is inside"
