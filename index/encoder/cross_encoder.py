"""A cross-encoder of sentence-transformers: it reads a question and a text together, and scores the pair."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import ModelError
from index.compiled.forks import Unloadable
from index.encoder.devices import Device, find_gpu
from index.encoder.model_files import ModelFiles, find, read_json
from index.encoder.sentence_transformer import load_network

# Pairs in a batch.
_BATCH = 16
# Architectures that return scores: a classification head, or a language model that answers yes or no.
_SCORING = ("ForSequenceClassification", "ForCausalLM")


def load_cross_encoder(name: str, device: Device = Device.AUTO) -> CrossEncoderModel:
    """Find a cross-encoder by its hub name or its folder; it is loaded on first use.

    Raises:
        ModelError: The model is not found, incomplete, pickled, has code of its own, or is not a cross-encoder.
    """
    model = find(name, owner="cross-encoder")
    config = model.folder / "config.json"
    architectures = read_json(name, config, lambda content: list(map(str, content["architectures"])))
    if not any(architecture.endswith(_SCORING) for architecture in architectures):
        raise ModelError(
            f"the model {name} gives no scores: it is {', '.join(architectures)}. "
            "Choose a cross-encoder, such as cross-encoder/ms-marco-MiniLM-L6-v2."
        )
    return CrossEncoderModel(model, device)


class CrossEncoderModel:
    """Scores texts against a question, in float32; the same question and texts get the same scores.

    With `auto`, any GPU is used, as torch is loaded anyway.

    Attributes:
        name: The model as the user names it.
    """

    def __init__(self, model: ModelFiles, device: Device) -> None:
        self.name = model.name
        # Runs one call at a time, whichever thread calls.
        self._network = Unloadable(partial(_load_network, model, device))

    def scores(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Score how well each text answers: `(n,)`, higher is better, on the model's own scale. Truncates long texts.

        Raises:
            ModelError: The model cannot be loaded, has several labels, or fails.
            UsageError: The requested device cannot be used.
        """
        if not texts:
            return np.zeros(0)
        pairs = [(question, text) for text in texts]

        def predict(network: Any) -> Any:
            try:
                return network.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
            except Exception as error:  # an unusual model can make the libraries raise anything
                raise ModelError(f"the model {self.name} failed: {error}. Choose another model or device.") from error

        scores = np.asarray(self._network.run(predict), dtype=np.float64)
        if scores.shape != (len(texts),) or not np.isfinite(scores).all():
            raise ModelError(f"the model {self.name} does not give a number for each text. Choose another.")
        return scores


def _load_network(model: ModelFiles, device: Device) -> Any:
    gpu = find_gpu(device)
    network = load_network(model, "CrossEncoder")
    labels = int(network.num_labels)
    if labels != 1:
        raise ModelError(f"the model {model.name} has {labels} labels instead of one score. Choose another.")
    return network.float() if gpu is None else network.float().to(gpu.value)
