"""A cross-encoder returns the same scores as its library; other models are refused."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.errors import ModelError
from index.encoder.cross_encoder import load_cross_encoder
from index.encoder.devices import Device
from index.encoder.model_files import find
from tests import small_models

QUESTION = "Which paper won the award?"
TEXTS = [line for line in small_models.CORPUS.splitlines() for _ in range(3)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_models.cross_encoder(tmp_path_factory.mktemp("models") / "scores")


def load_original(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import CrossEncoder
    return CrossEncoder(str(folder), device="cpu", local_files_only=True)


def test_scores_match_the_library(folder: Path) -> None:
    """In the order of the texts, over several batches, and with a text that is truncated."""
    texts = [*TEXTS, " ".join(small_models.CORPUS.split())]
    model = load_cross_encoder(str(folder), Device.CPU)
    scores = model.scores(QUESTION, texts)
    expected = load_original(folder).predict([(QUESTION, text) for text in texts], show_progress_bar=False)
    assert scores.shape == (len(texts),)
    assert scores.dtype == np.float64
    assert np.allclose(scores, expected, atol=1e-5)
    assert np.ptp(expected) > 0.01
    assert np.array_equal(load_cross_encoder(str(folder)).scores(QUESTION, texts), scores)
    assert model.scores(QUESTION, []).shape == (0,)


def test_model_is_loaded_on_first_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing library is an error only then."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    model = load_cross_encoder(str(folder))
    assert model.name == str(folder)
    with pytest.raises(ModelError, match="needs torch here, which is missing: pip install sentence-transformers"):
        model.scores(QUESTION, TEXTS)


def test_a_model_with_several_labels_is_refused(tmp_path: Path) -> None:
    model = load_cross_encoder(str(small_models.cross_encoder(tmp_path / "labels", labels=3)))
    with pytest.raises(ModelError, match=r"labels has 3 labels instead of one score\. Choose another\."):
        model.scores(QUESTION, TEXTS)


def test_a_model_that_returns_no_scores_is_refused() -> None:
    """The library would add a randomly initialised head."""
    with pytest.raises(ModelError, match=r"gives no scores: it is BertModel\. Choose a cross-encoder, such as"):
        load_cross_encoder(find().name)


def test_an_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an owner, it is looked up among the library's own cross-encoders."""
    requested: list[str] = []

    def fail(repository: str, **_: object) -> str:
        requested.append(repository)
        raise OSError("not there")

    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    monkeypatch.setattr(huggingface_hub, "model_info", fail)
    for name in ("nowhere", "someone/nowhere"):
        message = (
            f"the model {name} is not on this machine, and the hub says: not there. .* without --rerank-model, none"
        )
        with pytest.raises(ModelError, match=message) as caught:
            load_cross_encoder(name)
        assert "pip install" not in str(caught.value)  # that would be the encoder
    assert requested == ["cross-encoder/nowhere", "cross-encoder/nowhere", "someone/nowhere", "someone/nowhere"]


def test_an_invalid_name_is_refused() -> None:
    with pytest.raises(ModelError, match=r"the name of a model\. Name a cross-encoder, such as"):
        load_cross_encoder("no such model!/x/y")


def test_nan_scores_are_an_error(tmp_path: Path) -> None:
    model = small_models.cross_encoder(tmp_path / "nan")
    from safetensors.numpy import load_file, save_file

    tensors = load_file(model / "model.safetensors")
    save_file(tensors | {"classifier.bias": np.array([np.nan], dtype=np.float32)}, model / "model.safetensors")
    with pytest.raises(ModelError, match="does not give a number for each text"):
        load_cross_encoder(str(model)).scores(QUESTION, TEXTS)


def test_a_model_without_architectures_is_refused(tmp_path: Path, folder: Path) -> None:
    model = shutil.copytree(folder, tmp_path / "unnamed")
    settings = json.loads((model / "config.json").read_text(encoding="utf-8"))
    settings.pop("architectures")
    (model / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(ModelError, match=r"config\.json cannot be read"):
        load_cross_encoder(str(model))
