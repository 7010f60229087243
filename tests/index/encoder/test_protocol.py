"""Both encoders of the default model give a text always the same vector; `test_architectures.py` checks the values."""

from __future__ import annotations

import random

import numpy as np
import pytest

from index.encoder import torch_backend
from index.encoder.model_files import find
from index.encoder.openvino_backend import CompiledEncoder
from index.encoder.torch_backend import TorchEncoder
from index.encoder.transformer import TransformerEncoder


@pytest.fixture(scope="module", params=[TorchEncoder, CompiledEncoder])
def encoder(request: pytest.FixtureRequest) -> TransformerEncoder:
    kind: type[TransformerEncoder] = request.param
    return kind(find())


def test_vector_depends_only_on_its_text(encoder: TransformerEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit, in any order, in any batch, and if a text fills the width of its batch."""
    monkeypatch.setattr(torch_backend, "_ROWS", 4)  # of a batch, always; half the work
    rng = random.Random(1)  # noqa: S311 - reproducible, not secret
    lengths = [1, 13, 14, 29, 30, 254, *(rng.randint(1, 30) for _ in range(4))]
    texts = [" ".join(rng.choice(["cat", "dog", "talk", "sea", "two"]) for _ in range(size)) for size in lengths]
    expected = encoder.encode_passages(texts)
    order = rng.sample(range(len(texts)), len(texts))
    shuffled = encoder.encode_passages([texts[i] for i in order])
    assert np.array_equal(shuffled, expected[order])
    assert all(np.array_equal(encoder.encode_passages([texts[i]])[0], expected[i]) for i in (0, 2, 5))
    tokens = encoder.encode_passage_tokens(texts[:5])
    assert all(
        np.array_equal(encoder.encode_passage_tokens([texts[i]])[0].vectors, tokens[i].vectors) for i in range(0, 5, 2)
    )


def test_token_vectors_have_the_spans_of_their_characters(encoder: TransformerEncoder) -> None:
    text = "What's naïve robustness?"
    question = encoder.encode_query_tokens(text)
    words = [text[start:end] for start, end in question.spans]
    assert words == ["What", "'", "s", "naïve", "robust", "ness", "?"]
    assert question.vectors.shape == (7, 384)
    assert np.allclose(np.linalg.norm(question.vectors, axis=1), 1.0, atol=1e-6)
    (passage,) = encoder.encode_passage_tokens([text])
    assert np.array_equal(passage.spans, question.spans)
    assert np.min(np.sum(passage.vectors * question.vectors, axis=1)) >= 0.99
    assert encoder.encode_query_tokens("").vectors.shape == (0, 384)


def test_a_passage_past_the_limit_is_an_error(encoder: TransformerEncoder) -> None:
    assert encoder.encode_passages(["cat " * 254]).shape == (1, 384)
    for encode in (encoder.encode_passages, encoder.encode_passage_tokens):
        with pytest.raises(ValueError, match="a passage has 255 tokens and the model reads 254"):
            encode(["short", "cat " * 255])


def test_a_question_past_the_limit_is_truncated(encoder: TransformerEncoder) -> None:
    assert np.array_equal(encoder.encode_query("cat " * 999), encoder.encode_query("cat " * 254))


def test_no_texts_give_no_vectors(encoder: TransformerEncoder) -> None:
    assert encoder.encode_passages([]).shape == (0, 384)
    assert encoder.encode_passage_tokens([]) == []
