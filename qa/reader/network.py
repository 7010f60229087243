"""The reader's network: six BERT layers with heads for the answer's ends, and for whether there is one.

Its embedding tables are those of the default encoder, which were not trained with it, so that they ship once.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import ModelError
from index import MINILM, BertBuilder, CompiledCopy, CompileError, CopyCheck, ModelFiles, is_int8_faster

# The weights that ship, and what they compute for a few inputs; MODEL_CARD.md says how they were made.
WEIGHTS = Path(__file__).with_name("reader.safetensors")
WEIGHTS_SHA256 = "c5c97b8cc296d4588c7f143ad1e1b5d4e26339ae7c6ce3191c6ee85fb2cda5ca"
# Inputs of the network, each `(n, t) int64`: token ids, 1 for each token, 1 from the context on, 1 for the text proper.
INPUTS = ("ids", "mask", "types", "text")
# Logits reach from about -10 to 10; bf16 and eight bits round them off.
_AGREEMENT = 0.3
# Raised whenever the copy would be made otherwise.
_VERSION = 1
# Leaves nothing of a score after softmax, in bf16 too.
_NEVER = -1e4

Tensors = dict[str, npt.NDArray[Any]]


def reader_copy(base: ModelFiles) -> CompiledCopy:
    """The reader's network as it runs on this machine."""

    def build(library: Any) -> tuple[Any, CopyCheck]:
        tensors = _tensors(base)

        def check(compiled: Any, *, quantised: bool) -> None:
            results = compiled([tensors[f"check.{name}"].astype(np.int64) for name in INPUTS])
            text = tensors["check.text"] == 1
            differences = (results[0][text] - tensors["check.span"][text], results[1] - tensors["check.judged"])
            # Written so that NaN fails too.
            if not all(np.abs(difference).mean() <= _AGREEMENT for difference in differences):
                raise CompileError("compiled, the reader does not compute what it was trained to")

        return _graph(library, tensors), check

    return CompiledCopy("the reader", f"reader-{WEIGHTS_SHA256[:24]}-{_VERSION}", build, quantised=is_int8_faster())


def _graph(library: Any, tensors: Tensors) -> Any:
    """Gives logits `(n, t, 2)` of start and end, and `(n, 2)` of answered and relevant."""
    op = library.opset13
    inputs = [op.parameter([-1, -1], np.int64, name=name) for name in INPUTS]
    ids, mask, types, text = inputs
    builder = BertBuilder(library, tensors, MINILM)
    hidden = builder.layers(builder.embeddings(ids, types), mask)
    logits = builder.linear(hidden, "span")

    def constant(value: Any, kind: Any) -> Any:
        return op.constant(np.array(value, dtype=kind))

    outside = op.subtract(constant(1, np.float32), op.unsqueeze(op.convert(text, "f32"), constant([-1], np.int64)))
    weights = op.softmax(op.add(logits, op.multiply(outside, constant(_NEVER, np.float32))), 1)
    # The states where an answer would begin and end, beside that of [CLS].
    ends = op.matmul(weights, hidden, transpose_a=True, transpose_b=False)
    ends = op.reshape(ends, constant([0, -1], np.int64), special_zero=True)
    first = op.gather(hidden, constant(0, np.int64), constant(1, np.int64))
    judged = op.gelu(builder.linear(op.concat([first, ends], 1), "judge.0"), "erf")
    return library.Model([op.result(logits), op.result(builder.linear(judged, "judge.2"))], inputs, "reader")


def _tensors(base: ModelFiles) -> Tensors:
    """The reader's own arrays, and the encoder's embedding tables, by the names of `BertModel`."""
    from safetensors.numpy import load, load_file  # noqa: PLC0415 - a question needs the compiled copy alone

    data = WEIGHTS.read_bytes()
    if hashlib.sha256(data).hexdigest() != WEIGHTS_SHA256:
        raise ModelError(f"{WEIGHTS} is damaged: checksum mismatch. Install qa again.")
    tables = load_file(base.folder / "model.safetensors")
    return {
        **{name: value for name, value in tables.items() if name.startswith("embeddings.")},
        **{name.replace("layers.", "encoder.layer."): value for name, value in load(data).items()},
    }
