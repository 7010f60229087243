"""Every architecture, compiled, gives the same vectors and tokens as in sentence-transformers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from index.compiled import compiled_copy
from index.compiled.compiled_copy import Hint
from index.encoder.model_files import ModelFiles, find
from index.encoder.openvino_backend import CompiledEncoder
from index.encoder.tokenizer import ModelTokenizer
from index.encoder.torch_backend import TorchEncoder
from index.encoder.transformer import TransformerEncoder
from index.storage.vectors import Vectors
from qa.retrieval.query import MAX_UNKNOWN
from tests.small_models import BUILDERS, CORPUS, HIDDEN, MAX_LENGTH, SHORTENED, build, load

TEXTS = (
    "Robots",
    "Which paper won the award?",
    "Zürich liegt am See, die Straße führt über die Brücke nach Köln.",
    "القاهرة مدينة كبيرة على نهر النيل",
    "東京は日本の首都です。",
    "🙂 fine, 🚀🚀",
    "https://example.org/a_b/index.html?c=1&d=%20e#f",
    "RETURN THE FORM TO THE OFFICE BY NOON",
    "naïve café, résumé: 3.11 of 1,000 papers (32 %)",
    "a b c d e f g h i j k l m n",
    "The meeting was moved to Thursday at half past nine, and nobody told the people.",
    "The robots barked at the moon. " * 5,
)
# Longer than any model here reads. Reversed, so that it begins differently from the longest text of the corpus.
TOO_LONG = " ".join(reversed(CORPUS.split()))
# Minimum cosine of a text's vector with the original's, as strict as the check of a compiled copy.
MIN_COSINE = 0.9995
# The same for single tokens, whose rounding errors in bf16 are not averaged out.
MIN_TOKEN_COSINE = 0.98


@dataclass(frozen=True)
class Case:
    """A small model as this project runs it and as its library does, with the library's vectors in fp32.

    Attributes:
        texts: The texts to embed; the last one is about as long as a passage may be.
        questions: The texts, and a longer one that is truncated.
    """

    model: ModelFiles
    encoder: CompiledEncoder
    original: Any
    texts: list[str]
    questions: list[str]
    text_vectors: Vectors
    question_vectors: Vectors

    @property
    def document_prompt(self) -> str:
        """The prompt that the original puts before a passage."""
        return str(self.original.prompts.get("document") or "")


@pytest.fixture(scope="module", params=BUILDERS)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    """Each architecture, built once, with a temporary cache for its compiled copy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(compiled_copy, "Hint", (Hint.THROUGHPUT,))  # no test uses the other one
        model = find(str(build(request.param, tmp_path_factory.mktemp("models"))))
        encoder = CompiledEncoder(model)
        original = load(model.folder)
        texts = [*TEXTS, longest_passage(encoder)]
        questions = [*texts, TOO_LONG]
        text_vectors = original.encode_document(texts, normalize_embeddings=True, show_progress_bar=False)
        question_vectors = original.encode_query(questions, normalize_embeddings=True, show_progress_bar=False)
        yield Case(model, encoder, original, texts, questions, text_vectors, question_vectors)


def longest_passage(encoder: CompiledEncoder) -> str:
    """Return a passage with as many words as fit."""
    words = CORPUS.split()
    candidates = (" ".join(words[:size]) for size in range(len(words), 0, -1))
    return next(text for text in candidates if encoder.count_tokens([text])[0] <= encoder.max_tokens)


def least_cosine(vectors: Vectors, expected: Vectors) -> float:
    """Return the least cosine of the unit vectors in corresponding rows."""
    assert vectors.shape == expected.shape
    return float(np.min(np.sum(vectors * expected, axis=1)))


@pytest.mark.parametrize(("encoder_class", "minimum"), [(CompiledEncoder, MIN_COSINE), (TorchEncoder, 0.999)])
def test_vectors_match_the_original(case: Case, encoder_class: type[TransformerEncoder], minimum: float) -> None:
    """Including a question longer than the model reads; torch a little less exactly, as it may run in bf16."""
    encoder = encoder_class(case.model)
    assert encoder.count_tokens(case.questions[-1:])[0] > MAX_LENGTH
    passages = encoder.encode_passages(case.texts)
    size = {"bert-cls-dense": SHORTENED, "bert-joined": 2 * HIDDEN}.get(case.model.folder.name, HIDDEN)
    assert passages.shape == (len(case.texts), size)
    assert passages.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-6)
    assert least_cosine(passages, case.text_vectors) >= minimum
    questions = np.array([encoder.encode_query(text) for text in case.questions])
    assert least_cosine(questions, case.question_vectors) >= minimum


def test_token_vectors_match_the_original(case: Case) -> None:
    """Each token has its own vector, not that of the token before it."""
    for text, tokens in zip(case.texts, case.encoder.encode_passage_tokens(case.texts), strict=True):
        hidden = case.original.encode_document([text], output_value="token_embeddings", show_progress_bar=False)[0]
        tokenised = case.original.tokenizer(case.document_prompt + text, return_special_tokens_mask=True)
        positions = np.flatnonzero(np.array(tokenised["special_tokens_mask"]) == 0)[-len(tokens.spans) :]
        expected = hidden.numpy()[positions]
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        assert least_cosine(tokens.vectors, expected) >= MIN_TOKEN_COSINE
        if len(positions) > 1:
            assert least_cosine(np.roll(tokens.vectors, 1, axis=0), expected) < MIN_TOKEN_COSINE


def test_token_counts_match_the_original(case: Case) -> None:
    tokenizer = case.original.tokenizer
    counts = [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in case.questions]
    assert case.encoder.count_tokens(case.questions) == counts
    prompt = tokenizer(case.document_prompt, add_special_tokens=False)["input_ids"]
    prompt_tokens = len(prompt) + 1 if prompt else 0
    assert case.original.max_seq_length == MAX_LENGTH
    assert case.encoder.max_tokens == MAX_LENGTH - tokenizer.num_special_tokens_to_add() - prompt_tokens


def test_token_ids_and_spans_match_the_original(case: Case) -> None:
    tokenizer = ModelTokenizer(case.model)
    query_prompt, passage_prompt = tokenizer.parameters.query_prompt, tokenizer.parameters.passage_prompt
    assert (query_prompt, passage_prompt) == (case.original.prompts.get("query") or "", case.document_prompt)
    passages = tokenizer.tokenise(case.texts, prompt=passage_prompt)
    expected = case.original.tokenizer([passage_prompt + text for text in case.texts], return_offsets_mapping=True)
    assert [passage.ids for passage in passages] == expected["input_ids"]
    start_of_text = len(passage_prompt)
    for passage, offsets in zip(passages, expected["offset_mapping"], strict=True):
        spans = [(start - start_of_text, end - start_of_text) for start, end in offsets if end > start_of_text]
        assert passage.spans.tolist() == [[max(start, 0), end] for start, end in spans]
    truncated = [tokenizer.truncate(text, prompt=query_prompt).ids for text in case.questions]
    expected = case.original.tokenizer([query_prompt + text for text in case.questions], truncation=True)
    assert truncated == expected["input_ids"]
    assert len(truncated[-1]) == MAX_LENGTH


def test_known_scripts_are_distinguished_from_unknown_ones(case: Case) -> None:
    """The vocabularies have English and German words, and at most letters of Russian."""
    known = "The reviewers read eleven submissions über die größere Brücke."
    assert case.encoder.unknown_token_ratio(known) < MAX_UNKNOWN
    assert case.encoder.unknown_token_ratio("Кто выиграл чемпионат мира?") > MAX_UNKNOWN
