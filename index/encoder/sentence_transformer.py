"""Load a model with sentence-transformers, and keep the parameters of the loaded model in the cache as JSON.

Loading takes seconds, and preparing a question takes only the tokenizer, the maximum length and the prompts. So these
are cached when the model is first loaded.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from corpus.errors import ModelError, QAError
from index.encoder.model_files import DEFAULT_MODEL, ModelFiles
from index.storage.files import cache_folder, write_to_cache
from index.storage.sealed import read_sealed, seal

_LOG = logging.getLogger(__name__)

# Incremented whenever the cached content would change.
_VERSION = 2
# Inputs that a BERT-like model may have.
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_DEFAULT_LENGTH = 512
# Tokenizers without a limit give one of about 10**30.
_NO_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class EncoderParameters:
    """How texts are prepared for a model, and what it returns."""

    max_length: int  # tokens the model reads, special tokens and prompt included
    positions: int  # tokens it accepts, padding included; at least `max_length`
    dimension: int  # length of a text's vector
    hidden: int  # length of a token's vector
    pad: int  # id of the padding token
    inputs: tuple[str, ...]  # names of the arrays it takes, in order
    query_prompt: str  # prefix of a question
    passage_prompt: str  # prefix of a passage


# The default model's files are pinned by their hashes; a test compares this with the loaded model.
_DEFAULT_PARAMETERS = EncoderParameters(256, 512, 384, 384, 0, INPUTS, "", "")


def load_parameters(model: ModelFiles) -> tuple[EncoderParameters, bytes]:
    """Return a model's parameters, and its tokenizer as JSON of the tokenizers library; raises ModelError."""
    if model.name == DEFAULT_MODEL:
        return _DEFAULT_PARAMETERS, (model.folder / "tokenizer.json").read_bytes()
    file = cache_folder() / "parameters" / f"{model.fingerprint[:32]}-{_VERSION}"
    cached = _read_cache(file, model)
    if cached is None:
        cached = inspect_model(model)
        _write_cache(file, model, *cached)
    return cached


def _read_cache(file: Path, model: ModelFiles) -> tuple[EncoderParameters, bytes] | None:
    """Read a model's parameters and tokenizer; None if the file is missing, damaged or another model's."""
    content = json.loads(read_sealed(file) or b"{}")
    if content.get("fingerprint") != model.fingerprint:
        return None
    values = content["parameters"]
    return EncoderParameters(**values | {"inputs": tuple(values["inputs"])}), content["tokenizer"].encode()


def _write_cache(file: Path, model: ModelFiles, parameters: EncoderParameters, tokenizer: bytes) -> None:
    content = {"fingerprint": model.fingerprint, "parameters": asdict(parameters), "tokenizer": tokenizer.decode()}
    try:
        write_to_cache(file, seal(json.dumps(content).encode()))
    except QAError as error:
        _LOG.debug("the parameters of %s are not kept: %s", model.name, error)


def load_network(model: ModelFiles, class_name: str = "SentenceTransformer") -> Any:
    """Load a model on the CPU with a class of sentence-transformers, offline, quietly and in evaluation mode.

    Raises:
        ModelError: The library is missing, or the model cannot be loaded.
    """
    # The libraries' warnings on import do not concern the user.
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
                network = getattr(sentence_transformers, class_name)(
                    str(model.folder),
                    device="cpu",
                    local_files_only=True,
                    trust_remote_code=False,
                    model_kwargs={"use_safetensors": True},
                )
            except Exception as error:  # a damaged model can make the libraries raise anything
                raise ModelError(
                    f"the model {model.name} in {model.folder} cannot be loaded: {error}. Fetch it again."
                ) from error
    return network.eval()


def inspect_model(model: ModelFiles) -> tuple[EncoderParameters, bytes]:
    """Load a model, and return its parameters and tokenizer like `load_parameters`; raises ModelError."""
    network = load_network(model)
    try:
        inputs = tuple(name for name in INPUTS if name in network.tokenizer.model_input_names or name == INPUTS[1])
        dimension, hidden = _vector_lengths(network, inputs)
        positions = _count_positions(network)
        limit = min(int(network.max_seq_length or _NO_LIMIT), positions or _NO_LIMIT)
        max_length = limit if limit < _NO_LIMIT else _DEFAULT_LENGTH
        prompts = network.prompts
        passage_prompt = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), "")
        parameters = EncoderParameters(
            max_length,
            positions or max_length,
            dimension,
            hidden,
            int(network.tokenizer.pad_token_id or 0),
            inputs,
            prompts.get("query") or "",
            passage_prompt,
        )
        return parameters, _tokenizer_json(network)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
        raise ModelError(f"the model {model.name} in {model.folder} cannot be used: {error!r}") from error


def _tokenizer_json(network: Any) -> bytes:
    if not network.tokenizer.is_fast:
        raise ValueError("it has no tokenizer.json, and none can be made")
    content = json.loads(network.tokenizer.backend_tokenizer.to_str()) | {"truncation": None, "padding": None}
    if getattr(network[0], "do_lower_case", False):
        # Older versions of the library lowercase before the tokenizer; doing so twice does no harm.
        steps = [{"type": "Lowercase"}, *([content["normalizer"]] if content["normalizer"] else [])]
        content["normalizer"] = {"type": "Sequence", "normalizers": steps}
    return json.dumps(content, ensure_ascii=False).encode()


def _vector_lengths(network: Any, inputs: Sequence[str]) -> tuple[int, int]:
    """Return the lengths of text and token vectors: poolings may concatenate several, and dense layers resize them."""
    import torch

    with torch.inference_mode():
        outputs = network({name: torch.ones((1, 2), dtype=torch.int64) for name in inputs})
    return int(outputs["sentence_embedding"].shape[-1]), int(outputs["token_embeddings"].shape[-1])


def _count_positions(network: Any) -> int:
    """Count the model's positions, 0 if unlimited; in some families they begin after the padding token's id."""
    for name, module in network[0].named_modules():
        if name.endswith("position_embeddings") and hasattr(module, "num_embeddings"):
            return int(module.num_embeddings) - (0 if module.padding_idx is None else int(module.padding_idx) + 1)
    return max(0, int(getattr(network[0].auto_model.config, "max_position_embeddings", None) or 0))


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    """Prevent network access while a model is loaded.

    The hub library reads its environment only on import, so its constant is set too.
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
    """Silence the progress bars and notices of transformers."""
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
