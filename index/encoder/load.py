"""From a model's name to an encoder: the one place that decides what runs the model."""

from __future__ import annotations

from index.encoder.model_files import DEFAULT_MODEL, find
from index.encoder.openvino_backend import FastestEncoder
from index.encoder.openvino_compile import Hint
from index.encoder.protocol import Encoder


def load_encoder(name: str = DEFAULT_MODEL, *, ahead: bool = False, hint: Hint = Hint.THROUGHPUT) -> Encoder:
    """The encoder of a model; its weights are loaded when it first embeds.

    Args:
        name: A name on the hub, or a folder.
        ahead: Begin to load them at once, in the background, if they are compiled.
        hint: Whether many texts are to come, or few that somebody waits for; the vectors are the same.

    Raises:
        ModelError: The model is nowhere to be had, incomplete, pickled, or its files are not those promised.
    """
    return FastestEncoder(find(name), ahead=ahead, hint=hint)
