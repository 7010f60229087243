"""What a model's own objects say of it, asked once and kept in the cache as JSON.

Loading a SentenceTransformer takes seconds, and a question needs little of it: the tokenizer, the longest text, the
prompts. That is written down when the objects are first there, and read from then on.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from corpus.errors import QAError
from index.encoder.model_files import DEFAULT_MODEL, ModelFiles
from index.storage.files import cache_folder, write_to_cache

_LOG = logging.getLogger(__name__)

# Raised whenever something else would be written.
_VERSION = 1
_PARAMETERS, _TOKENIZER = "parameters.json", "tokenizer.json"
# What a BERT-like model may take.
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@dataclass(frozen=True, slots=True)
class EncoderParameters:
    """How texts are prepared for a model, and what it returns."""

    max_length: int  # tokens the model reads, special tokens and prompt included
    positions: int  # tokens it can be given, padding included; at least `max_length`
    dimension: int  # length of a text's vector
    hidden: int  # length of a token's vector
    pad: int  # id of the padding token
    inputs: tuple[str, ...]  # names of the arrays it takes, in order
    query_prompt: str  # prefix of a question
    passage_prompt: str  # prefix of a passage


# Those of the default model, whose files are pinned by their hashes; a test compares them with what its objects say.
_DEFAULT = EncoderParameters(256, 512, 384, 384, 0, INPUTS, "", "")


def load_parameters(model: ModelFiles) -> tuple[EncoderParameters, bytes]:
    """A model's parameters, and its tokenizer as JSON of the tokenizers library, or ModelError."""
    if model.name == DEFAULT_MODEL:
        return _DEFAULT, (model.folder / _TOKENIZER).read_bytes()
    cache = cache_folder()
    folder = None if cache is None else cache / "parameters" / f"{model.fingerprint[:32]}-{_VERSION}"
    found = None if folder is None else _read(folder, model)
    if found is None:
        from index.encoder.torch_backend import describe

        found = describe(model)
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
