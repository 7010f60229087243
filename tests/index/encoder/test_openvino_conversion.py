"""Attention written out as basic operations gives the same results, whatever its mask."""

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


def attended(mask: str, *, causal: bool = False, scaled: bool = False) -> Any:
    """A model with one attention layer over embedded token ids."""
    ids = operations.parameter([-1, -1], np.int64, name="input_ids")
    padding = operations.parameter([-1, -1], np.int64, name="attention_mask")
    table = np.random.default_rng(0).standard_normal((20, 3 * HEADS * SIZE)).astype(np.float32)
    rows = operations.gather(operations.constant(table), ids, operations.constant(0))
    shape = operations.constant(np.array([0, 0, 3 * HEADS, SIZE]))
    whole = operations.transpose(
        operations.reshape(rows, shape, special_zero=True), operations.constant(np.array([0, 2, 1, 3]))
    )
    parts = operations.split(whole, operations.constant(1), 3).outputs()
    others = masks(padding)[mask]
    if scaled:
        others = [*(others or [operations.constant(np.float32(0))]), operations.constant(np.float32(0.7))]
    found = operations.scaled_dot_product_attention(*parts, *others, causal=causal)
    return library.Model([found], [ids, padding])


def masks(padding: Any) -> dict[str, list[Any]]:
    shown = operations.unsqueeze(operations.greater(padding, operations.constant(0)), operations.constant([1, 2]))
    length = operations.gather(operations.shape_of(padding), operations.constant(1), operations.constant(0))
    places = operations.range(operations.constant(0), length, operations.constant(1), "i64")
    down = operations.unsqueeze(places, operations.constant(1))
    apart = operations.abs(operations.subtract(places, down))
    anywhere = operations.greater_equal(down, operations.constant(0))
    near = operations.less(apart, operations.constant(9))
    bias = operations.multiply(operations.convert(apart, "f32"), operations.constant(np.float32(-0.1)))
    return {
        "none": [],
        "padding": [operations.logical_and(shown, anywhere)],
        "a window": [operations.logical_and(shown, near)],
        "a bias": [operations.unsqueeze(bias, operations.constant([0, 1]))],
    }


def ran(model: Any) -> list[Any]:
    network = library.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    rng = np.random.default_rng(1)
    found = []
    for length in (1, 5, LONGEST):
        ids = rng.integers(0, 20, (3, length))
        padding = np.ones((3, length), dtype=np.int64)
        padding[1, max(1, length // 2) :] = 0
        found.append(network([ids, padding])[0])
    return found


def kinds(model: Any) -> Counter[str]:
    return Counter(node.get_type_name() for node in model.get_ordered_ops())


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("mask", ["none", "padding", "a window", "a bias"])
def test_rewritten_attention_gives_the_same_results(mask: str, scaled: bool) -> None:
    model = attended(mask, scaled=scaled)
    expected = ran(model)
    write_out_attention(library, model, 1, LONGEST)
    left = kinds(model)
    assert left["ScaledDotProductAttention"] == 0
    assert (left["MatMul"], left["Softmax"]) == (2, 1)
    for one, other in zip(ran(model), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_padding_only_mask_is_simplified() -> None:
    model = attended("padding")
    write_out_attention(library, model, 1, LONGEST)
    assert not {"Range", "GreaterEqual", "LogicalAnd"} & set(kinds(model))


def test_causal_attention_is_left_alone() -> None:
    model = attended("none", causal=True)
    before = kinds(model)
    write_out_attention(library, model, 1, LONGEST)
    assert kinds(model) == before
