"""The default model's graph, built from its weights without torch, computes the same as torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from index.compiled.bert import BertBuilder
from index.compiled.runtime import CompileError, openvino
from index.encoder.model_files import find
from index.encoder.openvino_graph import REFERENCE_VECTORS, encoder_copy
from tests.index.conftest import run_code
from tests.reference_vectors import reference_vectors


def test_stored_vectors_match_sentence_transformer() -> None:
    stored = np.load(REFERENCE_VECTORS)
    assert stored.dtype == np.float16
    assert np.allclose(stored, reference_vectors(), atol=1e-3, rtol=0)


def test_the_default_model_needs_no_torch(tmp_path: Path) -> None:
    """A collection can be built and asked without torch and the libraries around it, in eight bits too."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Harbour\n\nThe harbour closes at dusk.\n", encoding="utf-8")
    program = (
        "import sys\nfor name in ('torch', 'transformers', 'sentence_transformers'):\n    sys.modules[name] = None\n"
        "from pathlib import Path\nfrom index.compiled import runtime\nruntime._PROCESSORS = Path('none with 8 bits')\n"
        "from qa import Retriever, build_index\nbuild_index(sys.argv[1])\n"
        "print(Retriever.open(sys.argv[1]).ask('When does the harbour close?').answer.text)"
    )
    done = run_code(program, tmp_path / "notes", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.stdout.removeprefix("at ") == "dusk\n"
    assert "preparing sentence-transformers/all-MiniLM-L6-v2" in done.stderr


@pytest.mark.parametrize("mistake", ["wrong weights", "weights that are NaN", "first token", "padding too"])
def test_a_wrong_graph_is_detected(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the weights are wrong, or only the first token is pooled, or padding is pooled too."""

    def load_damaged(path: Path) -> dict[str, Any]:
        tensors = load_file(path)
        if "weights" in mistake:
            tensors["encoder.layer.2.attention.self.query.weight"][:] = np.nan if "NaN" in mistake else 0
        return tensors

    def wrong_pooling(self: BertBuilder, hidden: Any, mask: Any) -> Any:
        op = self._operations
        first = op.gather(hidden, op.constant(np.int64(0)), op.constant(np.int64(1)))
        return first if mistake == "first token" else op.reduce_mean(hidden, self._ints(1))

    monkeypatch.setattr("safetensors.numpy.load_file", load_damaged)
    if "weights" not in mistake:
        monkeypatch.setattr(BertBuilder, "mean", wrong_pooling)
    with openvino() as library:
        graph, check = encoder_copy(find())._build(library)
        compiled = library.Core().compile_model(graph, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    with pytest.raises(CompileError, match="does not give the vectors of the original"):
        check(compiled, quantised=False)
