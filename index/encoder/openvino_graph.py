"""The graph that an encoder is compiled from, and the check that its copy gives the vectors of the original.

The default model's graph is written from its weights, without torch; any other is converted from the
SentenceTransformer's own modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from index.compiled.bert import BertBuilder
from index.compiled.compiled_copy import CompiledCopy, CopyCheck
from index.compiled.runtime import CompileError
from index.encoder.model_files import DEFAULT_MODEL, ModelFiles
from index.encoder.openvino_conversion import convert
from index.encoder.sentence_transformer import INPUTS
from index.encoder.tokenizer import ModelTokenizer
from index.encoder.transformer import cosine, pad

# Incremented whenever new copies would differ from old ones.
_VERSION = 6
# Padding after each check text, the most that the encoder adds.
_PADDING = 15
# Minimum cosine of each check text's vector with the original's in fp32.
_MIN_COSINE = 0.9995
# The same in eight bits, where the default model reaches .997.
_MIN_QUANTISED_COSINE = 0.99
# The default model's vectors of the check texts, `(n, 384) float16`, by the SentenceTransformer in float32:
# python -m tests.reference_vectors
REFERENCE_VECTORS = Path(__file__).with_name("reference_vectors.npy")
CHECK_TEXTS = (
    "Why?",
    "The meeting was moved to Thursday at half past nine.",
    "1. Zürich › 東京 › القاهرة: 3,704 of 11,603 submissions (32 %), see https://example.org/a_b?c=1#d 🙂",
    "a " * 40,
    "Whoever keeps notes finds the same fact in three places; which of them was right, and when? " * 8,
)


def encoder_copy(model: ModelFiles, *, quantised: bool = False) -> CompiledCopy:
    """Return an encoder's compiled copy."""

    def build(library: Any) -> tuple[Any, CopyCheck]:
        expected: Sequence[npt.NDArray[Any]]
        tokenizer = ModelTokenizer(model)
        if model.name == DEFAULT_MODEL:
            graph, expected = _default_graph(library, model.folder), list(np.load(REFERENCE_VECTORS))
        else:
            inputs = list(_check_inputs(tokenizer, padding=0))
            graph, expected = convert(library, model, tokenizer.parameters, inputs)

        def check(compiled: Any, *, quantised: bool) -> None:
            minimum = _MIN_QUANTISED_COSINE if quantised else _MIN_COSINE
            for arrays, vector in zip(_check_inputs(tokenizer, padding=_PADDING), expected, strict=True):
                _require_agreement(model.name, compiled(arrays)[1], vector, minimum)

        return graph, check

    name = f"{model.name} (questions)" if quantised else model.name
    return CompiledCopy(name, f"{model.fingerprint[:32]}-{_VERSION}", build, quantised=quantised)


def _default_graph(library: Any, folder: Path) -> Any:
    """Return the graph of the default model in `folder`: mean pooling over a text's tokens, then unit L2 norm.

    It reads `INPUTS`, each `(n, t) int64`, and returns the tokens' vectors `(n, t, 384)` and the texts' `(n, 384)`.
    """
    from safetensors.numpy import load_file

    op = library.opset13
    ids, mask, types = inputs = [op.parameter([-1, -1], np.int64, name=name) for name in INPUTS]
    builder = BertBuilder(library, load_file(folder / "model.safetensors"))
    hidden = builder.layers(builder.embeddings(ids, types), mask)
    return library.Model([op.result(hidden), op.result(builder.mean(hidden, mask))], inputs, "bert")


def _check_inputs(tokenizer: ModelTokenizer, *, padding: int) -> Iterator[list[npt.NDArray[np.int64]]]:
    """Yield the check texts as inputs of the model, with `padding` more tokens."""
    parameters = tokenizer.parameters
    for text in CHECK_TEXTS:
        encoded = tokenizer.truncate(text, prompt=parameters.passage_prompt)
        arrays = pad([encoded], (1, min(len(encoded.ids) + padding, parameters.max_length)), parameters.pad)
        yield [arrays[name] for name in parameters.inputs]


def _require_agreement(name: str, actual: npt.NDArray[Any], expected: npt.NDArray[Any], minimum: float) -> None:
    # Written so that NaN fails too.
    if not (agreement := cosine(actual, expected)) >= minimum:
        raise CompileError(f"compiled, {name} does not give the vectors of the original (cosine {agreement:.4f})")
