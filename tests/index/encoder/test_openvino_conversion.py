"""Attention written out as basic operations gives the same results with any mask."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from index.compiled.runtime import openvino
from index.encoder.openvino_conversion import write_out_attention

with openvino() as library:
    operations = library.opset13

HEADS, SIZE, LONGEST = 3, 8, 12


def attention_model(mask: str, *, causal: bool = False, scaled: bool = False) -> Any:
    """Return a model with a single attention layer over embedded token ids."""
    ids = operations.parameter([-1, -1], np.int64, name="input_ids")
    padding = operations.parameter([-1, -1], np.int64, name="attention_mask")
    table = np.random.default_rng(0).standard_normal((20, 3 * HEADS * SIZE)).astype(np.float32)
    rows = operations.gather(operations.constant(table), ids, operations.constant(0))
    shape = operations.constant(np.array([0, 0, 3 * HEADS, SIZE]))
    projected = operations.transpose(
        operations.reshape(rows, shape, special_zero=True), operations.constant(np.array([0, 2, 1, 3]))
    )
    queries_keys_values = operations.split(projected, operations.constant(1), 3).outputs()
    options = masks(padding)[mask]
    if scaled:
        options = [*(options or [operations.constant(np.float32(0))]), operations.constant(np.float32(0.7))]
    attended = operations.scaled_dot_product_attention(*queries_keys_values, *options, causal=causal)
    return library.Model([attended], [ids, padding])


def masks(padding: Any) -> dict[str, list[Any]]:
    visible = operations.unsqueeze(operations.greater(padding, operations.constant(0)), operations.constant([1, 2]))
    length = operations.gather(operations.shape_of(padding), operations.constant(1), operations.constant(0))
    positions = operations.range(operations.constant(0), length, operations.constant(1), "i64")
    rows = operations.unsqueeze(positions, operations.constant(1))
    distance = operations.abs(operations.subtract(positions, rows))
    anywhere = operations.greater_equal(rows, operations.constant(0))
    near = operations.less(distance, operations.constant(9))
    bias = operations.multiply(operations.convert(distance, "f32"), operations.constant(np.float32(-0.1)))
    return {
        "none": [],
        "padding": [operations.logical_and(visible, anywhere)],
        "a window": [operations.logical_and(visible, near)],
        "a bias": [operations.unsqueeze(bias, operations.constant([0, 1]))],
    }


def run(model: Any) -> list[Any]:
    network = library.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    rng = np.random.default_rng(1)
    outputs = []
    for length in (1, 5, LONGEST):
        ids = rng.integers(0, 20, (3, length))
        padding = np.ones((3, length), dtype=np.int64)
        padding[1, max(1, length // 2) :] = 0
        outputs.append(network([ids, padding])[0])
    return outputs


def operation_counts(model: Any) -> Counter[str]:
    return Counter(node.get_type_name() for node in model.get_ordered_ops())


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("mask", ["none", "padding", "a window", "a bias"])
def test_rewritten_attention_gives_the_same_results(mask: str, scaled: bool) -> None:
    model = attention_model(mask, scaled=scaled)
    expected = run(model)
    write_out_attention(library, model, 1, LONGEST)
    remaining = operation_counts(model)
    assert remaining["ScaledDotProductAttention"] == 0
    assert (remaining["MatMul"], remaining["Softmax"]) == (2, 1)
    for output, original in zip(run(model), expected, strict=True):
        np.testing.assert_allclose(output, original, atol=1e-5)


def test_padding_only_mask_is_simplified() -> None:
    model = attention_model("padding")
    write_out_attention(library, model, 1, LONGEST)
    assert not {"Range", "GreaterEqual", "LogicalAnd"} & set(operation_counts(model))


def test_causal_attention_is_not_rewritten() -> None:
    model = attention_model("none", causal=True)
    before = operation_counts(model)
    write_out_attention(library, model, 1, LONGEST)
    assert operation_counts(model) == before
