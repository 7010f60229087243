"""BERT (Devlin et al., https://arxiv.org/abs/1810.04805) in OpenVINO's operations, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

# Added to a score, it makes the softmax zero, in bf16 too.
MASKED = -3e4
# What the default model's weights do not reveal, as in its `config.json`: num_hidden_layers, num_attention_heads, and
# layer_norm_eps.
_LAYERS, _HEADS, _EPSILON = 6, 12, 1e-12


class BertBuilder:
    """Adds the parts of a BERT model of the default model's shape to a graph.

    Args:
        tensors: Arrays by their names in a safetensors file of `BertModel`; only the parts that are added need theirs.
    """

    def __init__(self, library: Any, tensors: Mapping[str, npt.NDArray[Any]]) -> None:
        self._operations = library.opset13
        self._tensors = tensors

    def embeddings(self, ids: Any, types: Any) -> Any:
        """Return the first layer's input, `(n, t, hidden)`, from ids and segments of tokens, `(n, t) int64`."""
        op = self._operations
        length = op.gather(op.shape_of(ids), self._ints(1), op.constant(np.int64(0)))
        count = self._tensors["embeddings.position_embeddings.weight"].shape[0]
        positions = op.slice(
            op.constant(np.arange(count, dtype=np.int64)[np.newaxis]),
            self._ints(0),
            length,
            self._ints(1),
            self._ints(1),
        )
        words, token_types, position_vectors = (
            op.gather(self._tensor(f"embeddings.{name}_embeddings.weight"), indexes, op.constant(np.int64(0)))
            for name, indexes in (("word", ids), ("token_type", types), ("position", positions))
        )
        return self.norm(op.add(op.add(words, token_types), position_vectors), "embeddings.LayerNorm")

    def layers(self, hidden: Any, mask: Any) -> Any:
        """Return the last hidden states, `(n, t, hidden)`; `mask` is `(n, t) int64`, 0 where there is no token."""
        op = self._operations
        visible = op.unsqueeze(op.convert(mask, "f32"), self._ints(1, 2))
        # (n, 1, 1, t), the same for each head and token.
        bias = op.multiply(op.subtract(self._number(1), visible), self._number(MASKED))
        for layer in range(_LAYERS):
            hidden = self._layer(hidden, bias, f"encoder.layer.{layer}.")
        return hidden

    def mean(self, hidden: Any, mask: Any) -> Any:
        """Return the mean over the tokens of each text, with unit L2 norm (https://arxiv.org/abs/1908.10084)."""
        op = self._operations
        weight = op.unsqueeze(op.convert(mask, "f32"), self._ints(-1))
        total = op.reduce_sum(op.multiply(hidden, weight), self._ints(1), keep_dims=False)
        count = op.maximum(op.reduce_sum(weight, self._ints(1), keep_dims=False), self._number(1e-9))
        mean = op.divide(total, count)
        return op.divide(mean, op.maximum(op.reduce_l2(mean, self._ints(1), keep_dims=True), self._number(1e-12)))

    def linear(self, value: Any, name: str) -> Any:
        """Add a linear layer; torch stores its weights as `(out, in)`."""
        product = self._operations.matmul(value, self._tensor(f"{name}.weight"), transpose_a=False, transpose_b=True)
        return self._operations.add(product, self._tensor(f"{name}.bias"))

    def norm(self, value: Any, name: str) -> Any:
        """Add a layer normalisation."""
        op = self._operations
        unit = op.mvn(value, self._ints(-1), normalize_variance=True, eps=_EPSILON, eps_mode="inside_sqrt")
        return op.add(op.multiply(unit, self._tensor(f"{name}.weight")), self._tensor(f"{name}.bias"))

    def _layer(self, hidden: Any, bias: Any, prefix: str) -> Any:
        op = self._operations
        attended = self.linear(
            self._attention(hidden, bias, f"{prefix}attention.self."), f"{prefix}attention.output.dense"
        )
        hidden = self.norm(op.add(attended, hidden), f"{prefix}attention.output.LayerNorm")
        inner = op.gelu(self.linear(hidden, f"{prefix}intermediate.dense"), "erf")
        return self.norm(op.add(self.linear(inner, f"{prefix}output.dense"), hidden), f"{prefix}output.LayerNorm")

    def _attention(self, hidden: Any, bias: Any, prefix: str) -> Any:
        op = self._operations
        width = self._tensors[f"{prefix}query.bias"].shape[0]
        queries, keys, values = (
            op.transpose(
                op.reshape(
                    self.linear(hidden, prefix + name), self._ints(0, 0, _HEADS, width // _HEADS), special_zero=True
                ),
                self._ints(0, 2, 1, 3),
            )
            for name in ("query", "key", "value")
        )
        # Written out as products, as OpenVINO's attention operation is a tenth slower here.
        products = op.matmul(queries, keys, transpose_a=False, transpose_b=True)
        scores = op.add(op.multiply(products, self._number((width // _HEADS) ** -0.5)), bias)
        context = op.matmul(op.softmax(scores, -1), values, transpose_a=False, transpose_b=False)
        return op.reshape(op.transpose(context, self._ints(0, 2, 1, 3)), self._ints(0, 0, width), special_zero=True)

    def _tensor(self, name: str) -> Any:
        return self._operations.constant(np.asarray(self._tensors[name], dtype=np.float32))

    def _number(self, value: float) -> Any:
        return self._operations.constant(np.float32(value))

    def _ints(self, *values: int) -> Any:
        return self._operations.constant(np.array(values, dtype=np.int64))
