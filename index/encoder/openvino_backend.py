"""The encoder that runs a model's compiled copy: loaded in a fraction of a second, and faster than torch."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from index.compiled.compiled_copy import CompiledCopy, Hint
from index.compiled.forks import Unloadable
from index.compiled.runtime import openvino
from index.encoder.model_files import ModelFiles
from index.encoder.openvino_graph import encoder_copy
from index.encoder.tokenizer import ModelTokenizer, TokenIds
from index.encoder.transformer import NO_TOKENS, Output, TransformerEncoder, pad

# Texts are padded to a multiple of the step, and a batch has about 512 tokens: with fewer, the processor
# waits for the weights.
_STEP = 16
_BATCH_TOKENS = 512
# Maximum average number of rows in a batch when a question needs its passages' token vectors.
_ROWS_FOR_TOKENS = 8
_STEP_FOR_QUERY = 8


class CompiledEncoder(TransformerEncoder):
    """A sentence-transformer run by OpenVINO, in as many concurrent batches as its hint suggests.

    For vectors to be stored, a batch in float32 always has the same number of rows for its width, some perhaps empty,
    so that a text's vector does not depend on the other texts: with few rows, some processors sum float32 in another
    order. In bf16 a row does not depend on the others.

    Args:
        copy: The model's compiled copy, if it is already being loaded.

    Raises:
        CompileError: At the first embedding, if there is no compiled copy and none can be made.
    """

    def __init__(
        self,
        model: ModelFiles,
        *,
        hint: Hint = Hint.THROUGHPUT,
        copy: CompiledCopy | None = None,
    ) -> None:
        super().__init__(model)
        # Runs one call at a time, whichever thread calls: a request holds only one input.
        self._engine = Unloadable(partial(_load_engine, copy or encoder_copy(model), hint))

    def prepare(self) -> None:
        """Load the compiled copy now, rather than at the first embedding; make it if it is missing."""
        self._engine.run(lambda _: None)

    def _run_passages(self, encoded: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Output]]:
        def run(engine: _Engine) -> list[tuple[int, Output]]:
            return _run_batches(engine, self._batches(engine, encoded, tokens=tokens), self._tokenizer, tokens=tokens)

        return iter(self._engine.run(run))

    def _run_query(self, encoded: TokenIds) -> Output:
        width = self._padded_width(len(encoded.ids), _STEP_FOR_QUERY)
        batches = [_Batch([0], [encoded], (1, width))]
        ((_, output),) = self._engine.run(lambda engine: _run_batches(engine, batches, self._tokenizer, tokens=True))
        return output

    def _batches(self, engine: _Engine, encoded: Sequence[TokenIds], *, tokens: bool) -> list[_Batch]:
        """Divide texts into batches, longest first, so that no core is still busy with a long one at the end."""
        order = sorted(range(len(encoded)), key=lambda i: -len(encoded[i].ids))
        widths = [self._padded_width(len(encoded[i].ids), _STEP) for i in order]
        ends = balanced_batches(widths, max(2, len(engine.requests))) if tokens else _batches_by_width(widths)
        batches = []
        for first, end in pairwise([0, *ends]):
            indexes = order[first:end]
            rows = end - first if tokens or engine.rows_independent else _rows_at(widths[first])
            batches.append(_Batch(indexes, [encoded[i] for i in indexes], (rows, widths[first])))
        return batches


class _Engine(NamedTuple):
    """OpenVINO's inference requests, enough to keep all cores busy, and its tensor class."""

    requests: tuple[Any, ...]
    tensor: Callable[..., Any]
    # Whether a row's result is independent of the other rows, bit for bit.
    rows_independent: bool
    # The `id` of each request, with each shape that it has run.
    prepared: set[tuple[int, tuple[int, int]]]


def _load_engine(copy: CompiledCopy, hint: Hint) -> _Engine:
    network = copy.load(hint)
    with openvino() as library:
        count = network.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        requests = tuple(network.create_infer_request() for _ in range(count))
        in_bf16 = network.get_property("INFERENCE_PRECISION_HINT") == library.Type.bf16
        return _Engine(requests, library.Tensor, in_bf16, set())


class _Batch(NamedTuple):
    """Texts that the model runs together."""

    indexes: list[int]  # of the texts in the call
    encoded: list[TokenIds]
    shape: tuple[int, int]  # rows and width


def _rows_at(width: int) -> int:
    return max(1, _BATCH_TOKENS // width)


def _batch_ends(count: int, is_full: Callable[[int, int], bool]) -> list[int]:
    """Return the ends of batches: a batch from `first` ends before `i` if `is_full(first, i)`."""
    ends = []
    first = 0
    for i in range(1, count + 1):
        if i == count or is_full(first, i):
            ends.append(i)
            first = i
    return ends


def _batches_by_width(widths: Sequence[int]) -> list[int]:
    """Return the ends of batches of a single width, each with at most `_rows_at` that width."""
    return _batch_ends(len(widths), lambda first, i: widths[i] != widths[first] or i - first == _rows_at(widths[first]))


def balanced_batches(widths: Sequence[int], count: int) -> list[int]:
    """Return the ends of batches such that `count` concurrent ones finish as early as possible.

    `widths` are padded lengths, longest first; a batch is as wide as its first text.
    """
    count *= -(-len(widths) // (count * _ROWS_FOR_TOKENS))
    limits = sorted({rows * width for rows in range(1, len(widths) + 1) for width in widths})
    # Larger limits give fewer batches; find the smallest limit that gives few enough.
    smallest = bisect_left(limits, 1, key=lambda limit: int(len(_batches_by_work(widths, limit)) <= count))
    return _batches_by_work(widths, limits[smallest]) if widths else []


def _batches_by_work(widths: Sequence[int], limit: int) -> list[int]:
    """Return the ends of batches whose rows times width is at most `limit`, or that have a single row."""
    return _batch_ends(len(widths), lambda first, i: (i + 1 - first) * widths[first] > limit)


def _run_batches(
    engine: _Engine, batches: Sequence[_Batch], tokenizer: ModelTokenizer, *, tokens: bool
) -> list[tuple[int, Output]]:
    results: list[tuple[int, Output]] = []
    running: deque[tuple[_Batch, Any, list[Any]]] = deque()
    parameters = tokenizer.parameters
    free = list(engine.requests)

    def finish_oldest() -> None:
        batch, request, _ = running.popleft()
        request.wait()
        results.extend(zip(batch.indexes, _outputs(request, len(batch.indexes), tokens=tokens), strict=True))
        free.append(request)

    # No callbacks: they would run Python in the library's threads, which can deadlock.
    try:
        for batch in batches:
            if not free:
                finish_oldest()
            request = free.pop()
            # If a request prepares for a new shape while another computes, then in float32, in one process of ten, its
            # vectors were wrong for that shape from then on.
            runs_alone = (id(request), batch.shape) not in engine.prepared
            while runs_alone and running:
                finish_oldest()
            arrays = pad(batch.encoded, batch.shape, parameters.pad)
            # The request reads this memory directly, so it must live as long.
            tensors = [engine.tensor(arrays[name], shared_memory=True) for name in parameters.inputs]
            for i, tensor in enumerate(tensors):
                request.set_input_tensor(i, tensor)
            running.append((batch, request, tensors))
            request.start_async()
            if runs_alone:
                finish_oldest()
                engine.prepared.add((id(request), batch.shape))
        while running:
            finish_oldest()
    finally:
        # Even after an interruption: running requests still read their inputs, and cannot be started again.
        for _, request, _ in running:
            request.wait()
    return results


def _outputs(request: Any, count: int, *, tokens: bool) -> list[Output]:
    # Copied, as the request reuses the memory for its next batch.
    texts = np.array(request.get_output_tensor(1).data[:count], dtype=np.float32)
    if not tokens:
        return [Output(text, NO_TOKENS) for text in texts]
    return list(map(Output, texts, np.array(request.get_output_tensor(0).data[:count], dtype=np.float32)))
