"""Load an encoder by the name of its model: the only place that decides what runs the model, and where.

The compiled copy embeds questions, and passages until a GPU is worth starting; if it cannot be made, torch does.
"""

from __future__ import annotations

import logging
import math
import weakref
from collections.abc import Iterator, Sequence

import numpy as np

from index.compiled.compiled_copy import CompiledCopy, Hint
from index.compiled.forks import ForkedLock
from index.compiled.runtime import CompileError, is_int8_faster
from index.encoder.devices import Device, find_gpu
from index.encoder.model_files import DEFAULT_MODEL, ModelFiles, find
from index.encoder.openvino_backend import CompiledEncoder
from index.encoder.openvino_graph import CHECK_TEXTS, encoder_copy
from index.encoder.protocol import Encoder
from index.encoder.tokenizer import TokenIds
from index.encoder.torch_backend import TorchEncoder
from index.encoder.transformer import Output, TransformerEncoder, cosine

_LOG = logging.getLogger(__name__)

# Passages that two cores embed in the ten seconds or so that it takes to import torch and start a GPU.
_GPU_BREAK_EVEN = 3000
# Minimum cosine between the GPU's and the compiled copy's vectors of a check text.
_MIN_COSINE = 0.9999
# Encoders for questions, shared by all open collections with the same model.
_SHARED_ENCODERS: weakref.WeakValueDictionary[tuple[ModelFiles, Device], FastestEncoder] = weakref.WeakValueDictionary()
_LOCK = ForkedLock()


def load_encoder(
    name: str = DEFAULT_MODEL,
    *,
    ahead: bool = False,
    hint: Hint = Hint.THROUGHPUT,
    device: Device = Device.AUTO,
) -> Encoder:
    """Return the encoder of a model; it is loaded on first use.

    Args:
        name: Its hub name, or its folder.
        ahead: Start loading the compiled copy in the background, if there is one.
        hint: What the compiled copy is optimised for. With `LATENCY`, for questions, it may compute in eight bits, and
            everything in the process that asks questions shares it.
        device: Where passages are embedded; questions, and token vectors of passages, are always computed on the CPU.

    Raises:
        ModelError: The model is not found, incomplete, pickled, has code of its own, or is not as published.
        UsageError: The requested GPU cannot be used.
    """
    model = find(name)
    if device is not Device.AUTO:
        find_gpu(device)
    if hint is not Hint.LATENCY:
        return FastestEncoder(model, ahead=ahead, hint=hint, device=device)
    with _LOCK:
        encoder = _SHARED_ENCODERS.get((model, device))
        if encoder is None:
            encoder = _SHARED_ENCODERS[model, device] = FastestEncoder(model, ahead=ahead, hint=hint, device=device)
        return encoder


def prepare_for_questions(name: str) -> None:
    """Make the compiled copy that embeds a model's questions, if it is not the one that embeds passages.

    Raises:
        CompileError: It cannot be made here.
        ImportError: OpenVINO cannot be imported.
        ModelError: See `load_encoder`.
    """
    copy = _copy_for(Hint.LATENCY, find(name))
    if copy.quantised and not copy.exists():
        copy.load(Hint.LATENCY)


def _copy_for(hint: Hint, model: ModelFiles) -> CompiledCopy:
    """Return the exact compiled copy, or for questions an eight-bit one where that is faster."""
    quantised = hint is Hint.LATENCY and is_int8_faster()
    return encoder_copy(model, quantised=quantised)


class FastestEncoder(TransformerEncoder):
    """Runs the compiled copy, or torch if there can be none; large numbers of passages go to a GPU."""

    def __init__(
        self,
        model: ModelFiles,
        *,
        ahead: bool = False,
        hint: Hint = Hint.THROUGHPUT,
        device: Device = Device.AUTO,
    ) -> None:
        super().__init__(model)
        self._hint = hint
        self._device = device
        self._gpu = PassageGpu(model, device)
        self._copy = _copy_for(hint, model)
        if ahead:
            self._copy.begin_loading(hint)
        self._lock = ForkedLock()
        self._loaded_backend: TransformerEncoder | None = None

    def _run_passages(self, encoded: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Output]]:
        backend = self._backend()
        # Questions are compared with the tokens, so both come from the same backend.
        if not tokens and isinstance(backend, CompiledEncoder):
            outputs = self._gpu.run(encoded, backend)
            if outputs is not None:
                return iter(outputs)
        return backend._run_passages(encoded, tokens=tokens)

    def _run_query(self, encoded: TokenIds) -> Output:
        return self._backend()._run_query(encoded)

    def _backend(self) -> TransformerEncoder:
        with self._lock:
            if self._loaded_backend is None:
                try:
                    compiled = CompiledEncoder(self._model, hint=self._hint, copy=self._copy)
                    compiled.prepare()
                    self._loaded_backend = compiled
                except (CompileError, ImportError) as error:
                    _LOG.warning("embedding with torch, which is slower: %s", error)
                    device = find_gpu(self._device) or Device.CPU
                    self._loaded_backend = TorchEncoder(self._model, device=device)
            return self._loaded_backend


class PassageGpu:
    """A GPU that is started for the first passages, or with `auto` once there are enough to pay for it."""

    def __init__(self, model: ModelFiles, device: Device) -> None:
        self._model = model
        self._device = device
        # The GPU is started once this is below zero.
        self._remaining: float = {Device.AUTO: _GPU_BREAK_EVEN, Device.CPU: math.inf}.get(device, 0)
        self._encoder: TorchEncoder | None = None
        self._lock = ForkedLock()

    def run(self, encoded: Sequence[TokenIds], reference: TransformerEncoder) -> list[tuple[int, Output]] | None:
        """Put passages through the model, each with its index; None if `reference` should do so on the CPU.

        Raises:
            UsageError: The requested GPU cannot be used.
        """
        with self._lock:
            self._remaining -= len(encoded)
            if self._remaining < 0:
                self._encoder = self._start(reference)
                self._remaining = math.inf
            if self._encoder is not None:
                try:
                    return list(self._encoder._run_passages(encoded, tokens=False))
                except RuntimeError as error:  # out of memory, most likely
                    _LOG.warning("the GPU failed, embedding on the CPU from now on: %s", str(error).partition("\n")[0])
                    self._encoder = None
        return None

    def _start(self, reference: TransformerEncoder) -> TorchEncoder | None:
        gpu = find_gpu(self._device)
        if gpu is None:
            return None
        tokenizer = reference._tokenizer
        encoder = TorchEncoder(self._model, device=gpu)
        texts = [tokenizer.truncate(text, prompt=tokenizer.parameters.passage_prompt) for text in CHECK_TEXTS]
        try:
            agreement = _least_cosine(encoder, reference, texts)
        except RuntimeError as error:
            _LOG.warning("embedding on the CPU, as the GPU cannot be used: %s", str(error).partition("\n")[0])
            return None
        # Written so that NaN fails too.
        if not agreement >= _MIN_COSINE:
            _LOG.warning("embedding on the CPU, as the GPU's vectors differ from the CPU's (cosine %.5f)", agreement)
            return None
        _LOG.info("embedding passages on %s (cosine of check texts with the CPU's: %.5f)", gpu, agreement)
        return encoder


def _least_cosine(encoder: TransformerEncoder, reference: TransformerEncoder, texts: Sequence[TokenIds]) -> float:
    outputs, expected = (dict(backend._run_passages(texts, tokens=False)) for backend in (encoder, reference))
    return float(np.min([cosine(outputs[i].text, expected[i].text) for i in range(len(texts))]))
