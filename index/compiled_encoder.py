"""The encoder on the compiled copy of a model: ready in a fraction of a second, and faster than torch."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .compile import CompileError, compiled_copy, start
from .models import Model
from .openvino_library import openvino
from .tokens import TokenIds
from .torch_encoder import TorchEncoder
from .transformer import Forward, TransformerEncoder, padded

_LOG = logging.getLogger(__name__)

# Lengths are padded to a multiple of this: each new shape costs a few milliseconds once.
_STEP = 16


class CompiledEncoder(TransformerEncoder):
    """A sentence-transformer run by OpenVINO, one text at a time, as many at once as there are cores.

    A text alone in its batch needs no padding beside its own, and its vector cannot depend on any other.

    Raises:
        CompileError: At the first embedding: there is no compiled copy and none can be made.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        # Requests hold one text at a time, whichever thread it comes from.
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Load the compiled copy, making it if it is missing, instead of at the first embedding."""
        _ = self._engine

    def _forward_passages(self, reads: Sequence[TokenIds]) -> Iterator[tuple[int, Forward]]:
        # The longest first, so that no core is left with a long one at the end.
        order = sorted(range(len(reads)), key=lambda place: -len(reads[place].ids))
        found: list[tuple[int, Forward]] = []
        running: deque[tuple[int, Any]] = deque()
        with self._lock:
            free = list(self._engine[1])

            def finish_oldest() -> None:
                place, request = running.popleft()
                request.wait()
                found.append((place, _forward(request)))
                free.append(request)

            # No callbacks: they would need Python from the library's threads, which can deadlock.
            for place in order:
                if not free:
                    finish_oldest()
                request = free.pop()
                request.start_async(self._arrays(reads[place]))
                running.append((place, request))
            while running:
                finish_oldest()
        yield from found

    def _forward_query(self, read: TokenIds) -> Forward:
        ((_, forward),) = self._forward_passages([read])
        return forward

    def _arrays(self, read: TokenIds) -> list[Any]:
        width = min(-(-len(read.ids) // _STEP) * _STEP, self._room)
        arrays = padded([read], (1, width), self._settings.pad)
        return [arrays[name] for name in self._engine[0]]

    @cached_property
    def _engine(self) -> tuple[tuple[str, ...], list[Any]]:
        """Names of the inputs, and as many requests as keep all cores busy."""
        copy = compiled_copy(self._model, self._tokens)
        try:
            with openvino() as library:
                network = start(library, copy.graph)
                count = network.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
                return copy.inputs, [network.create_infer_request() for _ in range(count)]
        except Exception as error:  # whatever the library raises, torch can still serve
            raise CompileError(f"the compiled model {copy.graph} cannot be loaded: {error}") from error


def _forward(request: Any) -> Forward:
    # Copied: the request's own memory is used again for the next text.
    tokens = np.array(request.get_output_tensor(0).data[0], dtype=np.float32)
    return Forward(np.array(request.get_output_tensor(1).data[0], dtype=np.float32), tokens)


class FastestEncoder(TransformerEncoder):
    """Runs the compiled copy, or torch where there is none and none can be made."""

    def _forward_passages(self, reads: Sequence[TokenIds]) -> Iterator[tuple[int, Forward]]:
        return self._engine._forward_passages(reads)

    def _forward_query(self, read: TokenIds) -> Forward:
        return self._engine._forward_query(read)

    @cached_property
    def _engine(self) -> TransformerEncoder:
        try:
            compiled = CompiledEncoder(self._model)
            compiled.prepare()
        except (CompileError, ImportError) as error:
            _LOG.warning("torch embeds, slowly: %s", error)
            return TorchEncoder(self._model)
        return compiled
