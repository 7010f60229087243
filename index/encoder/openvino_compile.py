"""Make the compiled copy of a sentence-transformer, check it against the original, and keep it in the cache.

The default model's graph is written from its weights, without torch; any other is converted from the
SentenceTransformer's own modules. The copy is kept by the model's fingerprint and can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import threading
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import ModelError, QAError
from index.encoder.model_files import DEFAULT_MODEL, ModelFiles
from index.encoder.openvino_bert import bert_graph
from index.encoder.openvino_conversion import converted
from index.encoder.openvino_runtime import CompileError, openvino
from index.encoder.tokenizer import ModelTokenizer
from index.encoder.transformer import pad
from index.storage import disk
from index.storage.file_digests import sha256_of
from index.storage.files import ABANDONED_SECONDS, cache_folder, sweep, write_to_cache

_LOG = logging.getLogger(__name__)

# Raised whenever the copy would be made otherwise.
_VERSION = 5
_GRAPH, _WEIGHTS, _MANIFEST = "model.xml", "model.bin", "manifest.json"
_FILES = (_GRAPH, _WEIGHTS)
_DIGEST = hashlib.sha256().digest_size
# Padding behind each check text: the most that the encoder adds.
_PADDING = 15
# Cosine of each check text's vectors with the original's in fp32.
_AGREEMENT = 0.9995
# The default model's vectors of the check texts, `(n, 384) float16`, by the SentenceTransformer in float32:
# python -m tests.reference_vectors
REFERENCE_VECTORS = Path(__file__).with_name("reference_vectors.npy")
CHECK_TEXTS = (
    "Why?",
    "The meeting was moved to Thursday at half past nine.",
    "1. Zürich › 東京 › القاهرة: 3,704 of 11,603 submissions (32 %), see https://example.org/a_b?c=1#d 🙂",
    "a " * 40,
    "Whoever keeps notes finds the same fact in three places; which of them was right, and when? " * 8,
)


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
        _LOG.warning("preparing %s for this machine (once)", model.name)
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
    """Write the model's graph into a folder, and check what it computes with padding."""
    with openvino() as library:
        try:
            if model.name == DEFAULT_MODEL:
                graph, expected = bert_graph(library, model.folder), list(np.load(REFERENCE_VECTORS))
            else:
                graph, expected = converted(library, model, tokenizer.parameters, list(_checks(tokenizer, padding=0)))
            disk.about_to("write", folder / _GRAPH)
            # Half the file and a third less memory; what that changes is below what bf16 rounds off.
            library.save_model(graph, folder / _GRAPH, compress_to_fp16=True)
            # Both are prepared, so that the first question need not.
            compiled, _ = (load_graph(library, folder / _GRAPH, hint) for hint in Hint)
            for arrays, vector in zip(_checks(tokenizer, padding=_PADDING), expected, strict=True):
                _require_agreement(model.name, compiled(arrays)[1], vector)
        except (CompileError, ModelError):
            raise
        except Exception as error:  # the libraries raise whatever an unusual model leads to
            raise CompileError(f"{model.name} cannot be compiled: {error}") from error


def _checks(tokenizer: ModelTokenizer, *, padding: int) -> Iterator[list[npt.NDArray[np.int64]]]:
    """The check texts as inputs of the model, with so many tokens of padding."""
    parameters = tokenizer.parameters
    for text in CHECK_TEXTS:
        encoded = tokenizer.truncate(text, prompt=parameters.passage_prompt)
        arrays = pad([encoded], (1, min(len(encoded.ids) + padding, parameters.max_length)), parameters.pad)
        yield [arrays[name] for name in parameters.inputs]


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
