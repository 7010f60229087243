"""Every kind of model, compiled, gives the same vectors and reads the same tokens as in sentence-transformers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
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
# More than any model here reads. Reversed, so that it does not begin like the longest text, which is from the corpus.
TOO_LONG = " ".join(reversed(CORPUS.split()))
# Least cosine of a text's vector with the original's, as strict as the check of a compiled copy.
AGREEMENT = 0.9995
# The same for single tokens, whose rounding errors in bf16 are not averaged out.
TOKEN_AGREEMENT = 0.98


@dataclass(frozen=True)
class Case:
    """A small model as this project runs it and as its own library does, with the vectors of the latter in fp32.

    Attributes:
        texts: The texts to embed; the last one is about as long as a passage may be.
        questions: The texts, and one that is truncated.
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


@pytest.fixture(scope="module")
def case_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Case]]:
    """Return models by name, each built once, with a temporary cache for their compiled copies."""
    folder = tmp_path_factory.mktemp("models")

    @functools.cache
    def make(kind: str) -> Case:
        model = find(str(build(kind, folder)))
        encoder = CompiledEncoder(model)
        original = load(model.folder)
        texts = [*TEXTS, longest(encoder)]
        questions = [*texts, TOO_LONG]
        text_vectors = original.encode_document(texts, normalize_embeddings=True, show_progress_bar=False)
        question_vectors = original.encode_query(questions, normalize_embeddings=True, show_progress_bar=False)
        return Case(model, encoder, original, texts, questions, text_vectors, question_vectors)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(compiled_copy, "Hint", (Hint.THROUGHPUT,))  # not prepared for the other one, which none uses
        yield make


# All of "bert-mean" is in the others: BERT, and mean pooling.
@pytest.fixture(params=[kind for kind in BUILDERS if kind != "bert-mean"])
def case(request: pytest.FixtureRequest, case_of: Callable[[str], Case]) -> Case:
    return case_of(request.param)


def longest(encoder: CompiledEncoder) -> str:
    """Return as many words as fit into a passage."""
    words = CORPUS.split()
    candidates = (" ".join(words[:size]) for size in range(len(words), 0, -1))
    return next(text for text in candidates if encoder.count_tokens([text])[0] <= encoder.max_tokens)


def least(found: Vectors, expected: Vectors) -> float:
    """Return the least cosine of the unit vectors in corresponding rows."""
    assert found.shape == expected.shape
    return float(np.min(np.sum(found * expected, axis=1)))


def characters(text: str) -> set[int]:
    """Return the positions of all characters that are not white space."""
    return {place for place, sign in enumerate(text) if not sign.isspace()}


def test_passage_vectors_match_the_original(case: Case) -> None:
    found = case.encoder.encode_passages(case.texts)
    size = {"bert-cls-dense": SHORTENED, "bert-joined": 2 * HIDDEN}.get(case.model.folder.name, HIDDEN)
    assert found.shape == (len(case.texts), size)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-6)
    assert least(found, case.text_vectors) >= AGREEMENT


def test_question_vectors_match_the_original(case: Case) -> None:
    """Including a question longer than the model reads."""
    assert case.encoder.count_tokens(case.questions[-1:])[0] > MAX_LENGTH
    found = np.array([case.encoder.encode_query(text) for text in case.questions])
    assert least(found, case.question_vectors) >= AGREEMENT


def test_torch_vectors_match_the_original(case: Case) -> None:
    """A little less exactly, as it runs in bf16 throughout."""
    encoder = TorchEncoder(case.model)
    assert least(encoder.encode_passages(case.texts), case.text_vectors) >= 0.999
    found = np.array([encoder.encode_query(text) for text in case.questions])
    assert least(found, case.question_vectors) >= 0.999


def test_token_vectors_match_the_original(case: Case) -> None:
    """Each token has its own vector, not that of the token before it."""
    for text, found in zip(case.texts, case.encoder.encode_passage_tokens(case.texts), strict=True):
        whole = case.original.encode_document([text], output_value="token_embeddings", show_progress_bar=False)[0]
        read = case.original.tokenizer(case.document_prompt + text, return_special_tokens_mask=True)
        own = np.flatnonzero(np.array(read["special_tokens_mask"]) == 0)[-len(found.spans) :]
        expected = whole.numpy()[own]
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        assert least(found.vectors, expected) >= TOKEN_AGREEMENT
        if len(own) > 1:
            assert least(np.roll(found.vectors, 1, axis=0), expected) < TOKEN_AGREEMENT


def test_tokens_cover_their_characters(case: Case) -> None:
    """Spans are in order, cover all but white space, and are those of the original's tokenizer."""
    prompt = len(case.document_prompt)
    for text, found in zip(case.texts, case.encoder.encode_passage_tokens(case.texts), strict=True):
        spans = [(start, end) for start, end in found.spans.tolist()]
        assert {place for span in spans for place in range(*span)} == characters(text)
        assert spans == sorted(spans)
        read = case.original.tokenizer(case.document_prompt + text, return_offsets_mapping=True)
        offsets = [(max(start - prompt, 0), end - prompt) for start, end in read["offset_mapping"]]
        assert spans == [span for span in offsets if span[1] > 0]


def test_a_truncated_question_keeps_its_first_tokens(case: Case) -> None:
    found = case.encoder.encode_query_tokens(TOO_LONG)
    end = int(found.spans[-1, 1])
    assert {place for span in found.spans.tolist() for place in range(*span)} == characters(TOO_LONG[:end])
    assert case.encoder.count_tokens([TOO_LONG[:end]])[0] == len(found.spans) == len(found.vectors)
    assert len(found.spans) > MAX_LENGTH - 6


def test_token_counts_match_the_original(case: Case) -> None:
    tokenizer = case.original.tokenizer
    count = [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in case.questions]
    assert case.encoder.count_tokens(case.questions) == count
    prompt = tokenizer(case.document_prompt, add_special_tokens=False)["input_ids"]
    taken = len(prompt) + 1 if prompt else 0
    assert case.original.max_seq_length == MAX_LENGTH
    assert case.encoder.max_tokens == MAX_LENGTH - tokenizer.num_special_tokens_to_add() - taken


def test_token_ids_match_the_original(case: Case) -> None:
    tokens = ModelTokenizer(case.model)
    query, passage = tokens.parameters.query_prompt, tokens.parameters.passage_prompt
    assert (query, passage) == (case.original.prompts.get("query") or "", case.document_prompt)
    reads = tokens.tokenise(case.texts, prompt=passage)
    expected = case.original.tokenizer([passage + text for text in case.texts])
    assert [read.ids for read in reads] == expected["input_ids"]
    cut = [tokens.truncate(text, prompt=query).ids for text in case.questions]
    expected = case.original.tokenizer([query + text for text in case.questions], truncation=True)
    assert cut == expected["input_ids"]
    assert len(cut[-1]) == MAX_LENGTH


def test_known_text_is_told_from_unknown_text(case: Case) -> None:
    """The vocabularies have English and German words, and at most letters of Russian."""
    known = "The reviewers read eleven submissions über die größere Brücke."
    assert case.encoder.unknown_token_ratio(known) < MAX_UNKNOWN
    assert case.encoder.unknown_token_ratio("Кто выиграл чемпионат мира?") > MAX_UNKNOWN


def test_a_passage_of_the_maximum_length_is_read_whole(case: Case) -> None:
    whole = case.texts[-1]
    assert case.encoder.count_tokens([whole])[0] > case.encoder.max_tokens - 10
    assert len(case.original.tokenizer(case.document_prompt + whole)["input_ids"]) <= MAX_LENGTH
    with pytest.raises(ValueError, match=r"a passage has \d+ tokens and the model reads"):
        case.encoder.encode_passages([f"{whole} {TEXTS[0] * 10}"])
