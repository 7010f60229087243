"""The torch encoder, in addition to the tests of every encoder in `test_protocol.py`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from corpus.errors import ModelError
from index.encoder import torch_backend
from index.encoder.load import load_encoder
from index.encoder.model_files import ModelFiles, find
from index.encoder.torch_backend import TorchEncoder
from tests.small_models import default_with


@pytest.fixture(scope="module")
def encoder() -> TorchEncoder:
    return TorchEncoder(find())


def test_loading_does_not_change_the_environment(encoder: TorchEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder.encode_query("the libraries set variables of their own when they are imported")
    monkeypatch.setenv("TRANSFORMERS_OFFLINE", "0")
    before = dict(os.environ)
    TorchEncoder(find()).encode_query("x")
    assert dict(os.environ) == before
    from huggingface_hub import constants

    # As in the environment of the test run.
    assert constants.HF_HUB_OFFLINE is (os.environ.get("HF_HUB_OFFLINE", "").upper() in constants.ENV_VARS_TRUE_VALUES)


def test_unreadable_weights_are_named(tmp_path: Path) -> None:
    default_with(tmp_path, {})
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "model.safetensors").write_bytes(b"junk")
    with pytest.raises(ModelError, match=r"the model broken in .* cannot be loaded"):
        TorchEncoder(ModelFiles("broken", tmp_path, "0" * 64)).encode_query("x")


def test_missing_torch_is_reported(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    model = find(str(default_with(tmp_path / "model", {})))
    for encoder in (load_encoder(model.name), TorchEncoder(find())):
        with pytest.raises(ModelError, match=r"needs torch.* missing: pip install sentence-transformers"):
            encoder.encode_query("x")


def test_vector_of_a_maximum_length_text_depends_only_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 512 tokens there is no room for padding, so a row is left empty instead."""
    monkeypatch.setattr(torch_backend, "_ROWS", 2)
    encoder = TorchEncoder(find(str(default_with(tmp_path, {"sentence_bert_config.json": {"max_seq_length": 512}}))))
    assert encoder.max_tokens == 510
    together = encoder.encode_passages(["cat " * 510, f"sea {'two ' * 509}"])
    assert np.array_equal(encoder.encode_passages(["cat " * 510])[0], together[0])
