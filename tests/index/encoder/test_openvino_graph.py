"""The default model's graph, written from its weights: what torch computes, without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from index.compiled.bert import BertBuilder
from index.compiled.runtime import CompileError
from index.encoder.model_files import find
from index.encoder.openvino_backend import CompiledEncoder
from index.encoder.openvino_graph import REFERENCE_VECTORS
from tests.reference_vectors import reference_vectors


def test_the_stored_vectors_are_those_of_the_sentence_transformer() -> None:
    stored = np.load(REFERENCE_VECTORS)
    assert stored.dtype == np.float16
    assert np.allclose(stored, reference_vectors(), atol=1e-3, rtol=0)


def test_the_default_model_needs_no_torch(tmp_path: Path) -> None:
    """Nor the other libraries for training: where they are not installed, a collection is built and asked."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Harbour\n\nThe harbour closes at dusk.\n", encoding="utf-8")
    program = (
        "import sys\nfor name in ('torch', 'transformers', 'sentence_transformers'):\n    sys.modules[name] = None\n"
        "from qa import Retriever, build_index\nbuild_index('notes')\n"
        "print(Retriever.open('notes').ask('When does the harbour close?').answer.text)"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.removeprefix("at ") == "dusk\n"
    assert "preparing sentence-transformers/all-MiniLM-L6-v2" in found.stderr


@pytest.mark.parametrize("mistake", ["zeroed weights", "exchanged weights", "first token", "padding too"])
def test_another_graph_is_noticed(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With other weights, or a pooling of the first token, or of padding too."""

    def damaged(path: Path) -> dict[str, Any]:
        tensors = load_file(path)
        first, second = (f"encoder.layer.{layer}.attention.self.query.weight" for layer in (2, 3))
        if mistake == "zeroed weights":
            tensors[first] = tensors[first] * 0
        elif mistake == "exchanged weights":
            tensors[first], tensors[second] = tensors[second], tensors[first]
        return tensors

    def pooled(self: BertBuilder, hidden: Any, mask: Any) -> Any:
        op = self._operations
        first = op.gather(hidden, op.constant(np.int64(0)), op.constant(np.int64(1)))
        return first if mistake == "first token" else op.reduce_mean(hidden, self._ints(1))

    monkeypatch.setattr("safetensors.numpy.load_file", damaged)
    if "weights" not in mistake:
        monkeypatch.setattr(BertBuilder, "mean", pooled)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(CompileError, match="does not give the vectors of the original"):
        CompiledEncoder(find()).prepare()
