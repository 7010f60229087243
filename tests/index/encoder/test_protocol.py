"""Both encoders of the default model give a text always the same vector; `test_architectures.py` checks the values."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from index.encoder import torch_backend
from index.encoder.model_files import find
from index.encoder.openvino_backend import CompiledEncoder
from index.encoder.protocol import TokenVectors
from index.encoder.tokenizer import TokenIds
from index.encoder.torch_backend import TorchEncoder
from index.encoder.transformer import Output, RecentTokens, TransformerEncoder


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


def test_recent_token_vectors_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And they are the same when they are kept, so that answers do not depend on earlier questions."""
    encoder, other = CompiledEncoder(find()), CompiledEncoder(find())
    run, texts = [], ["The lake is deep.", "A talk about boats", "The lake is deep."]
    run_passages = encoder._run_passages

    def recorded(encoded: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Output]]:
        run.append(len(encoded))
        return run_passages(encoded, tokens=tokens)

    monkeypatch.setattr(encoder, "_run_passages", recorded)
    first, again = encoder.encode_passage_tokens(texts), encoder.encode_passage_tokens([*texts[1:], "new"])
    assert run == [2, 1]
    for tokens, text in zip([*first, *again[:2]], [*texts, *texts[1:]], strict=True):
        (expected,) = other.encode_passage_tokens([text])
        assert np.array_equal(tokens.vectors, expected.vectors)
        assert np.array_equal(tokens.spans, expected.spans)


def test_the_oldest_token_vectors_are_dropped() -> None:
    recent = RecentTokens(limit=4 * 384 * 2)
    for text in ("a", "b", "c"):
        recent.put(text, TokenVectors(np.ones((2, 384), np.float32), np.zeros((2, 2), np.int32)))
        recent.get("a")
    assert [text for text in ("a", "b", "c") if recent.get(text)] == ["a", "c"]
    recent.put("too long", TokenVectors(np.ones((5, 384), np.float32), np.zeros((5, 2), np.int32)))
    assert recent.get("too long") is None
    recent.put("a", TokenVectors(np.ones((4, 384), np.float32), np.zeros((4, 2), np.int32)))
    assert recent.get("a") is not None
