"""The encoder on the compiled copy of a model: ready in a fraction of a second, and faster than torch."""

from __future__ import annotations

import logging
import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from index.encoder.model_files import ModelFiles
from index.encoder.openvino_compile import CompileError, Hint, Loading, compiled_copy, start
from index.encoder.openvino_runtime import openvino
from index.encoder.tokenizer import ModelTokenizer, TokenIds
from index.encoder.torch_backend import TorchEncoder
from index.encoder.transformer import NO_TOKENS, Forward, TransformerEncoder, padded

_LOG = logging.getLogger(__name__)

# Lengths are padded to a multiple of this, and so many texts of one padded length go in together that they have
# about 512 tokens: a matrix product of fewer leaves the processor waiting for the weights.
_STEP = 16
_TOGETHER = 512
# Of passages for a question at most so many go in together.
_ROWS_FOR_TOKENS = 8
_STEP_FOR_QUERY = 8


class CompiledEncoder(TransformerEncoder):
    """A sentence-transformer run by OpenVINO, as many batches at once as suits its hint.

    A batch to be stored has the padded length of its texts, and in float32 always the same number of rows for that
    length, if need be with nothing in them, so that a text's vector does not depend on its company: with few rows some
    processors add up float32 in another order. In bf16 a row is computed alike beside whatever others.

    Args:
        model: From `index.encoder.model_files.find`.
        tokens: The model's, if they are open already.
        hint: What it is to be good at.
        precision: What to compute in, "f32" or "bf16", rather than what suits the processor.
        loading: Loads the copy already.

    Raises:
        CompileError: At the first embedding: there is no compiled copy and none can be made.
    """

    def __init__(
        self,
        model: ModelFiles,
        *,
        tokens: ModelTokenizer | None = None,
        hint: Hint = Hint.THROUGHPUT,
        precision: str = "",
        loading: Loading | None = None,
    ) -> None:
        super().__init__(model, tokens=tokens)
        self._hint = hint
        self._precision = precision
        self._loading = loading
        # Requests hold one text at a time, whichever thread it comes from.
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Load the compiled copy, making it if it is missing, instead of at the first embedding."""
        _ = self._engine

    def _forward_passages(self, reads: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Forward]]:
        yield from self._run(self._batches(reads, tokens=tokens), tokens=tokens)

    def _forward_query(self, read: TokenIds) -> Forward:
        ((_, forward),) = self._run([_Batch([0], [read], (1, self._width(read, _STEP_FOR_QUERY)))], tokens=True)
        return forward

    def _batches(self, reads: Sequence[TokenIds], *, tokens: bool) -> list[_Batch]:
        """The longest first, so that no core is left with a long one at the end."""
        order = sorted(range(len(reads)), key=lambda place: -len(reads[place].ids))
        widths = [self._width(reads[place], _STEP) for place in order]
        cuts = evenly_cut(widths, max(2, len(self._engine.requests))) if tokens else _cut_by_width(widths)
        batches = []
        for first, end in pairwise([0, *cuts]):
            places = order[first:end]
            rows = end - first if tokens or self._engine.rows_alike else _rows_of(widths[first])
            batches.append(_Batch(places, [reads[place] for place in places], (rows, widths[first])))
        return batches

    def _run(self, batches: Sequence[_Batch], *, tokens: bool) -> list[tuple[int, Forward]]:
        found: list[tuple[int, Forward]] = []
        running: deque[tuple[_Batch, Any, list[Any]]] = deque()
        with self._lock:
            engine = self._engine
            free = list(engine.requests)

            def finish_oldest() -> None:
                batch, request, _ = running.popleft()
                request.wait()
                found.extend(zip(batch.places, _forwards(request, len(batch.places), tokens=tokens), strict=True))
                free.append(request)

            # No callbacks: they would need Python from the library's threads, which can deadlock.
            try:
                for batch in batches:
                    if not free:
                        finish_oldest()
                    request = free.pop()
                    arrays = padded(batch.reads, batch.shape, self._settings.pad)
                    # The request reads this memory itself, so it is held until then.
                    tensors = [engine.tensor(arrays[name], shared_memory=True) for name in engine.inputs]
                    for place, tensor in enumerate(tensors):
                        request.set_input_tensor(place, tensor)
                    running.append((batch, request, tensors))
                    request.start_async()
                while running:
                    finish_oldest()
            finally:
                # After an interruption nobody may touch what they still read, or start them again.
                for _, request, _ in running:
                    request.wait()
        return found

    def _width(self, read: TokenIds, step: int) -> int:
        return min(-(-len(read.ids) // step) * step, self._room)

    @cached_property
    def _engine(self) -> _Engine:
        loaded = self._loading.take() if self._loading else None
        with openvino() as library:
            if loaded is None:
                copy = compiled_copy(self._model, self._tokens)
                try:
                    loaded = copy, start(library, copy, self._hint, precision=self._precision)
                except Exception as error:  # whatever the library raises, torch can still serve
                    raise CompileError(f"the compiled model {copy.graph} cannot be loaded: {error}") from error
            copy, network = loaded
            count = network.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
            requests = tuple(network.create_infer_request() for _ in range(count))
            in_bf16 = network.get_property("INFERENCE_PRECISION_HINT") == library.Type.bf16
            return _Engine(copy.inputs, requests, library.Tensor, rows_alike=in_bf16)


@dataclass(frozen=True, slots=True)
class _Engine:
    """What runs the model.

    Attributes:
        inputs: Their names, in order.
        requests: As many as keep all cores busy.
        tensor: OpenVINO's kind of array.
        rows_alike: Whether what comes of a row is the same, bit for bit, whatever rows are beside it.
    """

    inputs: tuple[str, ...]
    requests: tuple[Any, ...]
    tensor: Callable[..., Any]
    rows_alike: bool


@dataclass(frozen=True, slots=True)
class _Batch:
    """Texts that go into the model together: their places among those asked for, and rows and columns."""

    places: list[int]
    reads: list[TokenIds]
    shape: tuple[int, int]


def _rows_of(width: int) -> int:
    return max(1, _TOGETHER // width)


def _cut_by_width(widths: Sequence[int]) -> list[int]:
    """Where each batch ends, if it has one width and at most the rows for that."""
    cuts = []
    first = 0
    for i in range(1, len(widths) + 1):
        if i == len(widths) or widths[i] != widths[first] or i - first == _rows_of(widths[first]):
            cuts.append(i)
            first = i
    return cuts


def evenly_cut(widths: Sequence[int], count: int) -> list[int]:
    """Where each batch ends, if `count` of them run at once and the last is to be done soonest.

    Args:
        widths: Padded lengths, the longest first; a batch has the width of its first.
        count: How many run at once, at least 1.
    """
    count *= -(-len(widths) // (count * _ROWS_FOR_TOKENS))
    limits = sorted({rows * width for rows in range(1, len(widths) + 1) for width in widths})
    # The larger the limit the fewer the batches: the least that gives few enough.
    place = bisect_left(limits, 1, key=lambda limit: int(len(_cut_by_work(widths, limit)) <= count))
    return _cut_by_work(widths, limits[place]) if widths else []


def _cut_by_work(widths: Sequence[int], limit: int) -> list[int]:
    """Where each batch ends, if rows times width is at most `limit`; a row that is wider is a batch of its own."""
    cuts = []
    first = 0
    for i in range(1, len(widths) + 1):
        if i == len(widths) or (i + 1 - first) * widths[first] > limit:
            cuts.append(i)
            first = i
    return cuts


def _forwards(request: Any, count: int, *, tokens: bool) -> list[Forward]:
    # Copied: the request's own memory is used again for the next batch.
    texts = np.array(request.get_output_tensor(1).data[:count], dtype=np.float32)
    if not tokens:
        return [Forward(text, NO_TOKENS) for text in texts]
    each = np.array(request.get_output_tensor(0).data[:count], dtype=np.float32)
    return [Forward(text, vectors) for text, vectors in zip(texts, each, strict=True)]


class FastestEncoder(TransformerEncoder):
    """Runs the compiled copy, or torch where there is none and none can be made.

    Args:
        model: From `index.encoder.model_files.find`.
        ahead: Begin at once to load the copy, if there is one.
        hint: What it is to be good at.
    """

    def __init__(self, model: ModelFiles, *, ahead: bool = False, hint: Hint = Hint.THROUGHPUT) -> None:
        self._hint = hint
        self._ahead = _started(model, hint) if ahead else None
        super().__init__(model)
        self._lock = threading.Lock()
        self._loaded: TransformerEncoder | None = None

    def _forward_passages(self, reads: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Forward]]:
        return self._engine()._forward_passages(reads, tokens=tokens)

    def _forward_query(self, read: TokenIds) -> Forward:
        return self._engine()._forward_query(read)

    def _engine(self) -> TransformerEncoder:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> TransformerEncoder:
        try:
            compiled = CompiledEncoder(self._model, tokens=self._tokens, hint=self._hint, loading=self._ahead)
            compiled.prepare()
        except (CompileError, ImportError) as error:
            _LOG.warning("torch embeds, slowly: %s", error)
            return TorchEncoder(self._model, tokens=self._tokens)
        return compiled


def _started(model: ModelFiles, hint: Hint) -> Loading | None:
    try:
        loading = Loading(model, hint)
    except ImportError:
        return None
    loading.start()
    return loading
