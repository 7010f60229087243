"""The encoder that runs on sentence-transformers and torch: one text has one vector, bit for bit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from index.compiled.forks import Unloadable
from index.compiled.runtime import has_amx
from index.encoder.devices import Device
from index.encoder.model_files import ModelFiles
from index.encoder.sentence_transformer import load_network
from index.encoder.tokenizer import TokenIds
from index.encoder.transformer import NO_TOKENS, Output, TransformerEncoder, pad

# Kernels sum in an order that depends on the shape, so every batch has one of a few fixed shapes:
# with varying shapes, vectors of the same text differed by 1e-3 in bf16; with fixed shapes they are equal.
_ROWS = 8
_STEP = 16
# Tokens in a batch on a GPU; with fewer, it would be partly idle.
_GPU_TOKENS = 8192


class TorchEncoder(TransformerEncoder):
    """A sentence-transformer run by torch, on the CPU or a GPU.

    On a CPU with AMX it computes in bf16, on a GPU in float32, whose matrix products CUDA rounds to TF32: its
    vectors must be comparable with those of the compiled copy.
    """

    def __init__(self, model: ModelFiles, *, device: Device = Device.CPU) -> None:
        super().__init__(model)
        self._device = device
        # Loaded on first use, as that takes seconds; runs one batch at a time, whichever thread calls.
        self._network = Unloadable(partial(_load, model, device))

    def _run_passages(self, encoded: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Output]]:
        prompt = self._tokenizer.parameters.passage_prompt
        by_width: defaultdict[int, list[int]] = defaultdict(list)
        for i, text in enumerate(encoded):
            # One token more than needed, as a batch without padding runs another kernel.
            by_width[self._padded_width(len(text.ids) + 1, _STEP)].append(i)
        for width, indexes in sorted(by_width.items()):
            rows = _ROWS if self._device is Device.CPU else max(_ROWS, _GPU_TOKENS // width)
            # Where a text may fill the whole width, a row of padding keeps the kernel the same.
            size = rows - 1 if width == self._tokenizer.parameters.positions else rows
            for start in range(0, len(indexes), size):
                batch = indexes[start : start + size]
                outputs = self._run([encoded[i] for i in batch], (rows, width), prompt, tokens=tokens)
                yield from zip(batch, outputs, strict=True)

    def _run_query(self, encoded: TokenIds) -> Output:
        prompt = self._tokenizer.parameters.query_prompt
        return self._run([encoded], (1, len(encoded.ids)), prompt, tokens=True)[0]

    def _run(self, encoded: Sequence[TokenIds], shape: tuple[int, int], prompt: str, *, tokens: bool) -> list[Output]:
        """Put texts through the model in exactly this shape."""
        parameters = self._tokenizer.parameters
        arrays = pad(encoded, shape, parameters.pad)
        features: dict[str, Any] = {name: arrays[name] for name in parameters.inputs}
        if prompt:
            features["prompt_length"] = self._tokenizer.prompt_length(prompt)
        return self._network.run(lambda network: _outputs(network, features, len(encoded), tokens=tokens))


def _load(model: ModelFiles, device: Device) -> Any:
    network = load_network(model)
    import torch

    if device is Device.CUDA:
        torch.set_float32_matmul_precision("high")
    in_bf16 = device is Device.CPU and has_amx()
    return network.to(device=device.value, dtype=torch.bfloat16 if in_bf16 else torch.float32)


def _outputs(network: Any, features: dict[str, Any], count: int, *, tokens: bool) -> list[Output]:
    """Put arrays through the model's own modules; return the outputs of the first `count` rows."""
    import torch

    tensors = {
        name: torch.from_numpy(value).to(network.device) if isinstance(value, np.ndarray) else value
        for name, value in features.items()
    }
    with torch.inference_mode():
        outputs = network(tensors)
    texts = outputs["sentence_embedding"][:count].float().cpu().numpy()
    if not tokens:
        return [Output(text, NO_TOKENS) for text in texts]
    return list(map(Output, texts, outputs["token_embeddings"][:count].float().cpu().numpy()))
