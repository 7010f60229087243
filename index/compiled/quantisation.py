"""Weights in eight bits: on processors with VNNI but without AMX, a network takes half as long as in float32.

Each group of weights has its own scale. At run time, OpenVINO also rounds the inputs that they are multiplied by to
eight bits, in groups too ("dynamic quantization" in its documentation).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

# Incremented whenever copies in eight bits would differ from earlier ones.
VERSION = 2
# Weights that share a scale: 32 take a third longer; with 128, the errors of vectors are half as large again.
GROUP = 64
_LARGEST = 127


def quantise(library: Any, graph: Any) -> None:
    """Quantise the constant matrices of a graph's products, if their rows can be divided into groups.

    Tables that are looked up are stored in 16 bits: OpenVINO does so itself only with graphs that have no integers.
    """
    operations = library.opset13
    for node in graph.get_ordered_ops():
        if node.get_type_name() == "Gather":
            _halve_table(operations, node)
        if node.get_type_name() != "MatMul":
            continue
        weights = node.input_value(1).get_node()
        attributes = node.get_attributes()
        if weights.get_type_name() != "Constant" or len(weights.shape) != 2:
            continue
        matrix = np.array(weights.data, dtype=np.float32)
        if not attributes["transpose_b"]:
            matrix = matrix.T
        if matrix.shape[1] % GROUP:
            continue
        product = operations.matmul(
            node.input_value(0), _quantise_matrix(operations, matrix), attributes["transpose_a"], transpose_b=True
        )
        for target in list(node.output(0).get_target_inputs()):
            target.replace_source_output(product.output(0))
    graph.validate_nodes_and_infer_types()


def _halve_table(operations: Any, lookup: Any) -> None:
    table = lookup.input_value(0).get_node()
    if table.get_type_name() == "Constant" and table.get_element_type().get_type_name() == "f32":
        halved = operations.constant(np.array(table.data, dtype=np.float16))
        lookup.input(0).replace_source_output(operations.convert(halved, "f32").output(0))


def _quantise_matrix(operations: Any, matrix: npt.NDArray[np.float32]) -> Any:
    """Return a matrix, `(out, in)`, as eight bits times scales, which OpenVINO stores separately."""
    groups = matrix.reshape(len(matrix), -1, GROUP)
    scales = np.abs(groups).max(axis=2, keepdims=True) / _LARGEST
    scales[scales == 0] = 1
    rounded = operations.constant(np.round(groups / scales).astype(np.int8))
    dequantised = operations.multiply(operations.convert(rounded, "f32"), operations.constant(scales))
    return operations.reshape(dequantised, operations.constant(np.array(matrix.shape)), special_zero=False)
