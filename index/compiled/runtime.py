"""The only module that imports OpenVINO: without its telemetry, which would call home."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

_TELEMETRY = "openvino_telemetry"
# The model converter takes as long to import as everything else, and only `convert_model` needs it.
_CONVERTER = "openvino.tools.ovc"
# Where Linux lists the features of each processor; the first one is within this many bytes.
_PROCESSORS = Path("/proc/cpuinfo")
_FIRST_PROCESSOR_BYTES = 16384


class CompileError(Exception):
    """The model cannot be compiled here, or its copy disagrees with it; torch is used instead."""


@contextlib.contextmanager
def openvino() -> Iterator[Any]:
    """Yield the library, or raise ImportError; meanwhile its telemetry cannot be imported, so it uses a stub."""
    with _unimportable(_TELEMETRY), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with _unimportable(_CONVERTER):
            import openvino as library

        yield library


@cache
def processor_flags() -> frozenset[str]:
    """Return what Linux lists about the processor, including its instructions; nothing on other systems."""
    try:
        with _PROCESSORS.open("rb") as file:
            return frozenset(file.read(_FIRST_PROCESSOR_BYTES).decode("ascii", "replace").split())
    except OSError:
        return frozenset()


def has_amx() -> bool:
    """Return whether the processor multiplies matrices in bf16 (AMX); False if the system does not say.

    OpenVINO lists bf16 for other processors too, on which it takes nearly twice as long as float32.
    """
    return "amx_bf16" in processor_flags()


def is_int8_faster() -> bool:
    """Return whether the processor multiplies eight bits fastest: it has VNNI, but no AMX."""
    return not has_amx() and not processor_flags().isdisjoint(("avx512_vnni", "avx_vnni"))


def convert_model(module: Any, example: Any) -> Any:
    """Convert a torch module for OpenVINO; call it inside `openvino()`."""
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder
    from openvino.tools.ovc import convert_model as convert

    # The copy is checked later, so the traced module need not be run and compared here.
    return convert(TorchScriptPythonDecoder(module, example_input=example, trace_kwargs={"check_trace": False}))


@contextlib.contextmanager
def _unimportable(name: str) -> Iterator[None]:
    absent = name not in sys.modules
    if absent:
        sys.modules[name] = None  # type: ignore[assignment]  # makes it unimportable
    try:
        yield
    finally:
        if absent:
            del sys.modules[name]
