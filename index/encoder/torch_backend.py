"""The encoder on sentence-transformers and torch, made to give one text one vector, bit for bit."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from corpus.errors import ModelError
from index.encoder.devices import Device
from index.encoder.model_files import ModelFiles
from index.encoder.parameters import INPUTS, EncoderParameters
from index.encoder.tokenizer import ModelTokenizer, TokenIds
from index.encoder.transformer import NO_TOKENS, Output, TransformerEncoder, pad

# Kernels sum in an order that depends on the shape, so every batch has one of a few fixed shapes:
# with other shapes the same text differed by 1e-3 in bf16, with fixed ones by nothing.
_ROWS = 8
_STEP = 16
# Tokens of a batch on a GPU, which is idle with few.
_GPU_TOKENS = 8192
_DEFAULT_LENGTH = 512
# Tokenizers without a limit state one of about 10**30.
_NO_LIMIT = 1_000_000


class TorchEncoder(TransformerEncoder):
    """A sentence-transformer run by torch, on the CPU or a GPU.

    On a CPU with AMX it computes in bf16, on a GPU in float32, whose matrix products CUDA rounds to TF32: the
    vectors are to be compared with those of the compiled copy.
    """

    def __init__(
        self, model: ModelFiles, *, tokenizer: ModelTokenizer | None = None, device: Device = Device.CPU
    ) -> None:
        super().__init__(model, tokenizer=tokenizer)
        self._device = device

    def _run_passages(self, encoded: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Output]]:
        prompt = self._tokenizer.parameters.passage_prompt
        by_width: defaultdict[int, list[int]] = defaultdict(list)
        for i, one in enumerate(encoded):
            # One token more than needed: a batch without padding takes another kernel.
            by_width[self._padded_width(len(one.ids) + 1, _STEP)].append(i)
        for width, members in sorted(by_width.items()):
            rows = _ROWS if self._device is Device.CPU else max(_ROWS, _GPU_TOKENS // width)
            # Where a text may fill the whole width, a row of padding keeps the kernel the same.
            size = rows - 1 if width == self._tokenizer.parameters.positions else rows
            for start in range(0, len(members), size):
                batch = members[start : start + size]
                outputs = self._run([encoded[i] for i in batch], (rows, width), prompt, tokens=tokens)
                yield from zip(batch, outputs, strict=True)

    def _run_query(self, encoded: TokenIds) -> Output:
        prompt = self._tokenizer.parameters.query_prompt
        return self._run([encoded], (1, len(encoded.ids)), prompt, tokens=True)[0]

    def _run(self, encoded: Sequence[TokenIds], shape: tuple[int, int], prompt: str, *, tokens: bool) -> list[Output]:
        """Put texts through the model's own modules, in exactly this shape."""
        network = self.network
        import torch

        parameters = self._tokenizer.parameters
        arrays = pad(encoded, shape, parameters.pad)
        features: dict[str, Any] = {
            name: torch.from_numpy(arrays[name]).to(network.device) for name in parameters.inputs
        }
        if prompt:
            features["prompt_length"] = self._tokenizer.prompt_length(prompt)
        with torch.inference_mode():
            found = network(features)
        texts = found["sentence_embedding"][: len(encoded)].float().cpu().numpy()
        if not tokens:
            return [Output(text, NO_TOKENS) for text in texts]
        return list(map(Output, texts, found["token_embeddings"][: len(encoded)].float().cpu().numpy()))

    @cached_property
    def network(self) -> Any:
        """The SentenceTransformer; loading takes seconds, which is why it waits for the first embedding."""
        network = load_network(self._model)
        import torch

        if self._device is Device.CUDA:
            torch.set_float32_matmul_precision("high")
        in_bf16 = self._device is Device.CPU and _has_amx()
        return network.to(device=self._device.value, dtype=torch.bfloat16 if in_bf16 else torch.float32)


def load_network(model: ModelFiles, kind: str = "SentenceTransformer") -> Any:
    """Load a model on the CPU by its library's class, without network and output; it is evaluated, not trained.

    Raises:
        ModelError: The library is missing, or the model cannot be loaded.
    """
    # The libraries warn about themselves while they are imported; none of it is for the person asking.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import sentence_transformers
        except ImportError as error:
            raise ModelError(
                f"the model {model.name} needs torch here, which is missing: pip install sentence-transformers"
            ) from error

        with _offline(), quiet():
            try:
                network = getattr(sentence_transformers, kind)(
                    str(model.folder),
                    device="cpu",
                    local_files_only=True,
                    trust_remote_code=False,
                    model_kwargs={"use_safetensors": True},
                )
            except Exception as error:  # the libraries raise whatever a damaged model leads to
                raise ModelError(
                    f"the model {model.name} in {model.folder} cannot be loaded: {error}. Fetch it again."
                ) from error
    return network.eval()


def describe(model: ModelFiles) -> tuple[EncoderParameters, bytes]:
    """Ask a model's objects for what `load_parameters` returns, or raise ModelError."""
    network = load_network(model)
    try:
        inputs = tuple(name for name in INPUTS if name in network.tokenizer.model_input_names or name == INPUTS[1])
        dimension, hidden = _widths(network, inputs)
        positions = _positions(network)
        stated = min(int(network.max_seq_length or _NO_LIMIT), positions or _NO_LIMIT)
        max_length = stated if stated < _NO_LIMIT else _DEFAULT_LENGTH
        prompts = network.prompts
        passage = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), "")
        parameters = EncoderParameters(
            max_length,
            positions or max_length,
            dimension,
            hidden,
            int(network.tokenizer.pad_token_id or 0),
            inputs,
            prompts.get("query") or "",
            passage,
        )
        return parameters, _tokenizer_json(network)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
        raise ModelError(f"the model {model.name} in {model.folder} cannot be used: {error!r}") from error


def _tokenizer_json(network: Any) -> bytes:
    if not network.tokenizer.is_fast:
        raise ValueError("it has no tokenizer.json, and none can be made")
    content = json.loads(network.tokenizer.backend_tokenizer.to_str()) | {"truncation": None, "padding": None}
    if getattr(network[0], "do_lower_case", False):
        # Older versions of the library do it themselves, before the tokenizer; twice is the same.
        steps = [{"type": "Lowercase"}, *([content["normalizer"]] if content["normalizer"] else [])]
        content["normalizer"] = {"type": "Sequence", "normalizers": steps}
    return json.dumps(content, ensure_ascii=False).encode()


def _widths(network: Any, inputs: Sequence[str]) -> tuple[int, int]:
    """Lengths of a text's vector and a token's: poolings may join several, and dense layers resize them."""
    import torch

    with torch.inference_mode():
        found = network({name: torch.ones((1, 2), dtype=torch.int64) for name in inputs})
    return int(found["sentence_embedding"].shape[-1]), int(found["token_embeddings"].shape[-1])


def _positions(network: Any) -> int:
    """Tokens there are positions for, 0 if unlimited; in some families they begin behind the padding token's id."""
    for name, module in network[0].named_modules():
        if name.endswith("position_embeddings") and hasattr(module, "num_embeddings"):
            return int(module.num_embeddings) - (0 if module.padding_idx is None else int(module.padding_idx) + 1)
    return max(0, int(getattr(network[0].auto_model.config, "max_position_embeddings", None) or 0))


def _has_amx() -> bool:
    """Whether the processor multiplies matrices in bf16 (AMX); with AVX-512 alone it is slower than fp32."""
    import torch

    # Absent before torch 2.6; without an answer fp32 is right.
    found: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(found.get("amx_bf16"))


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
