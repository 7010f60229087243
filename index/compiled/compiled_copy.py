"""A model compiled for this machine: made once, checked, and cached until it is deleted or damaged."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
from collections.abc import Callable
from enum import Enum
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from corpus.errors import ModelError, QAError
from index.compiled.forks import Unloadable
from index.compiled.quantisation import GROUP, VERSION, quantise
from index.compiled.runtime import CompileError, has_amx, openvino
from index.storage import disk
from index.storage.file_digests import sha256_of
from index.storage.files import ABANDONED_SECONDS, cache_folder, sweep, write_to_cache
from index.storage.sealed import read_sealed, seal

_LOG = logging.getLogger(__name__)

_GRAPH, _WEIGHTS, _MANIFEST = "model.xml", "model.bin", "manifest.json"
_FILES = (_GRAPH, _WEIGHTS)


class Hint(Enum):
    """What the compiled model is optimised for, as OpenVINO calls it; the results are the same."""

    THROUGHPUT = "THROUGHPUT"  # texts per second: several batches, each on a core
    LATENCY = "LATENCY"  # the time of a single text: all cores on one batch, reading the weights together


class CopyCheck(Protocol):
    """Checks that a compiled graph computes the same as the model."""

    def __call__(self, compiled: Any, *, quantised: bool) -> None:
        """Raise CompileError if the results differ; in eight bits a little more is allowed."""


class CompiledCopy:
    """A model's copy for this machine.

    Args:
        name: The model's name, for messages.
        key: The copy's name in the cache; it changes with anything that changes the results.
        build: Takes the library, and returns the model's graph and its check.
        quantised: Whether to compute in eight bits; a model that this changes too much is copied unquantised.
    """

    def __init__(
        self, name: str, key: str, build: Callable[[Any], tuple[Any, CopyCheck]], *, quantised: bool = False
    ) -> None:
        self.name = name
        self.key = f"{key}-int8-{VERSION}" if quantised else key
        self.quantised = quantised
        self._build = build
        self._preloaded: Unloadable[Any] | None = None

    def load(self, hint: Hint) -> Any:
        """Return the compiled model, perhaps already loading; the copy is made if it is missing or damaged.

        Raises:
            CompileError: It cannot be made or loaded.
            ImportError: OpenVINO cannot be imported.
            ModelError: The model itself cannot be loaded.
        """
        # Not kept here, or the model would outlive its user.
        preloaded, self._preloaded = self._preloaded, None
        if preloaded is not None and (network := preloaded.run(lambda network: network)) is not None:
            return network
        folder = self._folder()
        with openvino() as library:
            try:
                if not _is_intact(folder):
                    self._make(library, folder)
            except OSError as error:
                _warn_not_kept(folder.parent, error.strerror or str(error))
                return self._load_temporary(library, hint)
            return self._load_copy(library, folder, hint)

    def exists(self) -> bool:
        """Return whether the copy has been made and is undamaged."""
        return _is_intact(self._folder())

    def begin_loading(self, hint: Hint) -> None:
        """Start loading the copy, if there is one, in a background thread.

        OpenVINO is imported in the calling thread: while it is imported, all other imports wait anyway.
        """
        folder = self._folder()
        try:
            with openvino() as library:
                pass
        except ImportError:
            return
        # Not a method of this copy: the cycle would keep a dropped copy alive until the next garbage collection.
        self._preloaded = Unloadable(partial(_load_if_intact, library, folder, hint, quantised=self.quantised))
        self._preloaded.begin()

    def _folder(self) -> Path:
        return cache_folder() / "compiled" / self.key

    def _load_temporary(self, library: Any, hint: Hint) -> Any:
        """Make and load a copy for this process only."""
        try:
            # The loaded model keeps its files open, or in memory, after they are deleted.
            with TemporaryDirectory(prefix="qa-", ignore_cleanup_errors=True) as name:
                self._write(library, Path(name))
                return self._load_copy(library, Path(name), hint)
        except OSError as error:
            raise CompileError(f"the compiled model cannot be written to a temporary folder: {error}") from error

    def _make(self, library: Any, folder: Path) -> None:
        """Make the copy in the cache; raises OSError if it cannot be written there."""
        temporary = disk.temporary_name(folder)
        disk.make_folders(folder.parent)
        sweep(folder.parent, older_than=ABANDONED_SECONDS)
        disk.make_folder(temporary, mode=0o700)
        try:
            _LOG.warning("preparing %s for this machine (once)", self.name)
            self._write(library, temporary)
            # The checked files must be on disk before the rename.
            for name in _FILES:
                disk.sync_file(temporary / name)
            manifest = {"model": self.name, "sha256": sha256_of(temporary, _FILES)}
            disk.write_new(temporary / _MANIFEST, json.dumps(manifest, indent=1).encode())
            disk.sync_folder(temporary)
            _move(temporary, folder)
            disk.sync_folder(folder.parent)
        except OSError:
            # Another process may have made the same copy at the same time.
            if not _is_intact(folder):
                raise
        finally:
            with contextlib.suppress(OSError):
                disk.delete_all(temporary)

    def _write(self, library: Any, folder: Path) -> None:
        """Write the graph into a folder, and check its results."""
        try:
            if self.quantised and self._write_graph(library, folder, quantised=True):
                return
            self._write_graph(library, folder, quantised=False)
        except (CompileError, ModelError):
            raise
        except Exception as error:  # an unusual model can make the libraries raise anything
            raise CompileError(f"{self.name} cannot be compiled: {error}") from error

    def _write_graph(self, library: Any, folder: Path, *, quantised: bool) -> bool:
        """Write the graph, perhaps in eight bits; if that changes results too much, leave no file and return False."""
        graph, check = self._build(library)
        if quantised:
            quantise(library, graph)
        disk.announce("write", folder / _GRAPH)
        # Half the file size and a third less memory, with errors below the rounding of bf16.
        library.save_model(graph, folder / _GRAPH, compress_to_fp16=True)
        # Prepared for all hints, so that the first question need not wait; eight bits are for questions only.
        hints = (Hint.LATENCY,) if self.quantised else Hint
        compiled, *_ = (_load(library, folder, hint, quantised=self.quantised) for hint in hints)
        try:
            check(compiled, quantised=quantised)
        except CompileError as error:
            if not quantised:
                raise
            _LOG.info("%s is not copied in eight bits: %s", self.name, error)
            for file in folder.iterdir():
                disk.delete(file)
            return False
        return True

    def _load_copy(self, library: Any, folder: Path, hint: Hint) -> Any:
        try:
            return _load(library, folder, hint, quantised=self.quantised)
        except Exception as error:  # whatever the library raises
            raise CompileError(f"the compiled model {folder / _GRAPH} cannot be loaded: {error}") from error


def _move(made: Path, folder: Path) -> None:
    """Move a copy to its place, unless another process has made it meanwhile: it may be loading that already."""
    if folder.exists():
        if _is_intact(folder):
            return
        disk.delete_all(folder)
    disk.rename(made, folder)


@cache
def _warn_not_kept(folder: Path, reason: str) -> None:
    """Warn only once, not for each model."""
    _LOG.warning(
        "cannot keep compiled models in %s: %s. Every command prepares them again, which takes seconds. "
        "Set XDG_CACHE_HOME to a folder of yours.",
        folder,
        reason,
    )


def _is_intact(folder: Path) -> bool:
    """Return whether there is a copy and its checksums match."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        return bool(manifest["sha256"] == sha256_of(folder, _FILES))
    except (OSError, ValueError, KeyError, TypeError):
        _LOG.debug("no usable compiled model in %s", folder)
        return False


def _load_if_intact(library: Any, folder: Path, hint: Hint, *, quantised: bool) -> Any:
    """Return the loaded copy, or None: failures are reported when the model is needed."""
    if _is_intact(folder):
        with contextlib.suppress(Exception):
            return _load(library, folder, hint, quantised=quantised)
    return None


def _load(library: Any, folder: Path, hint: Hint, *, quantised: bool) -> Any:
    """Load a compiled copy for the processor, in bf16 where it has units for that.

    The model as OpenVINO prepares it for this processor is cached next to the graph, without the weights: loading
    that takes half as long as preparing it again.
    """
    graph = folder / _GRAPH
    core = library.Core()
    # OpenVINO's threads then end with the last model, so that the process can fork.
    core.set_property({"FORCE_TBB_TERMINATE": True})
    capabilities = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    config = {
        "PERFORMANCE_HINT": hint.value,
        "INFERENCE_PRECISION_HINT": "bf16" if "BF16" in capabilities and has_amx() and not quantised else "f32",
        "CACHE_MODE": "OPTIMIZE_SIZE",
    }
    if quantised:
        # Only affects weights in eight bits; all else is in float32.
        config["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = str(GROUP)
    device = core.get_property("CPU", "FULL_DEVICE_NAME")
    machine = (library.get_version(), device, *sorted(capabilities), *sorted(config.values()))
    prepared = graph.with_name(hashlib.sha256("\n".join(machine).encode()).hexdigest()[:16] + ".prepared")
    if (data := read_sealed(prepared)) is not None:
        try:
            weights = {"WEIGHTS_PATH": str(graph.with_name(_WEIGHTS))}
            return core.import_model(io.BytesIO(data), "CPU", config | weights)
        except RuntimeError as error:
            _LOG.info("%s is made again: %s", prepared, error)
    network = core.compile_model(graph, "CPU", config)
    try:
        write_to_cache(prepared, seal(network.export_model().getvalue()))
    except (RuntimeError, QAError) as error:
        _LOG.debug("%s is not kept: %s", prepared, error)
    return network
