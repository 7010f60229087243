"""What a model's own objects say of it, asked once and kept in the cache as JSON.

Loading a SentenceTransformer takes seconds, and a question needs little of it: the tokenizer, the longest text, the
prompts. That is written down when the objects are first there, and read from then on.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path

from corpus.errors import QAError
from index.encoder.model_files import DEFAULT_MODEL, ModelFiles
from index.storage.files import cache_folder, write_to_cache
from index.storage.sealed import read_sealed, seal

_LOG = logging.getLogger(__name__)

# Raised whenever something else would be written.
_VERSION = 2
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
        return _DEFAULT, (model.folder / "tokenizer.json").read_bytes()
    cache = cache_folder()
    file = None if cache is None else cache / "parameters" / f"{model.fingerprint[:32]}-{_VERSION}"
    found = None if file is None else _read(file, model)
    if found is None:
        from index.encoder.torch_backend import describe

        found = describe(model)
        if file is not None:
            _write(file, model, *found)
    return found


def _read(file: Path, model: ModelFiles) -> tuple[EncoderParameters, bytes] | None:
    """What is in the cache; None if it is missing, damaged or of another model."""
    content = json.loads(read_sealed(file) or b"{}")
    if content.get("fingerprint") != model.fingerprint:
        return None
    values = content["parameters"]
    return EncoderParameters(**values | {"inputs": tuple(values["inputs"])}), content["tokenizer"].encode()


def _write(file: Path, model: ModelFiles, parameters: EncoderParameters, tokenizer: bytes) -> None:
    content = {"fingerprint": model.fingerprint, "parameters": asdict(parameters), "tokenizer": tokenizer.decode()}
    try:
        write_to_cache(file, seal(json.dumps(content).encode()))
    except QAError as error:
        _LOG.debug("the parameters of %s are not kept: %s", model.name, error)
