"""The encoder on sentence-transformers and torch, made to give one text one vector, bit for bit."""

# ruff: noqa: PLC0415 - heavy libraries are imported where they are used, never with this package

from __future__ import annotations

import contextlib
import os
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import ModelError

from .encoder import TokenVectors, Vectors
from .models import Model
from .tokens import TokenIds, Tokens

# Kernels sum in an order that depends on the shape, so every batch has one of a few fixed shapes:
# with other shapes the same text differed by 1e-3 in bf16, with fixed ones by nothing.
_ROWS = 8
_STEP = 16


class TorchEncoder:
    """A sentence-transformer; fulfils `index.encoder.Encoder`. Weights are loaded at the first embedding.

    Args:
        model: From `index.models.find`.

    Raises:
        ModelError: Settings or tokenizer cannot be read (here); weights cannot be loaded (when they are).
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._tokens = Tokens(model)
        self._settings = self._tokens.settings

    @property
    def name(self) -> str:
        """The model as the user names it."""
        return self._model.name

    @property
    def fingerprint(self) -> str:
        """Digest (hex) of all that shapes the vectors."""
        return self._model.fingerprint

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._settings.dimension

    @cached_property
    def max_tokens(self) -> int:
        """Tokens of a passage that the model reads, prompt and special tokens already taken off."""
        return self._tokens.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens not counted, nothing truncated; loads no weights."""
        return self._tokens.count(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: `(n, dim) float32`, unit L2 norm, in the order given.

        Raises:
            ValueError: A text has more than `max_tokens` tokens.
            ModelError: The model cannot be loaded or does not give what its files promise.
        """
        found = np.empty((len(texts), self.dimension), dtype=np.float32)
        for places, rows in self._batches(self._passages(texts)):
            features = self._run_batch(rows)
            found[places] = self._unit(features["sentence_embedding"], self.dimension)[: len(rows)]
        return found

    def encode_query(self, text: str) -> Vectors:
        """Embed one question: `(dim,) float32`, unit L2 norm; what is past the model's length is cut."""
        features = self._run_query(self._query(text))
        row: Vectors = self._unit(features["sentence_embedding"], self.dimension)[0]
        return row

    def encode_query_tokens(self, text: str) -> TokenVectors:
        """Token vectors of one question; what is past the model's length is cut."""
        read = self._query(text)
        return self._token_vectors(self._run_query(read)["token_embeddings"], 0, read)

    def encode_passage_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Token vectors of each passage.

        Raises:
            ValueError: A text has more than `max_tokens` tokens.
        """
        found: dict[int, TokenVectors] = {}
        for places, rows in self._batches(self._passages(texts)):
            hidden = self._run_batch(rows)["token_embeddings"]
            for row, (place, read) in enumerate(zip(places, rows, strict=True)):
                found[place] = self._token_vectors(hidden, row, read)
        return [found[place] for place in range(len(texts))]

    def _passages(self, texts: Sequence[str]) -> list[TokenIds]:
        read = self._tokens.read(texts, prompt=self._settings.prompts.passage)
        for text, tokens in zip(texts, read, strict=True):
            if len(tokens.ids) > self._settings.max_length:
                raise ValueError(
                    f"a passage has {len(tokens.kept)} tokens and the model reads {self.max_tokens}: {text[:60]!r}"
                )
        return read

    def _query(self, text: str) -> TokenIds:
        return self._tokens.read_cut(text, prompt=self._settings.prompts.query)

    def _width(self, tokens: TokenIds) -> int:
        """Padded length. One token more than needed: a batch without padding takes another kernel."""
        return min(-(-(len(tokens.ids) + 1) // _STEP) * _STEP, self._room)

    @property
    def _room(self) -> int:
        # RoBERTa's positions begin at 2, so two places of what the settings state are not usable.
        return max(self._settings.max_length, self._settings.positions - 2)

    def _batches(self, read: Sequence[TokenIds]) -> Iterator[tuple[list[int], list[TokenIds]]]:
        """Texts of the same padded length, with their places in the order given."""
        by_width: defaultdict[int, list[int]] = defaultdict(list)
        for place, tokens in enumerate(read):
            by_width[self._width(tokens)].append(place)
        for width, places in sorted(by_width.items()):
            # Where a text may fill the whole width, a row of padding keeps the kernel the same.
            size = _ROWS - 1 if width == self._room else _ROWS
            for start in range(0, len(places), size):
                chosen = places[start : start + size]
                yield chosen, [read[place] for place in chosen]

    def _run_batch(self, rows: Sequence[TokenIds]) -> dict[str, Any]:
        return self._run(rows, (_ROWS, self._width(rows[0])), self._settings.prompts.passage)

    def _run_query(self, tokens: TokenIds) -> dict[str, Any]:
        return self._run([tokens], (1, len(tokens.ids)), self._settings.prompts.query)

    def _run(self, rows: Sequence[TokenIds], shape: tuple[int, int], prompt: str) -> dict[str, Any]:
        """Put rows through the model's own modules, in exactly this shape."""
        import torch

        ids = np.full(shape, self._settings.pad, dtype=np.int64)
        types = np.zeros(shape, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        mask[:, 0] = 1  # a row that attends to nothing would be NaN
        for row, tokens in enumerate(rows):
            length = len(tokens.ids)
            ids[row, :length] = tokens.ids
            types[row, :length] = tokens.types
            mask[row, :length] = 1
        arrays = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in self._network.tokenizer.model_input_names:
            arrays["token_type_ids"] = types
        features: dict[str, Any] = {key: torch.from_numpy(array).to(self._device) for key, array in arrays.items()}
        if prompt:
            features["prompt_length"] = self._tokens.prompt_length(prompt)
        with torch.inference_mode():
            found: dict[str, Any] = self._network(features)
        return found

    def _token_vectors(self, hidden: Any, row: int, tokens: TokenIds) -> TokenVectors:
        vectors = self._unit(hidden[row], self._settings.hidden)
        return TokenVectors(np.ascontiguousarray(vectors[tokens.kept]), tokens.spans)

    def _unit(self, values: Any, dimension: int) -> Vectors:
        found: npt.NDArray[np.float32] = values.float().cpu().numpy()
        if found.shape[-1] != dimension:
            raise ModelError(f"{self.name} gives vectors of {found.shape[-1]}, its files promise {dimension}.")
        norms = np.linalg.norm(found, axis=-1, keepdims=True)
        unit: Vectors = found / np.maximum(norms, np.finfo(np.float32).tiny)
        return unit

    @cached_property
    def _device(self) -> str:
        import torch

        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"

    @cached_property
    def _network(self) -> Any:
        """The SentenceTransformer; loading takes seconds, which is why it waits for the first embedding."""
        with _loading():
            import torch
            from sentence_transformers import SentenceTransformer

            with _offline(), _quiet():
                try:
                    network = SentenceTransformer(
                        str(self._model.folder),
                        device=self._device,
                        local_files_only=True,
                        model_kwargs={"use_safetensors": True},
                    )
                except Exception as error:  # the libraries raise whatever a damaged model leads to
                    raise ModelError(
                        f"the model {self.name} in {self._model.folder} cannot be loaded: {error}. Fetch it again."
                    ) from error
            network.eval()
            return network.to(torch.bfloat16 if _native_bf16(self._device) else torch.float32)


def _native_bf16(device: str) -> bool:
    """Whether the processor computes in bf16 itself; emulated it is slower than fp32."""
    import torch

    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device != "cpu":
        return False
    # Named with an underscore until torch 2.6 and absent before 2.4; without an answer fp32 is right.
    capabilities = getattr(torch.cpu, "get_capabilities", None)
    if capabilities is not None:
        found = capabilities()
        return bool(found.get("avx512_bf16") or found.get("amx_bf16"))
    asked = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(asked is not None and asked())


@contextlib.contextmanager
def _loading() -> Iterator[None]:
    # The libraries warn about themselves while they are imported; none of it is for the person asking.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    """No network while loading, and afterwards everything as it was.

    The hub library reads its environment once, when it is imported, so both are set.
    """
    from huggingface_hub import constants

    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    before = {name: os.environ.get(name) for name in names}
    was_offline = constants.HF_HUB_OFFLINE
    os.environ.update(dict.fromkeys(names, "1"))
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = was_offline
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars and no notices while loading."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
