"""From a model's name to an encoder: the one place that decides which backend runs it."""

from __future__ import annotations

from index.compiled.copy import Hint
from index.encoder.model_files import DEFAULT_MODEL, find
from index.encoder.openvino_backend import FastestEncoder
from index.encoder.protocol import Encoder


def load_encoder(name: str = DEFAULT_MODEL, *, ahead: bool = False, hint: Hint = Hint.THROUGHPUT) -> Encoder:
    """The encoder of a model, by its name on the hub or its folder; it is loaded when it is first used.

    With `ahead` the compiled copy is loaded at once, in the background, if there is one.

    Raises:
        ModelError: The model is not found, incomplete, pickled, has code of its own, or is not what it should be.
    """
    return FastestEncoder(find(name), ahead=ahead, hint=hint)
