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

from corpus.errors import ModelError
from index.encoder.model_files import ModelFiles
from index.encoder.tokenizer import TokenIds
from index.encoder.transformer import Forward, TransformerEncoder, padded

# Kernels sum in an order that depends on the shape, so every batch has one of a few fixed shapes:
# with other shapes the same text differed by 1e-3 in bf16, with fixed ones by nothing.
_ROWS = 8
_STEP = 16


class TorchEncoder(TransformerEncoder):
    """A sentence-transformer run by torch, on a GPU where there is one."""

    def _forward_passages(self, reads: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Forward]]:
        for places, rows in self._batches(reads):
            yield from zip(places, self._run(rows, _ROWS, self._width(rows[0]), passage=True), strict=True)

    def _forward_query(self, read: TokenIds) -> Forward:
        return self._run([read], 1, len(read.ids), passage=False)[0]

    def _width(self, tokens: TokenIds) -> int:
        """Padded length. One token more than needed: a batch without padding takes another kernel."""
        return min(-(-(len(tokens.ids) + 1) // _STEP) * _STEP, self._room)

    def _batches(self, reads: Sequence[TokenIds]) -> Iterator[tuple[list[int], list[TokenIds]]]:
        """Texts of the same padded length, with their places in the order given."""
        by_width: defaultdict[int, list[int]] = defaultdict(list)
        for place, tokens in enumerate(reads):
            by_width[self._width(tokens)].append(place)
        for width, places in sorted(by_width.items()):
            # Where a text may fill the whole width, a row of padding keeps the kernel the same.
            size = _ROWS - 1 if width == self._room else _ROWS
            for start in range(0, len(places), size):
                chosen = places[start : start + size]
                yield chosen, [reads[place] for place in chosen]

    def _run(self, reads: Sequence[TokenIds], rows: int, width: int, *, passage: bool) -> list[Forward]:
        """Put texts through the model's own modules, in exactly this shape."""
        import torch

        arrays = padded(reads, (rows, width), self._settings.pad)
        if "token_type_ids" not in self.network.tokenizer.model_input_names:
            del arrays["token_type_ids"]
        features: dict[str, Any] = {key: torch.from_numpy(array).to(self._device) for key, array in arrays.items()}
        prompts = self._settings.prompts
        if prompt := prompts.passage if passage else prompts.query:
            features["prompt_length"] = self._tokens.prompt_length(prompt)
        with torch.inference_mode():
            found = self.network(features)
        texts = found["sentence_embedding"].float().cpu().numpy()
        tokens = found["token_embeddings"].float().cpu().numpy()
        return [Forward(texts[row], tokens[row]) for row in range(len(reads))]

    @cached_property
    def _device(self) -> str:
        import torch

        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"

    @cached_property
    def network(self) -> Any:
        """The SentenceTransformer; loading takes seconds, which is why it waits for the first embedding."""
        import torch

        network = load_network(self._model, self._device)
        return network.to(torch.bfloat16 if _native_bf16(self._device) else torch.float32)


def load_network(model: ModelFiles, device: str = "cpu") -> Any:
    """Load a model as a SentenceTransformer in evaluation mode, without network and without a word.

    Raises:
        ModelError: It cannot be loaded.
    """
    with _loading():
        from sentence_transformers import SentenceTransformer

        with _offline(), quiet():
            try:
                network = SentenceTransformer(
                    str(model.folder),
                    device=device,
                    local_files_only=True,
                    trust_remote_code=False,
                    model_kwargs={"use_safetensors": True},
                )
            except Exception as error:  # the libraries raise whatever a damaged model leads to
                raise ModelError(
                    f"the model {model.name} in {model.folder} cannot be loaded: {error}. Fetch it again."
                ) from error
    return network.eval()


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
def quiet() -> Iterator[None]:
    """No progress bars and no notices from transformers."""
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
