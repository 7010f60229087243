"""Parts of a BERT model in OpenVINO's operations: what torch computes, without torch."""

from __future__ import annotations

import numpy as np
from safetensors.numpy import load_file

from index.compiled.bert import MINILM, BertBuilder
from index.compiled.runtime import openvino
from index.encoder.model_files import find


def test_layers_are_built_from_part_of_the_arrays() -> None:
    """A model that shares the embeddings needs its layers alone."""
    tensors = load_file(find().folder / "model.safetensors")
    own = {name: array for name, array in tensors.items() if name.startswith("encoder.layer.")}
    with openvino() as library:
        operations = library.opset13
        hidden = operations.parameter([-1, -1, 384], np.float32)
        mask = operations.parameter([-1, -1], np.int64)
        states = BertBuilder(library, own, MINILM).layers(hidden, mask)
        assert library.Model([states], [hidden, mask]).output().get_partial_shape().to_string() == "[?,?,384]"
