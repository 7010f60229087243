"""A model's parameters are read from the loaded model once, and then from a cache for exactly that model."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from corpus.errors import ModelError
from index.encoder import sentence_transformer as module
from index.encoder.model_files import ModelFiles, find
from index.encoder.sentence_transformer import EncoderParameters, load_parameters
from index.encoder.tokenizer import ModelTokenizer
from tests.small_models import build, default_with

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    return find(str(build("xlm-roberta-prompts", tmp_path_factory.mktemp("models"))))


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that were loaded."""
    loaded: list[str] = []
    load = module.load_network

    def recording(model: ModelFiles) -> object:
        loaded.append(model.name)
        return load(model)

    monkeypatch.setattr(module, "load_network", recording)
    return loaded


def test_the_default_reads_254_tokens_into_384_dimensions() -> None:
    """As in the loaded model, although it is not loaded, as its files are pinned."""
    parameters, tokenizer_json = load_parameters(find())
    inspected, inspected_tokenizer = module.inspect_model(find())
    assert parameters == inspected == EncoderParameters(256, 512, 384, 384, 0, INPUTS, "", "")
    settings = {"truncation": None, "padding": None}
    assert json.loads(tokenizer_json) | settings == json.loads(inspected_tokenizer) | settings
    tokenizer = ModelTokenizer(find())
    assert tokenizer.max_tokens == 254
    assert tokenizer.count(["hello world", "", "cat " * 500]) == [2, 0, 500]  # nothing is truncated


def test_the_model_is_loaded_once(cache: Path, loads: list[str], small: ModelFiles) -> None:
    first = load_parameters(small)
    assert (first[0].query_prompt, first[0].passage_prompt) == ("query: ", "passage: ")
    assert load_parameters(small) == first
    assert loads == [small.name]


@pytest.mark.parametrize("fault", ["damaged", "of another model"])
def test_damaged_or_foreign_cache_is_not_used(cache: Path, loads: list[str], small: ModelFiles, fault: str) -> None:
    first = load_parameters(small)
    (file,) = (cache / "qa" / "parameters").iterdir()
    model = small
    if fault == "damaged":
        file.write_bytes(file.read_bytes().replace(b"robots", b"robotz", 1))
    else:
        model = ModelFiles(small.name, small.folder, small.fingerprint[:32] + "0" * 32)
    for _ in range(2):
        assert load_parameters(model) == first
        assert len(loads) == 2


def test_without_a_cache_the_model_is_loaded_every_time(
    monkeypatch: pytest.MonkeyPatch, loads: list[str], small: ModelFiles
) -> None:
    monkeypatch.setattr(module, "cache_folder", lambda: Path(os.devnull))
    assert load_parameters(small) == load_parameters(small)
    assert len(loads) == 2


def test_the_maximum_length_is_limited_by_the_positions(tmp_path: Path, cache: Path) -> None:
    """Whatever the settings say; RoBERTa's positions begin after the padding token's id."""
    folder = build("roberta-mean", tmp_path)
    for name, key in (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        settings = json.loads((folder / name).read_text(encoding="utf-8")) | {key: 1000}
        (folder / name).write_text(json.dumps(settings), encoding="utf-8")
    parameters, _ = load_parameters(find(str(folder)))
    assert (parameters.max_length, parameters.positions) == (158, 158)


def test_prompts_are_subtracted_from_the_maximum_length_and_from_the_tokens(tmp_path: Path, cache: Path) -> None:
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    tokenizer = ModelTokenizer(find(str(default_with(tmp_path / "m", {"config_sentence_transformers.json": prompts}))))
    assert (tokenizer.parameters.query_prompt, tokenizer.parameters.passage_prompt) == ("query: ", "passage: ")
    assert tokenizer.max_tokens == 254 - 2 - 1
    (tokens,) = tokenizer.tokenise(["a cat"], prompt="passage: ")
    assert (len(tokens.ids), tokens.kept, tokens.spans.tolist()) == (6, [3, 4], [[0, 1], [2, 5]])
    assert tokenizer.prompt_length("passage: ") == 3


def test_a_model_that_is_not_a_text_encoder_is_refused(
    cache: Path, monkeypatch: pytest.MonkeyPatch, small: ModelFiles
) -> None:
    monkeypatch.setattr(module, "load_network", lambda _: SimpleNamespace(tokenizer=SimpleNamespace(is_fast=1)))
    with pytest.raises(ModelError, match="cannot be used: AttributeError"):
        load_parameters(small)
