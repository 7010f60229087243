"""The reader's network: six BERT layers with heads for the answer's start and end, and for whether there is one.

It shares the default encoder's embedding tables, which were frozen in its training, so that they ship only once.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import ModelError
from index import BertBuilder, CompiledCopy, CompileError, CopyCheck, ModelFiles, is_int8_faster

# The shipped weights, with their outputs for a few check inputs; MODEL_CARD.md says how they were made.
WEIGHTS = Path(__file__).with_name("reader.safetensors")
WEIGHTS_SHA256 = "4121b3c397c2a47e13fd295df4b102a16df0cf7bbca55d5253b8e2b819f04fe5"
# Inputs of the network, each `(n, t) int64`: token ids, 1 for each token, 1 from the context on, 1 for the text itself.
INPUTS = ("ids", "mask", "types", "text")
# Largest mean deviation from the check outputs: logits range from about -10 to 10, and bf16 and int8 round them.
_AGREEMENT = 0.3
# To be incremented whenever the graph or its compilation changes.
_VERSION = 1
# Makes a score vanish in softmax, even in bf16.
_NEVER = -1e4

Tensors = dict[str, npt.NDArray[Any]]


def reader_copy(base: ModelFiles) -> CompiledCopy:
    """Return the reader's network, compiled for this machine."""

    def build(library: Any) -> tuple[Any, CopyCheck]:
        tensors = _tensors(base)

        def check(compiled: Any, *, quantised: bool) -> None:
            results = compiled([tensors[f"check.{name}"].astype(np.int64) for name in INPUTS])
            text = tensors["check.text"] == 1
            differences = (results[0][text] - tensors["check.span"][text], results[1] - tensors["check.judged"])
            # Written so that NaN fails too.
            if not all(np.abs(difference).mean() <= _AGREEMENT for difference in differences):
                raise CompileError("the compiled reader does not reproduce its check outputs")

        return _graph(library, tensors), check

    return CompiledCopy("the reader", f"reader-{WEIGHTS_SHA256[:24]}-{_VERSION}", build, quantised=is_int8_faster())


def _graph(library: Any, tensors: Tensors) -> Any:
    """Build the network; outputs logits `(n, t, 2)` of start and end, and `(n, 2)` of answered and relevant."""
    op = library.opset13
    inputs = [op.parameter([-1, -1], np.int64, name=name) for name in INPUTS]
    ids, mask, types, text = inputs
    builder = BertBuilder(library, tensors)
    hidden = builder.layers(builder.embeddings(ids, types), mask)
    logits = builder.linear(hidden, "span")

    def constant(value: Any, kind: Any) -> Any:
        return op.constant(np.array(value, dtype=kind))

    outside = op.subtract(constant(1, np.float32), op.unsqueeze(op.convert(text, "f32"), constant([-1], np.int64)))
    weights = op.softmax(op.add(logits, op.multiply(outside, constant(_NEVER, np.float32))), 1)
    # The hidden states where an answer would begin and end, concatenated with that of [CLS].
    ends = op.matmul(weights, hidden, transpose_a=True, transpose_b=False)
    ends = op.reshape(ends, constant([0, -1], np.int64), special_zero=True)
    first = op.gather(hidden, constant(0, np.int64), constant(1, np.int64))
    judged = op.gelu(builder.linear(op.concat([first, ends], 1), "judge.0"), "erf")
    return library.Model([op.result(logits), op.result(builder.linear(judged, "judge.2"))], inputs, "reader")


def _tensors(base: ModelFiles) -> Tensors:
    """Load the reader's own arrays and the encoder's embedding tables, by the names of `BertModel`."""
    from safetensors.numpy import load, load_file  # noqa: PLC0415 - questions need only the compiled copy

    data = WEIGHTS.read_bytes()
    if hashlib.sha256(data).hexdigest() != WEIGHTS_SHA256:
        raise ModelError(f"{WEIGHTS} is damaged: checksum mismatch. Install qa again.")
    tables = load_file(base.folder / "model.safetensors")
    return {
        **{name: value for name, value in tables.items() if name.startswith("embeddings.")},
        **{name.replace("layers.", "encoder.layer."): value for name, value in load(data).items()},
    }
