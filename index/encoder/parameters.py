"""What a model's own objects say of it, asked once and kept in the cache as JSON.

Loading a SentenceTransformer takes seconds, and a question needs little of it: the tokenizer, the longest text, the
prompts. That is written down when the objects are first there, and read from then on.
"""

# ruff: noqa: PLC0415 - heavy libraries are imported where they are used, never with this package

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from corpus.errors import ModelError, QAError
from index.encoder.model_files import ModelFiles
from index.storage.files import cache_folder, write_to_cache

_LOG = logging.getLogger(__name__)

# Raised whenever something else would be written.
_VERSION = 1
_PARAMETERS, _TOKENIZER = "parameters.json", "tokenizer.json"
_DEFAULT_LENGTH = 512
# Tokenizers without a limit state one of about 10**30.
_NO_LIMIT = 1_000_000
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@dataclass(frozen=True, slots=True)
class EncoderParameters:
    """How texts are prepared for a model, and what it returns.

    Attributes:
        max_length: Tokens the model reads, special tokens and prompt included.
        positions: Tokens it can be given, padding included; at least `max_length`.
        dimension: Length of a text's vector.
        hidden: Length of a token's vector.
        pad: Id of the padding token.
        inputs: Names of the arrays it takes, in order.
        query_prompt: Prefix of a question.
        passage_prompt: Prefix of a passage.
    """

    max_length: int
    positions: int
    dimension: int
    hidden: int
    pad: int
    inputs: tuple[str, ...]
    query_prompt: str
    passage_prompt: str


def load_parameters(model: ModelFiles) -> tuple[EncoderParameters, bytes]:
    """A model's parameters, and its tokenizer in the JSON of the tokenizers library.

    Raises:
        ModelError: They are not in the cache, and the model cannot be loaded.
    """
    cache = cache_folder()
    folder = None if cache is None else cache / "parameters" / f"{model.fingerprint[:32]}-{_VERSION}"
    found = None if folder is None else _read(folder, model)
    if found is None:
        from index.encoder.torch_backend import load_network

        found = _ask(model, load_network(model))
        if folder is not None:
            _write(folder, model, *found)
    return found


def _read(folder: Path, model: ModelFiles) -> tuple[EncoderParameters, bytes] | None:
    """What is in the cache; None if it is missing, damaged or of another model."""
    try:
        tokenizer = (folder / _TOKENIZER).read_bytes()
        content = json.loads((folder / _PARAMETERS).read_bytes())
        values = content["parameters"]
        if content["checksum"] == _checksum(model, values, tokenizer):
            return EncoderParameters(**values | {"inputs": tuple(values["inputs"])}), tokenizer
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        _LOG.debug("no usable parameters of %s in %s", model.name, folder)
    return None


def _write(folder: Path, model: ModelFiles, parameters: EncoderParameters, tokenizer: bytes) -> None:
    values = json.loads(json.dumps(asdict(parameters)))
    content = {"model": model.name, "parameters": values, "checksum": _checksum(model, values, tokenizer)}
    try:
        write_to_cache(folder / _TOKENIZER, tokenizer)
        write_to_cache(folder / _PARAMETERS, json.dumps(content, indent=1).encode())
    except QAError as error:
        _LOG.debug("the parameters of %s are not kept: %s", model.name, error)


def _checksum(model: ModelFiles, values: dict[str, Any], tokenizer: bytes) -> str:
    head = json.dumps([_VERSION, model.fingerprint, values], sort_keys=True).encode()
    return hashlib.sha256(head + b"\n" + tokenizer).hexdigest()


def _ask(model: ModelFiles, network: Any) -> tuple[EncoderParameters, bytes]:
    """Ask a loaded SentenceTransformer."""
    try:
        tokenizer = _tokenizer_of(model, network)
        inputs = tuple(name for name in _INPUTS if name in network.tokenizer.model_input_names or name == _INPUTS[1])
        dimension, hidden = _widths(network, inputs)
        positions = _positions(network)
        stated = min(int(network.max_seq_length or _NO_LIMIT), positions or _NO_LIMIT)
        max_length = stated if stated < _NO_LIMIT else _DEFAULT_LENGTH
        prompts = network.prompts
        passage = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), "")
        return EncoderParameters(
            max_length,
            positions or max_length,
            dimension,
            hidden,
            int(network.tokenizer.pad_token_id or 0),
            inputs,
            prompts.get("query") or "",
            passage,
        ), tokenizer
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
        raise ModelError(f"the model {model.name} in {model.folder} is no text encoder: {error!r}") from error


def _tokenizer_of(model: ModelFiles, network: Any) -> bytes:
    from tokenizers import Tokenizer
    from tokenizers.normalizers import Lowercase, Sequence

    if not getattr(network.tokenizer, "is_fast", False):
        raise ModelError(f"the model {model.name} has no tokenizer.json, and none can be made. Choose another model.")
    tokenizer = Tokenizer.from_str(network.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if getattr(network[0], "do_lower_case", False):
        # Older versions of the library do it themselves, before the tokenizer; twice is the same.
        steps = [Lowercase()] if tokenizer.normalizer is None else [Lowercase(), tokenizer.normalizer]
        tokenizer.normalizer = Sequence(steps)
    return bytes(tokenizer.to_str().encode())


def _widths(network: Any, inputs: tuple[str, ...]) -> tuple[int, int]:
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
