"""The real model: one text has one vector, and it is the model's."""

from __future__ import annotations

import json
import os
import random
import warnings
from pathlib import Path

import numpy as np
import pytest

from corpus.errors import ModelError
from index.models import Model, find
from index.torch_encoder import TorchEncoder

SENTENCES = [
    "The cat sat on the mat.",
    "A kitten rests upon the rug.",
    "Adversarial training improves robustness at the cost of accuracy.",
    "Where is the poster session?",
    "NeurIPS 2023 took place in New Orleans.",
    "naïve café, résumé",
    "3.5 per cent of 1,000 papers",
    "x",
    "",
    "A longer sentence that goes on and on about how encoders read text, " * 8,
]


@pytest.fixture(scope="module")
def encoder() -> TorchEncoder:
    return TorchEncoder(find())


def test_a_vector_depends_on_its_text_alone(encoder: TorchEncoder) -> None:
    """Bit for bit: in any order, in any company, alone, and where a text fills its batch's whole width."""
    rng = random.Random(1)  # noqa: S311 - reproducible, not secret
    lengths = [1, 13, 14, 15, 29, 30, 31, 253, 254, *(rng.randint(1, 120) for _ in range(20))]
    texts = [" ".join(rng.choice(["cat", "dog", "talk", "sea", "two"]) for _ in range(size)) for size in lengths]
    expected = encoder.encode_passages(texts)
    order = rng.sample(range(len(texts)), len(texts))
    shuffled = encoder.encode_passages([texts[place] for place in order])
    assert np.array_equal(shuffled, expected[order])
    alone = [0, 1, 2, 3, 5, 8, 12]
    assert all(np.array_equal(encoder.encode_passages([texts[place]])[0], expected[place]) for place in alone)
    tokens = encoder.encode_passage_tokens(texts[:10])
    assert all(
        np.array_equal(encoder.encode_passage_tokens([texts[place]])[0].vectors, tokens[place].vectors)
        for place in range(0, 10, 3)
    )


def test_vectors_are_those_of_the_sentence_transformer(encoder: TorchEncoder) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer

        reference = SentenceTransformer(str(find().folder), device="cpu", local_files_only=True)
        expected = reference.encode(SENTENCES, normalize_embeddings=True, show_progress_bar=False)
    passages = encoder.encode_passages(SENTENCES)
    assert passages.shape == (10, 384)
    assert passages.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-6)
    assert np.min(np.sum(passages * expected, axis=1)) >= 0.999
    queries = np.array([encoder.encode_query(text) for text in SENTENCES])
    assert np.min(np.sum(queries * expected, axis=1)) >= 0.999


def test_token_vectors_stand_for_their_characters(encoder: TorchEncoder) -> None:
    text = "What's naïve robustness?"
    found = encoder.encode_query_tokens(text)
    words = [text[start:end] for start, end in found.spans]
    assert words == ["What", "'", "s", "naïve", "robust", "ness", "?"]
    assert found.vectors.shape == (7, 384)
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1.0, atol=1e-6)
    (passage,) = encoder.encode_passage_tokens([text])
    assert np.array_equal(passage.spans, found.spans)
    assert np.min(np.sum(passage.vectors * found.vectors, axis=1)) >= 0.99
    assert encoder.encode_query_tokens("").vectors.shape == (0, 384)


def test_nothing_is_silently_lost(encoder: TorchEncoder) -> None:
    assert encoder.encode_passages(["cat " * 254]).shape == (1, 384)
    for encode in (encoder.encode_passages, encoder.encode_passage_tokens):
        with pytest.raises(ValueError, match="a passage has 255 tokens and the model reads 254"):
            encode(["short", "cat " * 255])


def test_a_question_past_the_limit_is_cut(encoder: TorchEncoder) -> None:
    assert np.array_equal(encoder.encode_query("cat " * 999), encoder.encode_query("cat " * 254))


def test_no_texts_give_no_vectors(encoder: TorchEncoder) -> None:
    assert encoder.encode_passages([]).shape == (0, 384)
    assert encoder.encode_passage_tokens([]) == []


def test_loading_leaves_the_environment_as_it_was(encoder: TorchEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMERS_OFFLINE", "0")
    before = dict(os.environ)
    TorchEncoder(find()).encode_query("x")
    assert dict(os.environ) == before
    from huggingface_hub import constants

    assert constants.HF_HUB_OFFLINE is False


def test_weights_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for file in find().folder.rglob("*.*"):
        if file.is_file() and file.name != "model.safetensors":
            target = tmp_path / file.relative_to(find().folder)
            target.parent.mkdir(exist_ok=True)
            target.symlink_to(file)
    (tmp_path / "model.safetensors").write_bytes(b"junk")
    broken = TorchEncoder(Model("broken", tmp_path, "0" * 64))
    assert broken.count_tokens(["still counts"]) == [2]
    with pytest.raises(ModelError, match=r"the model broken in .* cannot be loaded"):
        broken.encode_query("x")


def variant(folder: Path, file: str, **values: object) -> Model:
    """The default model with settings of its own."""
    for source in find().folder.rglob("*.*"):
        if source.is_file():
            target = folder / source.relative_to(find().folder)
            target.parent.mkdir(exist_ok=True)
            target.symlink_to(source)
    content = json.loads((folder / file).read_text(encoding="utf-8")) | values
    (folder / file).unlink()
    (folder / file).write_text(json.dumps(content), encoding="utf-8")
    return find(str(folder))


def test_prompts_are_read_but_are_no_tokens_of_the_text(tmp_path: Path) -> None:
    """Vectors as sentence-transformers makes them with these prompts; spans count from the text."""
    prompts = {"query": "query: ", "passage": "passage: "}
    model = variant(tmp_path, "config_sentence_transformers.json", prompts=prompts)
    encoder = TorchEncoder(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer

        reference = SentenceTransformer(str(model.folder), device="cpu", local_files_only=True)
        query = reference.encode("cats", prompt="query: ", normalize_embeddings=True, show_progress_bar=False)
        passage = reference.encode("cats", prompt="passage: ", normalize_embeddings=True, show_progress_bar=False)
    assert float(encoder.encode_query("cats") @ query) >= 0.999
    assert float(encoder.encode_passages(["cats"])[0] @ passage) >= 0.999
    assert float(query @ passage) < 0.99
    assert encoder.encode_passage_tokens(["cats sleep"])[0].spans.tolist() == [[0, 4], [5, 10]]


def test_texts_that_fill_all_positions_depend_on_themselves_alone(tmp_path: Path) -> None:
    """At 512 tokens there is no room for padding beside the text, so a row is left free instead."""
    encoder = TorchEncoder(variant(tmp_path, "sentence_bert_config.json", max_seq_length=512))
    assert encoder.max_tokens == 510
    full = ["cat " * 510, "dog " * 510, *(f"sea {'two ' * 508}" for _ in range(6))]
    together = encoder.encode_passages([*full, "talk " * 505])
    assert np.array_equal(encoder.encode_passages(full[:1])[0], together[0])
    assert np.array_equal(encoder.encode_passages([full[1], "talk " * 505]), together[[1, 8]])
