"""Convert a SentenceTransformer to an OpenVINO graph, using torch, with its attention written out as matrix products.

This is a tenth faster. For its attention operation, OpenVINO's CPU plugin multiplies the queries by a constant,
transposes, and selects by a token-by-token mask. Written out, with an additive padding mask, attention is one kernel
and a few transpositions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from index.compiled.bert import MASKED
from index.compiled.runtime import CompileError, convert_model
from index.encoder.model_files import ModelFiles
from index.encoder.sentence_transformer import EncoderParameters, load_network, quiet

_ATTENTION = "ScaledDotProductAttention"


def convert(
    library: Any, model: ModelFiles, parameters: EncoderParameters, texts: Sequence[Sequence[npt.NDArray[np.int64]]]
) -> tuple[Any, list[npt.NDArray[np.float32]]]:
    """Return a model's graph, and the SentenceTransformer's vectors of the given inputs, in float32."""
    network = load_network(model)
    import torch

    prompted = parameters.query_prompt or parameters.passage_prompt
    if prompted and any(not getattr(module, "include_prompt", True) for module in network):
        raise CompileError(f"{model.name} pools without its prompt, which differs from text to text")

    class FullModel(torch.nn.Module):  # type: ignore[misc]  # torch is not typed here
        """The model from token ids to token and text vectors, as one graph."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *arrays: Any) -> tuple[Any, Any]:
            features = self.network(dict(zip(parameters.inputs, arrays, strict=True)))
            return features["token_embeddings"], features["sentence_embedding"]

    full_model = FullModel().eval()
    with quiet(), torch.inference_mode():
        graph = convert_model(full_model, tuple(torch.ones((2, 16), dtype=torch.int64) for _ in parameters.inputs))
        for argument in graph.inputs:
            argument.get_node().set_partial_shape(library.PartialShape([-1, -1]))
            argument.get_node().set_element_type(library.Type.i64)
        write_out_attention(library, graph, parameters.inputs.index("attention_mask"), parameters.max_length)
        return graph, [full_model(*map(torch.from_numpy, arrays))[1].numpy() for arrays in texts]


def write_out_attention(library: Any, graph: Any, padding: int, longest: int) -> None:
    """Write out the attention operations of known kinds; of the inputs, each `(n, t)`, number `padding` is the mask."""
    operations = library.opset13
    masks: dict[tuple[str, int], Any] = {}
    for node in graph.get_ordered_ops():
        if node.get_type_name() != _ATTENTION or node.get_attributes().get("causal") or node.get_input_size() > 5:
            continue
        queries, keys, values, *options = (node.input_value(i) for i in range(node.get_input_size()))
        size = queries.get_partial_shape()[-1]
        if size.is_dynamic:
            continue
        scale = options[1] if len(options) > 1 else operations.constant(np.float32(size.get_length() ** -0.5))
        scores = operations.multiply(operations.matmul(queries, keys, transpose_a=False, transpose_b=True), scale)
        if options:
            mask = options[0]
            name = (mask.get_node().get_friendly_name(), mask.get_index())
            if name not in masks:
                masks[name] = _additive_mask(library, graph, mask, padding, longest)
            scores = operations.add(scores, masks[name])
        attended = operations.matmul(operations.softmax(scores, -1), values, transpose_a=False, transpose_b=False)
        for target in list(node.output(0).get_target_inputs()):
            target.replace_source_output(attended.output(0))
    graph.validate_nodes_and_infer_types()


def _additive_mask(library: Any, graph: Any, mask: Any, padding: int, longest: int) -> Any:
    """Return a mask in the form that is added to the scores."""
    operations = library.opset13
    if mask.get_element_type() != library.Type.boolean:
        return mask
    if _hides_padding_only(library, graph, mask, padding, longest):
        axes = operations.constant(np.array([1, 2]))
        mask = operations.unsqueeze(graph.input(padding).get_node(), axes)
    visible = operations.convert(mask, "f32")
    return operations.multiply(
        operations.subtract(operations.constant(np.float32(1)), visible), operations.constant(np.float32(MASKED))
    )


def _hides_padding_only(library: Any, graph: Any, mask: Any, padding: int, longest: int) -> bool:
    """Return whether each token attends to all others, not only to those in a window around it.

    A window that hides anything does so in the longest text. So run that, without and with padding.
    """
    mask_graph = library.Model([mask], graph.get_parameters())
    full = np.ones((2, longest), dtype=np.int64)
    padded = full.copy()
    padded[1, longest // 2 :] = 0
    compiled = library.Core().compile_model(mask_graph, "CPU")
    actual = compiled([padded if i == padding else full for i in range(len(compiled.inputs))])[0]
    expected = padded[:, np.newaxis, np.newaxis, :] > 0
    return bool(actual.ndim == expected.ndim and (actual == expected).all())
