"""The encoder on the compiled copy of a model: ready in a fraction of a second, and faster than torch."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .compile import CompileError, compiled_copy, is_compiled, start
from .models import Model
from .openvino_library import openvino
from .tokens import TokenIds
from .torch_encoder import TorchEncoder
from .transformer import NO_TOKENS, Forward, TransformerEncoder, padded

_LOG = logging.getLogger(__name__)

# Lengths are padded to a multiple of this. A new length costs some ten milliseconds once, which a build does not
# feel, and a question would.
_STEP = 16
_STEP_FOR_TOKENS = 64


class CompiledEncoder(TransformerEncoder):
    """A sentence-transformer run by OpenVINO, one text at a time, as many at once as there are cores.

    A text alone in its batch needs no padding beside its own, and its vector cannot depend on any other.

    Args:
        model: From `index.models.find`.
        precision: What to compute in, "f32" or "bf16", rather than what suits the processor.

    Raises:
        CompileError: At the first embedding: there is no compiled copy and none can be made.
    """

    def __init__(self, model: Model, *, precision: str = "") -> None:
        super().__init__(model)
        self._precision = precision
        # Requests hold one text at a time, whichever thread it comes from.
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Load the compiled copy, making it if it is missing, instead of at the first embedding."""
        _ = self._engine

    def _forward_passages(self, reads: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Forward]]:
        yield from self._run(reads, _STEP_FOR_TOKENS if tokens else _STEP, tokens=tokens)

    def _forward_query(self, read: TokenIds) -> Forward:
        ((_, forward),) = self._run([read], _STEP, tokens=True)
        return forward

    def _run(self, reads: Sequence[TokenIds], step: int, *, tokens: bool) -> list[tuple[int, Forward]]:
        # The longest first, so that no core is left with a long one at the end.
        order = sorted(range(len(reads)), key=lambda place: -len(reads[place].ids))
        found: list[tuple[int, Forward]] = []
        running: deque[tuple[int, Any]] = deque()
        with self._lock:
            free = list(self._engine[1])

            def finish_oldest() -> None:
                place, request = running.popleft()
                request.wait()
                found.append((place, _forward(request, tokens=tokens)))
                free.append(request)

            # No callbacks: they would need Python from the library's threads, which can deadlock.
            for place in order:
                if not free:
                    finish_oldest()
                request = free.pop()
                request.start_async(self._arrays(reads[place], step))
                running.append((place, request))
            while running:
                finish_oldest()
        return found

    def _arrays(self, read: TokenIds, step: int) -> list[Any]:
        width = min(-(-len(read.ids) // step) * step, self._room)
        arrays = padded([read], (1, width), self._settings.pad)
        return [arrays[name] for name in self._engine[0]]

    @cached_property
    def _engine(self) -> tuple[tuple[str, ...], list[Any]]:
        """Names of the inputs, and as many requests as keep all cores busy."""
        copy = compiled_copy(self._model, self._tokens)
        try:
            with openvino() as library:
                network = start(library, copy, precision=self._precision)
                count = network.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
                return copy.inputs, [network.create_infer_request() for _ in range(count)]
        except Exception as error:  # whatever the library raises, torch can still serve
            raise CompileError(f"the compiled model {copy.graph} cannot be loaded: {error}") from error


def _forward(request: Any, *, tokens: bool) -> Forward:
    # Copied: the request's own memory is used again for the next text.
    vector = np.array(request.get_output_tensor(1).data[0], dtype=np.float32)
    return Forward(vector, np.array(request.get_output_tensor(0).data[0], dtype=np.float32) if tokens else NO_TOKENS)


class FastestEncoder(TransformerEncoder):
    """Runs the compiled copy, or torch where there is none and none can be made."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._loading = threading.Lock()
        self._loaded: TransformerEncoder | None = None

    def load_ahead(self) -> None:
        """Begin to load the compiled copy in the background, if it is there; most of that leaves Python's lock."""
        if is_compiled(self._model):
            threading.Thread(target=self._engine).start()

    def _forward_passages(self, reads: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Forward]]:
        return self._engine()._forward_passages(reads, tokens=tokens)

    def _forward_query(self, read: TokenIds) -> Forward:
        return self._engine()._forward_query(read)

    def _engine(self) -> TransformerEncoder:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> TransformerEncoder:
        try:
            compiled = CompiledEncoder(self._model)
            compiled.prepare()
        except (CompileError, ImportError) as error:
            _LOG.warning("torch embeds, slowly: %s", error)
            return TorchEncoder(self._model)
        return compiled
