"""Make the compiled copy of a sentence-transformer, check it against the original, and keep it in the cache.

The copy is made from the SentenceTransformer's own modules, so it does what they do: transformer, pooling,
dense layers, normalisation. It is kept by the model's fingerprint and can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import threading
from collections.abc import Callable
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
from index.encoder.transformer import pad
from index.storage import disk
from index.storage.files import ABANDONED_SECONDS, cache_folder, sweep, write_to_cache

_LOG = logging.getLogger(__name__)

# Raised whenever the copy would be made otherwise.
_VERSION = 4
_GRAPH, _WEIGHTS, _MANIFEST = "model.xml", "model.bin", "manifest.json"
_FILES = (_GRAPH, _WEIGHTS)
_DIGEST = hashlib.sha256().digest_size
# Padding behind each check text: the most that the encoder adds.
_PADDING = 15
# Cosine of each check text's vectors with the original's in fp32.
_AGREEMENT = 0.9995
_CHECKS = (
    "Why?",
    "The meeting was moved to Thursday at half past nine.",
    "1. Zürich › 東京 › القاهرة: 3,704 of 11,603 submissions (32 %), see https://example.org/a_b?c=1#d 🙂",
    "a " * 40,
    "Whoever keeps notes finds the same fact in three places; which of them was right, and when? " * 8,
)


class CompileError(Exception):
    """The model cannot be compiled here, or its copy disagrees with it; torch serves instead."""


class Hint(Enum):
    """What the compiled model is optimised for, in OpenVINO's words; the vectors are the same."""

    THROUGHPUT = "THROUGHPUT"  # texts a second: a core for each of several batches
    LATENCY = "LATENCY"  # the next text: all cores for one batch, which share the reading of the weights


def compiled_graph(model: ModelFiles, tokenizer: ModelTokenizer) -> Path:
    """Find a model's compiled copy, its weights beside it, and make it if it is missing or damaged.

    Raises:
        CompileError: It cannot be made, or there is nowhere to keep it.
        ModelError: The model itself cannot be loaded.
    """
    folder = _folder_of(model)
    if folder is None:
        raise CompileError("there is no cache folder to keep a compiled model in")
    if not _is_sound(folder):
        _make(model, tokenizer, folder)
        if not _is_sound(folder):
            raise CompileError(f"the compiled model in {folder} is damaged: checksum mismatch")
    return folder / _GRAPH


def begin_loading(model: ModelFiles, hint: Hint) -> Callable[[], Any] | None:
    """Start to load the compiled copy in a thread, if there is one, while the caller does something else.

    OpenVINO itself is imported by the caller: imports take turns, and this one is what all the rest waits for. What is
    returned waits for the model, and returns None if it could not be loaded.
    """
    folder = _folder_of(model)
    loaded: list[Any] = []
    try:
        with openvino() as library:
            pass
    except ImportError:
        return None

    def load() -> None:
        if folder is not None and _is_sound(folder):
            # Failures are left to whoever needs the model.
            with contextlib.suppress(Exception):
                loaded.append(load_graph(library, folder / _GRAPH, hint))

    def result() -> Any:
        thread.join()
        return loaded[0] if loaded else None

    thread = threading.Thread(target=load, name=f"loading {model.name}")
    thread.start()
    return result


def _folder_of(model: ModelFiles) -> Path | None:
    cache = cache_folder()
    return None if cache is None else cache / "compiled" / f"{model.fingerprint[:32]}-{_VERSION}"


def _is_sound(folder: Path) -> bool:
    """Whether a copy is there and its checksums match."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        return bool(manifest["sha256"] == sha256_of(folder, _FILES))
    except (OSError, ValueError, KeyError, TypeError):
        _LOG.debug("no usable compiled model in %s", folder)
        return False


def _make(model: ModelFiles, tokenizer: ModelTokenizer, folder: Path) -> None:
    temporary = disk.temporary_name(folder)
    try:
        disk.make_folders(folder.parent)
        sweep(folder.parent, older_than=ABANDONED_SECONDS)
        disk.make_folder(temporary, mode=0o700)
    except OSError as error:
        raise CompileError(f"a compiled model cannot be kept in {folder.parent}: {error.strerror}") from error
    try:
        _LOG.warning("preparing %s for this machine (once, about ten seconds)", model.name)
        _convert(model, tokenizer, temporary)
        # What was checked is what is on the disk before it gets its name.
        for name in _FILES:
            disk.sync_file(temporary / name)
        manifest = {"version": _VERSION, "model": model.name, "sha256": sha256_of(temporary, _FILES)}
        disk.write_new(temporary / _MANIFEST, json.dumps(manifest, indent=1).encode())
        disk.sync_folder(temporary)
        disk.delete_all(folder)
        disk.rename(temporary, folder)
        disk.sync_folder(folder.parent)
    except OSError as error:
        # Another process may have put its own copy there meanwhile, which is as good.
        if not _is_sound(folder):
            raise CompileError(f"the compiled model cannot be written to {folder}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            disk.delete_all(temporary)


def _convert(model: ModelFiles, tokenizer: ModelTokenizer, folder: Path) -> None:
    """Compile the model into a folder, and check the copy against the original."""
    import torch

    from index.encoder.torch_backend import load_network, quiet

    parameters = tokenizer.parameters
    network = load_network(model)
    prompted = parameters.query_prompt or parameters.passage_prompt
    if prompted and any(not getattr(part, "include_prompt", True) for part in network):
        raise CompileError(f"{model.name} pools without its prompt, which differs from text to text")

    class Whole(torch.nn.Module):  # type: ignore[misc]  # torch is not typed here
        """The model from token ids to both kinds of vectors, as one graph."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *arrays: Any) -> tuple[Any, Any]:
            features = self.network(dict(zip(parameters.inputs, arrays, strict=True)))
            return features["token_embeddings"], features["sentence_embedding"]

    example = tuple(torch.ones((2, 16), dtype=torch.int64) for _ in parameters.inputs)
    with openvino() as library, quiet(), torch.inference_mode():
        try:
            graph = convert_model(Whole().eval(), example)
            for one in graph.inputs:
                one.get_node().set_partial_shape(library.PartialShape([-1, -1]))
                one.get_node().set_element_type(library.Type.i64)
            write_out_attention(library, graph, parameters.inputs.index("attention_mask"), parameters.max_length)
            # Half the file and a third less memory; what that changes is below what bf16 rounds off.
            disk.about_to("write", folder / _GRAPH)
            library.save_model(graph, folder / _GRAPH, compress_to_fp16=True)
            # Both are prepared, so that the first question need not.
            compiled, _ = (load_graph(library, folder / _GRAPH, hint) for hint in Hint)
            _compare(model.name, tokenizer, network, compiled)
        except CompileError:
            raise
        except Exception as error:  # the converter raises whatever an unusual model leads to
            raise CompileError(f"{model.name} cannot be compiled: {error}") from error


def _compare(name: str, tokenizer: ModelTokenizer, network: Any, compiled: Any) -> None:
    """Require that the compiled copy, with padding, gives the vectors that the original gives without."""
    import torch

    parameters = tokenizer.parameters
    for text in _CHECKS:
        encoded = tokenizer.truncate(text, prompt=parameters.passage_prompt)
        length = len(encoded.ids)
        exact = pad([encoded], (1, length), parameters.pad)
        wider = pad([encoded], (1, min(length + _PADDING, parameters.max_length)), parameters.pad)
        expected = network({key: torch.from_numpy(exact[key]) for key in parameters.inputs})["sentence_embedding"]
        _require_agreement(name, compiled([wider[key] for key in parameters.inputs])[1], expected.numpy())


def _require_agreement(name: str, found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    a, b = found.reshape(-1).astype(np.float64), expected.reshape(-1).astype(np.float64)
    cosine = float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))) if a.shape == b.shape else 0.0
    # Written so that NaN fails too.
    if not cosine >= _AGREEMENT:
        raise CompileError(f"compiled, {name} does not give the vectors of the original (cosine {cosine:.4f})")


def load_graph(library: Any, graph: Path, hint: Hint, *, precision: str = "") -> Any:
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
    prepared = graph.with_name(hashlib.sha256("\n".join(machine).encode()).hexdigest()[:16] + ".prepared")
    with contextlib.suppress(OSError):
        sealed = prepared.read_bytes()
        data = sealed[_DIGEST:]
        if sealed[:_DIGEST] == hashlib.sha256(data).digest():
            try:
                weights = {"WEIGHTS_PATH": str(graph.with_name(_WEIGHTS))}
                return core.import_model(io.BytesIO(data), "CPU", config | weights)
            except RuntimeError as error:
                _LOG.info("%s is made again: %s", prepared, error)
    network = core.compile_model(graph, "CPU", config)
    try:
        data = network.export_model().getvalue()
        write_to_cache(prepared, hashlib.sha256(data).digest() + data)
    except (RuntimeError, QAError) as error:
        _LOG.debug("%s is not kept: %s", prepared, error)
    return network
