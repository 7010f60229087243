"""Make the compiled copy of a sentence-transformer, check it against the original, and keep it in the cache.

The copy is made from the SentenceTransformer's own modules, so it does what they do: transformer, pooling,
dense layers, normalisation. It is kept by the model's fingerprint and can be deleted at any time.
"""

# ruff: noqa: PLC0415 - heavy libraries are imported where they are used, never with this package

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import threading
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import QAError
from index.encoder.file_digests import sha256_of
from index.encoder.model_files import ModelFiles
from index.encoder.openvino_attention import write_out_attention
from index.encoder.openvino_runtime import convert_model, openvino
from index.encoder.tokenizer import ModelTokenizer
from index.encoder.transformer import padded
from index.storage import disk
from index.storage.files import cache_folder, sweep_cache, write_to_cache

_LOG = logging.getLogger(__name__)

# Raised whenever the copy would be made otherwise.
_VERSION = 4
_GRAPH, _WEIGHTS, _MANIFEST = "model.xml", "model.bin", "manifest.json"
_FILES = (_GRAPH, _WEIGHTS)
# Padding beside each check text: the most that the encoder puts there.
_PADDING = 15
# Cosine of each check text's vectors with the original's in fp32.
_AGREEMENT = 0.9995
_CHECKS = (
    "Why?",
    "The meeting was moved to Thursday at half past nine.",
    "1. Zürich › 東京 › القاهرة: 3,704 of 11,603 submissions (32 %), see https://example.org/a_b?c=1#d 🙂",
    "a " * 40,
    "Whoever keeps notes for long enough finds that the same fact stands in three places, each a little "
    "different; the question is then not where it stands but which of them was right, and when. " * 4,
)


class CompileError(Exception):
    """The model cannot be compiled here, or its copy does not agree with it; torch serves instead."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled copy, its files checked.

    Attributes:
        graph: The OpenVINO model, its weights beside it.
        inputs: Names of the arrays it reads, in order.
    """

    graph: Path
    inputs: tuple[str, ...]


def compiled_copy(model: ModelFiles, tokens: ModelTokenizer) -> Compiled:
    """Find a model's compiled copy, and make it where it is missing or damaged.

    Raises:
        CompileError: It cannot be made, or there is nowhere to keep it.
        ModelError: The model itself cannot be loaded.
    """
    folder = _folder_of(model)
    if folder is None:
        raise CompileError("there is no cache folder to keep a compiled model in")
    found = _open(folder)
    if found is None:
        _make(model, tokens, folder)
        found = _open(folder)
    if found is None:
        raise CompileError(f"the compiled model in {folder} does not hold what was written")
    return found


class Hint(Enum):
    """What a compiled copy is to be good at, in OpenVINO's words."""

    THROUGHPUT = "THROUGHPUT"  # texts a second: a core for each of several batches
    LATENCY = "LATENCY"  # the next text: all cores for one batch, which share the reading of the weights


class Loading(threading.Thread):
    """Loads a compiled copy, if it is there, while the caller does something else.

    OpenVINO itself is imported by the caller: imports take turns, and this one is what all the rest waits for.
    """

    def __init__(self, model: ModelFiles, hint: Hint) -> None:
        super().__init__(name=f"loading {model.name}")
        self._hint = hint
        self._folder = _folder_of(model)
        self._found: tuple[Compiled, Any] | None = None
        with openvino() as library:
            self._library = library

    def run(self) -> None:
        """Load; what fails is left to whoever needs it."""
        copy = None if self._folder is None else _open(self._folder)
        if copy is not None:
            with contextlib.suppress(Exception):
                self._found = (copy, start(self._library, copy, self._hint))

    def take(self) -> tuple[Compiled, Any] | None:
        """Wait for the copy and OpenVINO's model of it; None where it could not be loaded."""
        self.join()
        return self._found


def _folder_of(model: ModelFiles) -> Path | None:
    cache = cache_folder()
    return None if cache is None else cache / "compiled" / f"{model.fingerprint[:32]}-{_VERSION}"


def _open(folder: Path) -> Compiled | None:
    """The copy in a folder, or None where it is missing or not as it was written."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        if manifest["sha256"] == sha256_of(folder, _FILES):
            return Compiled(folder / _GRAPH, tuple(manifest["inputs"]))
    except (OSError, ValueError, KeyError, TypeError):
        _LOG.debug("no usable compiled model in %s", folder)
    return None


def _make(model: ModelFiles, tokens: ModelTokenizer, folder: Path) -> None:
    temporary = disk.temporary_name(folder)
    try:
        disk.make_folders(folder.parent)
        sweep_cache(folder.parent)
        disk.make_folder(temporary, mode=0o700)
    except OSError as error:
        raise CompileError(f"a compiled model cannot be kept in {folder.parent}: {error.strerror}") from error
    try:
        _LOG.warning("preparing %s for this machine, which is done once and takes some ten seconds", model.name)
        inputs = _convert(model, tokens, temporary)
        # What was checked is what is on the disk before it gets its name.
        for name in _FILES:
            disk.sync_file(temporary / name)
        manifest = {"version": _VERSION, "model": model.name, "inputs": inputs, "sha256": sha256_of(temporary, _FILES)}
        disk.write_new(temporary / _MANIFEST, json.dumps(manifest, indent=1).encode())
        disk.sync_folder(temporary)
        disk.delete_all(folder)
        disk.rename(temporary, folder)
        disk.sync_folder(folder.parent)
    except OSError as error:
        # Another process may have put its own copy there meanwhile, which is as good.
        if _open(folder) is None:
            raise CompileError(f"the compiled model cannot be written to {folder}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            disk.delete_all(temporary)


def _convert(model: ModelFiles, tokens: ModelTokenizer, folder: Path) -> list[str]:
    """Convert and check; returns the names of the inputs, in order."""
    import torch

    from index.encoder.torch_backend import load_network, quiet

    prompts = tokens.settings.prompts
    network = load_network(model)
    if (prompts.query or prompts.passage) and any(not getattr(part, "include_prompt", True) for part in network):
        raise CompileError(f"{model.name} pools without its prompt, which differs from text to text")
    inputs = [
        name
        for name in ("input_ids", "attention_mask", "token_type_ids")
        if name in network.tokenizer.model_input_names or name == "attention_mask"
    ]

    class Whole(torch.nn.Module):  # type: ignore[misc]  # torch is not typed here
        """The model from token ids to both kinds of vectors, as one graph."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *arrays: Any) -> tuple[Any, Any]:
            features = self.network(dict(zip(inputs, arrays, strict=True)))
            return features["token_embeddings"], features["sentence_embedding"]

    example = tuple(torch.ones((2, 16), dtype=torch.int64) for _ in inputs)
    checks = [tokens.truncate(text, prompt=prompts.passage) for text in _CHECKS]
    with openvino() as library, quiet(), torch.inference_mode():
        try:
            graph = convert_model(Whole().eval(), example)
            for place in graph.inputs:
                place.get_node().set_partial_shape(library.PartialShape([-1, -1]))
                place.get_node().set_element_type(library.Type.i64)
            write_out_attention(library, graph, inputs.index("attention_mask"), tokens.settings.max_length)
            # Half the file and a third less memory; what that changes is below what bf16 rounds off.
            disk.about_to("write", folder / _GRAPH)
            library.save_model(graph, folder / _GRAPH, compress_to_fp16=True)
            # The first question finds its own prepared too.
            run, _ = (start(library, Compiled(folder / _GRAPH, tuple(inputs)), hint) for hint in Hint)
            for read in checks:
                length = len(read.ids)
                arrays = padded([read], (1, length), tokens.settings.pad)
                expected = network({name: torch.from_numpy(arrays[name]) for name in inputs})["sentence_embedding"]
                arrays = padded([read], (1, min(length + _PADDING, tokens.settings.max_length)), tokens.settings.pad)
                _require_agreement(model.name, run([arrays[name] for name in inputs])[1], expected.numpy())
        except CompileError:
            raise
        except Exception as error:  # the converter raises whatever an unusual model leads to
            raise CompileError(f"{model.name} cannot be compiled: {error}") from error
    return inputs


def _require_agreement(name: str, found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    a, b = found.reshape(-1).astype(np.float64), expected.reshape(-1).astype(np.float64)
    cosine = float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))) if a.shape == b.shape else 0.0
    # Written so that NaN fails too.
    if not cosine >= _AGREEMENT:
        raise CompileError(f"compiled, {name} gives other vectors than it should (cosine {cosine:.4f})")


def start(library: Any, copy: Compiled, hint: Hint, *, precision: str = "") -> Any:
    """Load a compiled copy for the processor, in bf16 where it computes in that itself, or as `precision` says.

    What OpenVINO makes of the graph for this processor is kept beside it, without the weights: loading that takes
    half as long as making it again.
    """
    core = library.Core()
    capabilities = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    config = {
        "PERFORMANCE_HINT": hint.value,
        "INFERENCE_PRECISION_HINT": precision or ("bf16" if "BF16" in capabilities else "f32"),
        "CACHE_MODE": "OPTIMIZE_SIZE",
    }
    device = core.get_property("CPU", "FULL_DEVICE_NAME")
    machine = (library.get_version(), device, *sorted(capabilities), *sorted(config.values()))
    name = hashlib.sha256("\n".join(machine).encode()).hexdigest()[:16]
    prepared = copy.graph.with_name(f"{name}.prepared")
    weights = {"WEIGHTS_PATH": str(copy.graph.with_name(_WEIGHTS))}
    data = _unsealed(prepared)
    if data is not None:
        try:
            return core.import_model(io.BytesIO(data), "CPU", config | weights)
        except RuntimeError as error:
            _LOG.info("%s is made again: %s", prepared, error)
    network = core.compile_model(copy.graph, "CPU", config)
    try:
        data = network.export_model().getvalue()
        write_to_cache(prepared, hashlib.sha256(data).digest() + data)
    except (RuntimeError, QAError) as error:
        _LOG.debug("%s is not kept: %s", prepared, error)
    return network


def _unsealed(file: Path) -> bytes | None:
    """What is behind the digest at the head of a file; None where it is missing or not as it was written."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    head, body = data[: hashlib.sha256().digest_size], data[hashlib.sha256().digest_size :]
    return body if head == hashlib.sha256(body).digest() else None
